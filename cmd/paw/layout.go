package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/config/display"
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
	if _, err := io.WriteString(p.terminal, display.Broken(string(text), width, 2)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// said wraps a text that stands behind begin, if standard error is a terminal that is too narrow for it.
func (p *printer) said(begin, text string) string {
	f, is := p.stderr.(*os.File)
	if !is || !isTerminal(f) {
		return text
	}
	width, _ := sizeOf(f)
	if width-len(begin) < leastLast {
		return text
	}
	return hanging(begin, text, width)
}

// hanging wraps a text that stands behind begin. The following lines are indented to where the text begins.
func hanging(begin, text string, width int) string {
	indent := len(begin) + 1
	return strings.ReplaceAll(display.Broken(text, width-indent, 0), "\n", "\n"+strings.Repeat(" ", indent))
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
