package screens

import (
	"slices"
	"strings"
	"unicode/utf8"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
)

// EdgedBox is how gemini, its descendant qwen and copilot draw their input box: between two lines over the whole width,
// with a mark before the text. Some draw it alike for prompts of before.
type EdgedBox struct {
	Upper, Lower string             // of what characters its edges are
	Marks        string             // what stands before a prompt; before something for the shell it is "!"
	Mark         int                // the column of the mark; the text begins two columns behind
	Weak         string             // words below the box in the colour in which a suggestion is drawn, "" for no suggestions
	Placeholder  *lazyregexp.Regexp // what stands in an empty box, with the cursor before it
	Places       *lazyregexp.Regexp // what stands for something long that was pasted
	Works        *lazyregexp.Regexp // what stands on the screen while it works
	Dialogs      []Dialog
}

// Screen recognizes a screen. The terminal's cursor is in the box where the CLI leaves it there, as long as its pane has
// the focus.
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
		drawn := func(r Row) bool { return r.Some(func(c Cell) bool { return c.Reverse }) } // the CLI's own cursor
		if text == nil || (!b.empty(text, weak) && !slices.ContainsFunc(text, drawn)) {
			return cli.Screen{}
		}
	}
	found := b.read(text, s.Width, weak)
	found.Works = found.Box != cli.BoxUnseen && b.Works.MatchString(TextOf(rows))
	return found
}

// Question is what a turn asks in place of the box, with its numbered options and the marks of the selected one.
func (b EdgedBox) Question(s cli.Screenshot, marks string) (cli.Question, bool) {
	rows := RowsOf(s)
	asked := AskedIn(TextOf(rows), b.Dialogs)
	if asked == "" || b.Screen(s).Dialog != asked {
		return cli.Question{}, false
	}
	options := Choices(rows, marks)
	return cli.Question{Text: asked, Options: options}, options != nil
}

// around is what stands between the two edges around row y, nil where none are.
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

// read is what a box with this text is.
func (b EdgedBox) read(text []Row, width int, weak string) cli.Screen {
	switch mark := b.markOf(text[0]); {
	case mark == '!': // what is typed here goes to the shell
		return cli.Screen{Box: cli.BoxFilled}
	case mark == 0 || !strings.ContainsRune(b.Marks, mark):
		return cli.Screen{}
	case b.empty(text, weak):
		return cli.Screen{Box: cli.BoxEmpty}
	}
	return Filled(text, b.Mark+2, width-20, b.Places)
}

// markOf is what the first row of a box begins with, 0 for nothing.
func (b EdgedBox) markOf(first Row) rune {
	if len(first) <= b.Mark || (b.Mark > 0 && first[0].Char != ' ') || (len(first) > b.Mark+1 && first[b.Mark+1].Char != ' ') {
		return 0
	}
	return first[b.Mark].Char
}

// empty reports whether nothing but the placeholder or a suggestion stands in a box.
func (b EdgedBox) empty(text []Row, weak string) bool {
	typed := text[0].From(b.Mark + 2)
	if len(text) == 1 && (len(typed) == 0 || b.Placeholder.MatchString(typed.String())) {
		return true
	}
	return b.suggested(text, weak)
}

// suggested reports whether all that stands in a box is weak, but for the letter under the cursor.
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

// weak is the colour of weak text, "" where none is seen.
func (b EdgedBox) weak(rows []Row) string {
	for i := len(rows) - 1; b.Weak != "" && i >= 0; i-- {
		if before, _, found := strings.Cut(rows[i].String(), b.Weak); found {
			return rows[i][utf8.RuneCountInString(before)].colour
		}
	}
	return ""
}
