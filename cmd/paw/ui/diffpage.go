package ui

import (
	"fmt"
	"strings"

	"paw/cmd/paw/ui/patch"
	"paw/config/display"
)

const (
	treeFrom     = 120 // columns of the terminal from which the files of a diff stand beside the diff
	leastForTree = 100 // the same, of the page
	mostOfTree   = 33  // per cent of the columns that they take at most
)

// treeWidth returns the columns of the files beside the diff, 0 where they stand in a list before it.
func (m frame) treeWidth(width int) int {
	if m.tab != tabDiff || len(m.page.patch.Files) < 2 || m.width < treeFrom || width < leastForTree {
		return 0
	}
	longest := 0
	for _, row := range m.treeRows() {
		longest = max(longest, m.Width(row.Name)+3)
	}
	return min(longest, width*mostOfTree/100)
}

// treeRows returns the tree of the files, with their lines.
func (m frame) treeRows() []patch.Row {
	rows := m.page.patch.Tree()
	for i, row := range rows {
		if row.File >= 0 {
			rows[i].Name += "  " + m.lineCounts(m.page.patch.Files[row.File])
		}
	}
	return rows
}

func (m frame) lineCounts(f patch.File) string {
	return m.paint(fmt.Sprintf("+%d", f.Added), green) + " " + m.paint(fmt.Sprintf("-%d", f.Deleted), red)
}

// treeView draws the files, with a bar on the one at the cursor.
func (m frame) treeView(width, height int) []string {
	rows := m.treeRows()
	at := 0
	for i, row := range rows {
		if m.page.cursor < len(m.page.at) && row.File == m.page.at[m.page.cursor].File && row.File >= 0 {
			at = i
		}
	}
	view := make([]string, height)
	top := max(min(at-height/2, len(rows)-height), 0)
	for y := range view {
		line := ""
		if i := top + y; i < len(rows) {
			line = m.Cut(rows[i].Name, width-2)
			switch {
			case rows[i].File < 0:
				line = m.paint(line, dim)
			case i == at:
				line = m.onBar(line, width-2)
			}
		}
		view[y] = m.Fill(line, width-2) + m.paint("│", dim) + " "
	}
	return view
}

// onBar draws a line as the one at the cursor, as wide as its place.
func (m frame) onBar(line string, width int) string {
	if m.colour {
		return display.OnBar(m.Fill(line, width))
	}
	return "\x1b[7m" + m.Fill(display.Strip(line), width) + "\x1b[m"
}

// takeDiff shows a diff: a line for each file, and without a tree a list of the files before. The blank
// line in front of the raw text stands for that list, so that a comment there is about the whole diff.
func (p *page) takeDiff(m *Model, diff string) {
	diff = "\n" + strings.Join(m.cleaned(diff), "\n")
	p.raw, p.patch = display.Strip(diff), patch.Read(diff)
	p.arrange(m)
}

// arrange makes the lines of a diff for the present width. The cursor stays on its line.
func (p *page) arrange(model *Model) {
	m := model.frame()
	listed := p.listed
	p.tree = m.treeWidth(m.layout().detail.width) > 0
	p.lines, p.at = nil, nil
	add := func(at patch.Line, text string) { p.lines, p.at = append(p.lines, text), append(p.at, at) }
	if files := p.patch.Files; len(files) > 1 && !p.tree {
		m.listFiles(files, add)
	}
	p.listed = len(p.lines)
	for i, line := range p.patch.Lines {
		switch {
		case line.Kind == patch.Head:
			if line.File > 0 {
				add(patch.Line{Raw: line.Raw, File: line.File - 1}, "")
			}
			f := p.patch.Files[line.File]
			add(line, strings.TrimRight(m.paint(f.Name, bold)+"  "+m.lineCounts(f)+"  "+m.paint(f.What, dim), " "))
		case i > 0 || len(p.patch.Files) == 0 && line.Text != "": // without the blank line
			add(line, line.Text)
		}
	}
	if p.cursor > 0 {
		p.cursor, p.top = max(p.cursor+p.listed-listed, 0), max(p.top+p.listed-listed, 0)
	}
}

// longestFileName limits the columns that a file name takes in the list of files.
const longestFileName = 60

// listFiles lists the files of a diff. A comment on a line of the list is about the whole diff.
func (m frame) listFiles(files []patch.File, add func(patch.Line, string)) {
	width, added, deleted := 0, 0, 0
	for _, f := range files {
		width = min(max(width, m.Width(f.Name)), longestFileName)
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	add(patch.Line{Kind: patch.Text, File: -1}, m.paint(fmt.Sprintf("%d files, +%d -%d", len(files), added, deleted), bold))
	for i, f := range files {
		add(patch.Line{Kind: patch.Listed, File: i}, "  "+m.Fill(f.Name, width)+"  "+m.lineCounts(f))
	}
	add(patch.Line{Kind: patch.Text, File: -1}, "")
}
