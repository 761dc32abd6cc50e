package agent

import (
	"slices"
	"strings"

	"paw/config/lazyregexp"
)

// edgedBox is how gemini, its descendant qwen and copilot draw their input box: between two lines over the whole width,
// with a mark before the text. Some draw it alike for prompts of before.
type edgedBox struct {
	upper, lower string             // of what characters its edges are
	marks        string             // what stands before a prompt; before something for the shell it is "!"
	mark         int                // the column of the mark; the text begins two columns behind
	placeholder  *lazyregexp.Regexp // what stands in an empty box, with the cursor before it
	places       *lazyregexp.Regexp // what stands for something long that was pasted
	works        *lazyregexp.Regexp // what stands on the screen while it works
	dialogs      []dialog
}

// screen recognizes a screen. The terminal's cursor is in the box where the CLI leaves it there, as long as its pane has
// the focus.
func (b edgedBox) screen(s Screenshot) Screen {
	rows := rowsOf(s)
	text := b.around(s, rows, s.CursorY)
	if text == nil {
		if words := namedIn(textOf(rows), b.dialogs); words != "" {
			return Screen{Dialog: words}
		}
		last := len(rows) - 1
		for last > 0 && !rows[last].rule(s.Width, b.lower) {
			last--
		}
		text = b.around(s, rows, last-1)
		drawn := func(r row) bool { return r.some(func(c cell) bool { return c.reverse }) } // the CLI's own cursor
		if text == nil || (!b.empty(text) && !slices.ContainsFunc(text, drawn)) {
			return Screen{}
		}
	}
	found := b.read(text, s.Width)
	found.Works = found.Box != BoxUnseen && b.works.MatchString(textOf(rows))
	return found
}

// around is what stands between the two edges around row y, nil where none are.
func (b edgedBox) around(s Screenshot, rows []row, y int) []row {
	if y < 0 || y >= len(rows) {
		return nil
	}
	top, bottom := y, y
	for top >= 0 && !rows[top].rule(s.Width, b.upper) {
		top--
	}
	for bottom < len(rows) && !rows[bottom].rule(s.Width, b.lower) {
		bottom++
	}
	if top < 0 || top == y || bottom == len(rows) {
		return nil
	}
	return rows[top+1 : bottom]
}

// read is what a box with this text is.
func (b edgedBox) read(text []row, width int) Screen {
	switch mark := b.markOf(text[0]); {
	case mark == '!': // what is typed here goes to the shell
		return Screen{Box: BoxFilled}
	case mark == 0 || !strings.ContainsRune(b.marks, mark):
		return Screen{}
	case b.empty(text):
		return Screen{Box: BoxEmpty}
	}
	filled := Screen{Box: BoxFilled}
	var lines []string
	for _, r := range text {
		line := strings.TrimSuffix(r.from(b.mark+2).String(), " \u200b")              // the cursor behind the text
		if b.places.MatchString(line) || r.some(func(c cell) bool { return c.dim }) { // or a suggestion
			return filled
		}
		lines = append(lines, line)
	}
	filled.Draft = draft(lines, width-20)
	return filled
}

// markOf is what the first row of a box begins with, 0 for nothing.
func (b edgedBox) markOf(first row) rune {
	if len(first) <= b.mark || (b.mark > 0 && first[0].char != ' ') || (len(first) > b.mark+1 && first[b.mark+1].char != ' ') {
		return 0
	}
	return first[b.mark].char
}

// empty reports whether nothing but the placeholder stands in a box.
func (b edgedBox) empty(text []row) bool {
	typed := text[0].from(b.mark + 2)
	return len(text) == 1 && (len(typed) == 0 || b.placeholder.MatchString(typed.String()))
}
