package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// ask is a question to the user, shown below the list or above the detail: a text, a line, or one
// key answers it. An ask is never changed after it was shown; with returns a changed copy.
type ask struct {
	title   string
	keys    string // explains the keys, in the line at the bottom
	text    text
	several bool                        // the text may have several lines
	lines   []string                    // shown below the title
	choose  map[string]string           // the answer that each key stands for; nil where the user writes a text
	strict  bool                        // other keys than those of answers, Esc, q and Ctrl-c do nothing; where false, such keys cancel
	about   string                      // key of the agent that asks, "" where the desk asks
	keep    func(m *Model, text string) // called with the text when the user cancels, with "" when he answers; nil where a draft is not kept
	empty   bool                        // an empty text counts as an answer
	changed func(m *Model, answer string)
	done    func(m Model, answer string) (tea.Model, tea.Cmd)
}

// with returns the question with another text.
func (a *ask) with(t text) *ask {
	next := *a
	if next.text = t; !a.several {
		next.text = textOf(strings.ReplaceAll(t.String(), "\n", " "))
		next.text.at = min(t.at, len(next.text.chars))
	}
	return &next
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
	rows, _, _ := a.text.rows(m, max(width-2, 1))
	most := 1
	if a.several {
		most = max(height/2, 3)
	}
	return min(1+min(len(rows), most), height)
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
	rows, row, _ := a.text.rows(m, max(width-2, 1))
	top := a.top(row, len(rows), height-1)
	for i := top; i < min(top+height-1, len(rows)); i++ {
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

// cursor returns where the terminal's cursor stands; shown is false where the user writes nothing.
func (f frame) cursor() (x, y int, shown bool) {
	if f.m.ask == nil || f.m.ask.choose != nil {
		return 0, 0, false
	}
	at := f.m.layout().editor
	rows, row, column := f.m.ask.text.rows(f.measure, max(at.width-2, 1))
	top := f.m.ask.top(row, len(rows), at.height-1)
	return column + 2, at.y + 1 + row - top, at.height > 1
}

// pageKey returns how many lines a key scrolls while a question waits for an answer, 0 for any
// other key.
func pageKey(word string) int {
	switch word {
	case "up":
		return -1
	case "down":
		return 1
	case "pgup":
		return -10
	case "pgdown":
		return 10
	}
	return 0
}

// answered returns the model after a key for the question.
func (m Model) answered(key tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	a, word := m.ask, key.String()
	if a.choose != nil {
		if by := pageKey(word); by != 0 && m.run != nil { // a plan above the question may be longer than the screen
			m.scrollRun(by)
			return m, nil
		}
		answer, ok := a.choose[word]
		if !ok && a.strict && word != "esc" && word != "q" && word != "ctrl+c" {
			return m, nil
		}
		if m.ask = nil; !ok {
			if m.run != nil && m.run.next == a { // the user turned down what the shown plan asks
				m.leaveRun()
			}
			return m, nil
		}
		return a.done(m, answer)
	}
	switch word {
	case "esc", "ctrl+c":
		m.ask = nil
		if a.keep != nil {
			a.keep(&m, a.text.String())
		}
		if a.changed != nil {
			a.changed(&m, "")
		}
		return m, nil
	case "enter":
		answer := strings.TrimSpace(a.text.String())
		if answer == "" && !a.empty {
			m.ask = nil
			return m, nil
		}
		m.ask = nil
		if a.keep != nil {
			a.keep(&m, "")
		}
		return a.done(m, answer)
	case "alt+enter", "shift+enter", "ctrl+j":
		if a.several {
			m.ask = a.with(a.text.insert("\n"))
		}
		return m, nil
	case "ctrl+g":
		if a.several {
			return m, m.editCmd(a.text.String())
		}
		return m, nil
	}
	t, ok := a.text.edited(word, key.Key().Text)
	if !ok {
		return m, nil
	}
	m.ask = a.with(t)
	if a.changed != nil {
		a.changed(&m, m.ask.text.String())
	}
	return m, nil
}
