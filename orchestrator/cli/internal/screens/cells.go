// Package screens reads screenshots of CLIs: rows, input boxes, dialogs and their options.
package screens

import (
	"image/color"
	"slices"
	"strings"
	"unicode/utf8"

	"paw/config/display"
	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
)

// Cell is a character of a screen, with the attributes by which CLIs mark parts of it.
type Cell struct {
	Char rune
	display.Pen
}

// Row is a line of a screen, without the spaces at its end.
type Row []Cell

// RowsOf reads a screenshot. Attributes stay in force from line to line; other escape sequences are
// skipped.
func RowsOf(s cli.Screenshot) []Row {
	var all []Row
	var pen display.Pen
	for line := range strings.Lines(s.Text) {
		all = append(all, readRow(strings.TrimRight(line, "\n"), &pen))
	}
	for len(all) < s.Height {
		all = append(all, nil)
	}
	return all
}

// readRow reads a line. pen has the attributes at its start, and afterwards those at its end.
func readRow(line string, pen *display.Pen) Row {
	var cells Row
	for line != "" {
		if escape := display.Escape(line); escape != "" {
			pen.Take(escape)
			line = line[len(escape):]
			continue
		}
		char, size := utf8.DecodeRuneInString(line)
		line = line[size:]
		if char < ' ' {
			continue
		}
		cells = append(cells, Cell{char, *pen})
	}
	for len(cells) > 0 && cells[len(cells)-1].Char == ' ' {
		cells = cells[:len(cells)-1]
	}
	return cells
}

func (r Row) String() string {
	var text strings.Builder
	for _, c := range r {
		text.WriteRune(c.Char)
	}
	return text.String()
}

// All reports whether a row has characters other than spaces and is holds for each of them.
func (r Row) All(is func(Cell) bool) bool {
	some := false
	for _, c := range r {
		if c.Char == ' ' {
			continue
		}
		if !is(c) {
			return false
		}
		some = true
	}
	return some
}

// Some reports whether is holds for any cell.
func (r Row) Some(is func(Cell) bool) bool { return slices.ContainsFunc(r, is) }

// Rule reports whether a row is a line of one of these characters over the whole width.
func (r Row) Rule(width int, chars string) bool {
	return len(r) == width && r.All(func(c Cell) bool { return strings.ContainsRune(chars, c.Char) })
}

// Begins reports whether a row begins with a character.
func (r Row) Begins(char rune) bool { return len(r) > 0 && r[0].Char == char }

// From returns a row without its first n cells.
func (r Row) From(n int) Row { return r[min(n, len(r)):] }

// Dim reports whether a cell has the attribute dim.
func Dim(c Cell) bool { return c.Dim }

// Filled returns a filled box with the text of these rows from a column on. Draft is "" where a
// part of the text is a suggestion, a placeholder, or was broken at width (see Draft).
func Filled(rows []Row, column, width int, places lazyregexp.Regexp) cli.Screen {
	filled := cli.Screen{Box: cli.BoxFilled}
	var lines []string
	for _, r := range rows {
		typed := r.From(column)
		line := strings.TrimSuffix(typed.String(), " \u200b") // some CLIs draw their cursor after the text
		if places().MatchString(line) || typed.Some(Dim) {
			return filled
		}
		lines = append(lines, line)
	}
	filled.Draft = Draft(lines, width)
	return filled
}

// Draft joins the rows of a box to the typed text. Where a CLI broke a line because it was too long
// for width, a space may be missing: the text is then unknown and "".
func Draft(lines []string, width int) string {
	for i := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(lines[i+1], " ")
		if utf8.RuneCountInString(lines[i])+1+utf8.RuneCountInString(word) > width {
			return ""
		}
	}
	return strings.Join(lines, "\n")
}

