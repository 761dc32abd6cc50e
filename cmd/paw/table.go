package main

import (
	"bytes"
	"io"
	"slices"

	"paw/config/display"
)

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
	for _, row := range rows {
		for i, c := range row {
			row[i].text = display.OneLine(c.text)
		}
	}
	width := 0
	if isTerminal(w) {
		width, _ = p.terminalSize()
		rows = fitting(rows, width-len(indent), spare)
	}
	_, _ = w.Write(p.tableOf(rows, indent, width)) // one write for the whole table
}

// tableOf formats rows as a table. Lines are cut to width unless width is 0.
func (p *printer) tableOf(rows [][]cell, indent string, width int) (out []byte) {
	widths := columnWidths(rows)
	for _, row := range rows {
		out = append(out, indent...)
		for i, c := range row {
			out = append(out, p.colour(c.text, c.state)...)
			for n := columns.Width(c.text) - 2; n < widths[i] && i < len(row)-1; n++ {
				out = append(out, ' ')
			}
		}
		if out = bytes.TrimRight(out, " "); width > 0 {
			at := bytes.LastIndexByte(out, '\n') + 1
			out = append(out[:at], columns.Cut(string(out[at:]), width)...)
		}
		out = append(out, '\n')
	}
	return out
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
