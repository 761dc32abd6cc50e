package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"paw/cmd/paw/ui/field"
)

// set changes the text of the question.
func (a *ask) set(t field.Text) {
	if a.text = t; !a.several {
		a.text = field.Of(strings.ReplaceAll(t.String(), "\n", " "))
		a.text.At = min(t.At, len(a.text.Chars))
	}
}

// boxed reports whether one key answers. Such a question stands in a box above the detail, where
// the user looks.
func (a *ask) boxed() bool { return a.choose != nil }

// maxTitle limits the lines that the title of a boxed question takes.
const maxTitle = 3

// box cuts the room for a boxed question from the top of the detail, or from the end of the list
// where no detail is shown.
func (a *ask) box(m measure, detail, list area) (box, restOfDetail, restOfList area) {
	if detail.height > 0 {
		box = detail
		box.height = min(a.height(m, box.width, detail.height), detail.height)
		detail.y, detail.height = detail.y+box.height, detail.height-box.height
		return box, detail, list
	}
	box = list
	box.height = min(a.height(m, box.width, list.height), list.height)
	list.height -= box.height
	box.y += list.height
	return box, detail, list
}

// height returns how many lines the question takes of the height lines between the head and the
// foot of the screen.
func (a *ask) height(m measure, width, height int) int {
	if a.boxed() {
		return min(len(m.Wrap(a.title, max(width-1, 1), maxTitle))+len(a.lines)+2, height)
	}
	rows, _, _ := a.text.Rows(m, max(width-2, 1))
	most := 1
	if a.several {
		most = max(height/2, 3)
	}
	return min(1+len(a.lines)+min(len(rows), most), height)
}

// view draws the title and, of a text, the rows around the cursor.
func (a *ask) view(p palette, m measure, width, height int) []string {
	view := make([]string, height)
	if a.boxed() {
		copy(view, a.boxView(p, m, width))
		return view
	}
	lines := []string{p.paint(m.Cut(a.title, width), bold)}
	for _, line := range a.lines {
		lines = append(lines, m.Cut(line, width))
	}
	rows, row, _ := a.text.Rows(m, max(width-2, 1))
	room := height - len(lines)
	top := a.top(row, len(rows), room)
	for i := top; i < min(top+room, len(rows)); i++ {
		mark := "  "
		if i == 0 {
			mark = p.paint("> ", cyan)
		}
		lines = append(lines, m.Cut(mark+rows[i], width))
	}
	copy(view, lines)
	return view
}

// boxView draws a boxed question: the title as a bar, the lines below the title, and the keys.
func (a *ask) boxView(p palette, m measure, width int) []string {
	var lines []string
	for _, line := range m.Wrap(a.title, max(width-1, 1), maxTitle) {
		lines = append(lines, p.paint(m.Fill(" "+line, width), bar))
	}
	for _, line := range a.lines {
		lines = append(lines, m.Cut(line, width))
	}
	return append(lines, p.paint(m.Cut(" "+a.keys, width), bold), p.paint(strings.Repeat("─", width), dim))
}

// top returns the first row to show, so that the cursor's row is among the height rows that are
// seen.
func (a *ask) top(row, rows, height int) int {
	return max(min(row, rows-height), row-height+1, 0)
}

// sure asks before do is called; verb says what the key y does.
func sure(question, verb string, do func() tea.Cmd) *ask {
	return &ask{title: question, keys: "y " + verb + " · any other key cancels", choose: map[string]string{"y": "y", "Y": "y"}, done: func(string) tea.Cmd { return do() }}
}