// EdgedBox describes the input box of qwen and copilot: between two lines over the whole width, with a
// mark before the text. Some draw earlier prompts in the same way.
type EdgedBox struct {
	Marks       string            // marks before a prompt; the mark before a shell command is "!"
	Weak        string            // words below the box in the colour of suggestions, "" for a CLI without suggestions
	Placeholder lazyregexp.Regexp // text of an empty box, with the cursor before it
	Places      lazyregexp.Regexp // placeholders for long pastes
	Works       lazyregexp.Regexp // text on the screen while a turn runs
	Dialogs     []Dialog
	Selected    string // marks of the selected option in a dialog's numbered list
}

// edge is the character of both lines; the text begins at column indent.
const (
	edge   = "─"
	indent = 2
)

// Screen recognizes a screen. A CLI may leave the terminal's cursor in the box, as long as its pane
// has the focus.
func (b EdgedBox) Screen(s cli.Screenshot) cli.Screen {
	s, rows := Main(s)
	if s.CursorY == Beyond {
		return cli.Screen{} // another conversation takes the keys
	}
	text, weak := b.around(s, rows, s.CursorY), b.weak(rows)
	if text == nil {
		if seen := AskedIn(TextOf(rows), b.Dialogs, Choices(rows, b.Selected)); seen.Dialog != "" {
			return seen
		}
		last := len(rows) - 1
		for last > 0 && !rows[last].Rule(s.Width, edge) {
			last--
		}
		text = b.around(s, rows, last-1)
		drawn := func(r Row) bool { return r.Some(func(c Cell) bool { return c.Reverse }) } // the CLI draws a cursor of its own
		if text == nil || (!b.empty(text, weak) && !slices.ContainsFunc(text, drawn)) {
			return cli.Screen{}
		}
	}
	found := b.read(text, s.Width, weak)
	found.Works = found.Box != cli.BoxUnseen && b.Works().MatchString(TextOf(rows))
	return found
}

// around returns the rows between the two edges around row y, nil where there are none.
func (b EdgedBox) around(s cli.Screenshot, rows []Row, y int) []Row {
	if y < 0 || y >= len(rows) {
		return nil
	}
	top, bottom := y, y
	for top >= 0 && !rows[top].Rule(s.Width, edge) {
		top--
	}
	for bottom < len(rows) && !rows[bottom].Rule(s.Width, edge) {
		bottom++
	}
	if top < 0 || top == y || bottom == len(rows) {
		return nil
	}
	return rows[top+1 : bottom]
}

func (b EdgedBox) read(text []Row, width int, weak color.Color) cli.Screen {
	switch mark := markOf(text[0]); {
	case mark == '!': // shell mode: the shell gets what is typed
		return cli.Screen{Box: cli.BoxFilled}
	case mark == 0 || !strings.ContainsRune(b.Marks, mark):
		return cli.Screen{}
	case b.empty(text, weak):
		return cli.Screen{Box: cli.BoxEmpty}
	}
	return Filled(text, indent, width-20, b.Places)
}

// markOf returns the mark in the first row of a box, 0 for none.
func markOf(first Row) rune {
	if len(first) == 0 || (len(first) > 1 && first[1].Char != ' ') {
		return 0
	}
	return first[0].Char
}

// empty reports whether a box has only the placeholder or a suggestion.
func (b EdgedBox) empty(text []Row, weak color.Color) bool {
	typed := text[0].From(indent)
	if len(text) == 1 && (len(typed) == 0 || b.Placeholder().MatchString(typed.String())) {
		return true
	}
	return b.suggested(text, weak)
}

// suggested reports whether the whole text of a box, except the letter under the cursor, has the
// colour of suggestions.
func (b EdgedBox) suggested(text []Row, weak color.Color) bool {
	is := func(c Cell) bool { return c.Colour == weak }
	for i, r := range text {
		typed := r.From(indent)
		if i == 0 {
			typed = typed.From(1)
		}
		if weak == nil || !typed.All(is) {
			return false
		}
	}
	return true
}

// weak returns the colour of suggestions, nil where it is not on the screen.
func (b EdgedBox) weak(rows []Row) color.Color {
	for i := len(rows) - 1; b.Weak != "" && i >= 0; i-- {
		if before, _, found := strings.Cut(rows[i].String(), b.Weak); found {
			return rows[i][utf8.RuneCountInString(before)].Colour
		}
	}
	return nil
}
