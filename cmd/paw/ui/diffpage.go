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

// treeWidth returns the columns of the files beside the diff, 0 where there is no room for them.
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

// takeDiff shows a diff, with one line where each file begins.
func (p *page) takeDiff(m *Model, diff string) {
	diff = strings.Join(m.cleaned(diff), "\n")
	p.raw, p.patch = display.Strip(diff), patch.Read(diff)
	p.lines, p.at = nil, nil
	add := func(at patch.Line, text string) { p.lines, p.at = append(p.lines, text), append(p.at, at) }
	for _, line := range p.patch.Lines {
		if line.Kind != patch.Head {
			add(line, line.Text)
			continue
		}
		if line.File > 0 {
			add(patch.Line{Raw: line.Raw, File: line.File - 1}, "")
		}
		draw, file := m.frame(), p.patch.Files[line.File]
		add(line, strings.TrimRight(draw.paint(file.Name, bold)+"  "+draw.lineCounts(file)+"  "+draw.paint(file.What, dim), " "))
	}
}
