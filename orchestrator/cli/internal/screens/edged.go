package screens

import (
	"slices"
	"strings"
	"unicode/utf8"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
)

// EdgedBox describes the input box of gemini, its descendant qwen, and copilot: between two lines
// over the whole width, with a mark before the text. Some draw earlier prompts in the same way.
type EdgedBox struct {
	Upper, Lower string             // characters of the box's upper and lower edge
	Marks        string             // marks before a prompt; the mark before a shell command is "!"
	Mark         int                // column of the mark; the text begins two columns further right
	Weak         string             // words below the box in the colour of suggestions, "" for a CLI without suggestions
	Placeholder  *lazyregexp.Regexp // text of an empty box, with the cursor before it
	Places       *lazyregexp.Regexp // placeholders for long pastes
	Works        *lazyregexp.Regexp // text on the screen while a turn runs
	Dialogs      []Dialog
}

// Screen recognizes a screen. A CLI may leave the terminal's cursor in the box, as long as its pane
// has the focus.
func (b EdgedBox) Screen(s cli.Screenshot) cli.Screen {
	rows := RowsOf(s)
	text, weak := b.around(s, rows, s.CursorY), b.weak(rows)
	if text == nil {
		if words := NamedIn(TextOf(rows), b.Dialogs); words != "" {
			return cli.Screen{Dialog: words}
		}
		last := len(rows) - 1
		for last > 0 && !rows[last].Rule(s.Width, b.Lower) {
			last--
		}
		text = b.around(s, rows, last-1)
		drawn := func(r Row) bool { return r.Some(func(c Cell) bool { return c.Reverse }) } // the CLI draws a cursor of its own
		if text == nil || (!b.empty(text, weak) && !slices.ContainsFunc(text, drawn)) {
			return cli.Screen{}
		}
	}
	found := b.read(text, s.Width, weak)
	found.Works = found.Box != cli.BoxUnseen && b.Works.MatchString(TextOf(rows))
	return found
}

// Question reads the question that is shown in place of the box, with its numbered options; marks
// are the marks of the selected one.
func (b EdgedBox) Question(s cli.Screenshot, marks string) (cli.Question, bool) {
	rows := RowsOf(s)
	asked, outside := AskedIn(TextOf(rows), b.Dialogs)
	if asked == "" || b.Screen(s).Dialog != asked {
		return cli.Question{}, false
	}
	options := Choices(rows, marks)
	return ByList(asked, outside, options), options != nil
}

// around returns the rows between the two edges around row y, nil where there are none.
func (b EdgedBox) around(s cli.Screenshot, rows []Row, y int) []Row {
	if y < 0 || y >= len(rows) {
		return nil
	}
	top, bottom := y, y
	for top >= 0 && !rows[top].Rule(s.Width, b.Upper) {
		top--
	}
	for bottom < len(rows) && !rows[bottom].Rule(s.Width, b.Lower) {
		bottom++
	}
	if top < 0 || top == y || bottom == len(rows) {
		return nil
	}
	return rows[top+1 : bottom]
}

func (b EdgedBox) read(text []Row, width int, weak string) cli.Screen {
	switch mark := b.markOf(text[0]); {
	case mark == '!': // shell mode: the shell gets what is typed
		return cli.Screen{Box: cli.BoxFilled}
	case mark == 0 || !strings.ContainsRune(b.Marks, mark):
		return cli.Screen{}
	case b.empty(text, weak):
		return cli.Screen{Box: cli.BoxEmpty}
	}
	return Filled(text, b.Mark+2, width-20, b.Places)
}

// markOf returns the mark in the first row of a box, 0 for none.
func (b EdgedBox) markOf(first Row) rune {
	if len(first) <= b.Mark || (b.Mark > 0 && first[0].Char != ' ') || (len(first) > b.Mark+1 && first[b.Mark+1].Char != ' ') {
		return 0
	}
	return first[b.Mark].Char
}

// empty reports whether a box has only the placeholder or a suggestion.
func (b EdgedBox) empty(text []Row, weak string) bool {
	typed := text[0].From(b.Mark + 2)
	if len(text) == 1 && (len(typed) == 0 || b.Placeholder.MatchString(typed.String())) {
		return true
	}
	return b.suggested(text, weak)
}

// suggested reports whether the whole text of a box, except the letter under the cursor, has the
// colour of suggestions.
func (b EdgedBox) suggested(text []Row, weak string) bool {
	is := func(c Cell) bool { return c.colour == weak }
	for i, r := range text {
		typed := r.From(b.Mark + 2)
		if i == 0 {
			typed = typed.From(1)
		}
		if weak == "" || !typed.All(is) {
			return false
		}
	}
	return true
}

// weak returns the colour of suggestions, "" where it is not on the screen.
func (b EdgedBox) weak(rows []Row) string {
	for i := len(rows) - 1; b.Weak != "" && i >= 0; i-- {
		if before, _, found := strings.Cut(rows[i].String(), b.Weak); found {
			return rows[i][utf8.RuneCountInString(before)].colour
		}
	}
	return ""
}
