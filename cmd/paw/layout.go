package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/config/lazyregexp"
)

// verbatim lists the commands whose output is not wrapped: other programs write it, or the command
// draws the whole screen.
var verbatim = []string{
	"attach", "bisect", "blame", "check", "completion", "config", "diff", "env", "log", "path", "pr", "run", "sh", "tmux", "turns", "ui",
}

// prose wraps sentences for a terminal, between words. A command that fits on a line is not broken.
type prose struct{ terminal *os.File }

// speaks wraps the standard output of commands that print sentences, if it is a terminal.
func (p *printer) speaks(cmd *cobra.Command) {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	if f, is := p.stdout.(*os.File); is && isTerminal(f) && !p.json && cmd.HasParent() && !cmd.Hidden && !slices.Contains(verbatim, cmd.Name()) {
		p.stdout = &prose{f}
	}
}

func (p *prose) Write(text []byte) (int, error) {
	width, _ := sizeOf(p.terminal)
	if _, err := io.WriteString(p.terminal, broken(string(text), width, 2)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// broken wraps the lines of a text that are longer than width. The rest of a line is indented to
// the line's second column if there is one, else by hang columns more than the line.
func broken(text string, width, hang int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		content := strings.TrimSuffix(line, "\n")
		if widthOf(content) <= width {
			out.WriteString(line)
			continue
		}
		indent := len(content) - len(strings.TrimLeft(content, " ")) + hang
		if two := columns.Width(twoColumns().FindString(display.Strip(content))); two > 0 && two <= width/2 {
			indent = two
		}
		out.WriteString(strings.Join(sentence(content, width, strings.Repeat(" ", indent)), "\n"))
		out.WriteString(line[len(content):])
	}
	return out.String()
}

// widthOf returns the width of a text without its styles.
func widthOf(text string) int { return columns.Width(display.Strip(text)) }

// twoColumns matches a line up to its second column.
var twoColumns = lazyregexp.New(`^ *\S+(?: \S+)*  +`)

// sentence wraps a line between words, before a command and never within it. A command that is too
// long is left to the terminal, so that it can be pasted whole.
func sentence(line string, width int, indent string) (lines []string) {
	words := strings.Split(line, " ")
	from, used := 0, widthOf(words[0])
	end := func(to int) {
		lines = append(lines, strings.Join(words[from:to], " "))
		words[to] = indent + words[to]
		from, used = to, widthOf(words[to])
	}
	for i := 1; i < len(words); i++ {
		w := widthOf(words[i]) + 1
		if used+w <= width || strings.TrimSpace(strings.Join(words[from:i], "")) == "" {
			used += w
			continue
		}
		command := i
		for command > from && !beginsCommand(words[command]) {
			command--
		}
		if command == from && beginsCommand(words[from]) {
			break
		}
		if command == from {
			command = i
		}
		end(command)
		i = command
	}
	return append(lines, strings.Join(words[from:], " "))
}

// beginsCommand reports whether a word, which may be indented, is a program that hints and plans name.
func beginsCommand(word string) bool {
	word = strings.TrimLeft(word, " ")
	return word == "paw" || word == "git"
}

// said wraps a text that begins with begin, if standard error is a terminal that is too narrow for
// it. The following lines are indented to where the text began.
func (p *printer) said(begin, text string) string {
	f, is := p.stderr.(*os.File)
	if !is || !isTerminal(f) {
		return text
	}
	width, _ := sizeOf(f)
	if width-len(begin) < leastLast {
		return text
	}
	return strings.TrimPrefix(broken(begin+" "+text, width, len(begin)+1), begin+" ")
}

// cell is a field of a table. state names its colour, "" for none.
type cell struct{ text, state string }

// heads returns the first row of a table, with the names of the columns.
func heads(names ...string) []cell {
	row := texts(names...)
	for i := range row {
		row[i].state = "head"
	}
	return row
}

// texts returns a row without colours.
func texts(fields ...string) []cell {
	row := make([]cell, len(fields))
	for i, text := range fields {
		row[i].text = text
	}
	return row
}

// leastLast is the width that the last column of a table keeps while there are other columns to
// leave out.
const leastLast = 24

// printTable prints rows as a table. On a terminal it cuts rows to the width; columns whose heads
// are in spare are left out, the first ones first, until the last column is readable.
func (p *printer) printTable(w io.Writer, indent string, rows [][]cell, spare ...string) {
	rows = onOneLine(rows)
	width := 0
	if isTerminal(w) {
		width, _ = p.terminalSize()
		rows = fitting(rows, width-len(indent), spare)
	}
	if len(rows) > 0 {
		_, _ = io.WriteString(w, strings.Join(p.tableOf(rows, indent, width), "\n")+"\n") // one write for the whole table
	}
}

// onOneLine removes line breaks and control characters from the cells of a table.
func onOneLine(rows [][]cell) [][]cell {
	for _, row := range rows {
		for i, c := range row {
			row[i].text = display.OneLine(c.text)
		}
	}
	return rows
}

// tableOf formats rows as the lines of a table, cut to width unless width is 0.
func (p *printer) tableOf(rows [][]cell, indent string, width int) (lines []string) {
	widths := columnWidths(rows)
	for _, row := range rows {
		line := indent
		for i, c := range row {
			line += p.colour(c.text, c.state)
			if i < len(row)-1 {
				line += strings.Repeat(" ", widths[i]+2-columns.Width(c.text))
			}
		}
		if line = strings.TrimRight(line, " "); width > 0 {
			line = columns.Cut(line, width)
		}
		lines = append(lines, line)
	}
	return lines
}

func columnWidths(rows [][]cell) []int {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columns.Width(c.text))
		}
	}
	return widths
}

// fitting leaves out as many of the spare columns as is needed for the table to fit the room.
func fitting(rows [][]cell, room int, spare []string) [][]cell {
	for _, head := range spare {
		widths := columnWidths(rows)
		total := min(widths[len(widths)-1], leastLast)
		for _, w := range widths[:len(widths)-1] {
			total += w + 2
		}
		if total <= room {
			break
		}
		k := slices.IndexFunc(rows[0], func(c cell) bool { return c.text == head })
		if k < 0 {
			continue
		}
		left := make([][]cell, len(rows))
		for i, row := range rows {
			if left[i] = row; k < len(row) {
				left[i] = slices.Delete(slices.Clone(row), k, k+1)
			}
		}
		rows = left
	}
	return rows
}
