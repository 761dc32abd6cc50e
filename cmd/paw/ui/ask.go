package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// ask is what the user is asked for below the list: a text, a line, or yes or no. It is never changed once it is shown.
type ask struct {
	title   string
	keys    string // which do what, for the line at the bottom
	text    text
	several bool                        // it may have several lines
	lines   []string                    // below the title
	choose  map[string]string           // one key answers, with this; nil where there is something to write
	strict  bool                        // keys that do not answer do nothing, but for Esc and q
	about   string                      // key of the agent whose question it is, "" for none
	keep    func(m *Model, text string) // the text when the user turns away, and "" once there is an answer; nil keeps nothing
	empty   bool                        // an empty text is an answer, too
	changed func(m *Model, answer string)
	done    func(m Model, answer string) (tea.Model, tea.Cmd)
}

// with is the question with another text.
func (a *ask) with(t text) *ask {
	next := *a
	if next.text = t; !a.several {
		next.text = textOf(strings.ReplaceAll(t.String(), "\n", " "))
		next.text.at = min(t.at, len(next.text.chars))
	}
	return &next
}

// height is how many lines it takes of a screen with so many between head and foot.
func (a *ask) height(m measure, width, height int) int {
	if a.choose != nil {
		return min(1+len(a.lines), height)
	}
	rows, _, _ := a.text.rows(m, max(width-2, 1))
	most := 1
	if a.several {
		most = max(height/2, 3)
	}
	return min(1+min(len(rows), most), height)
}

// view is the title, and the part of the text that has the cursor.
func (a *ask) view(p palette, m measure, width, height int) []string {
	lines := []string{p.paint(m.Cut(a.title, width), bold)}
	for _, line := range a.lines {
		lines = append(lines, m.Cut(line, width))
	}
	if a.choose == nil {
		rows, row, _ := a.text.rows(m, max(width-2, 1))
		top := a.top(row, len(rows), height-1)
		for i := top; i < min(top+height-1, len(rows)); i++ {
			mark := "  "
			if i == 0 {
				mark = p.paint("> ", cyan)
			}
			lines = append(lines, m.Cut(mark+rows[i], width))
		}
	}
	view := make([]string, height)
	copy(view, lines)
	return view
}

// top is the first row that is shown of so many.
func (a *ask) top(row, rows, height int) int {
	return max(min(row, rows-height), row-height+1, 0)
}

// cursor is where the terminal's cursor stands, when there is something to write.
func (m Model) cursor() (x, y int, shown bool) {
	if m.ask == nil || m.ask.choose != nil {
		return 0, 0, false
	}
	at := m.layout().editor
	rows, row, column := m.ask.text.rows(m.measure, max(at.width-2, 1))
	top := m.ask.top(row, len(rows), at.height-1)
	return column + 2, at.y + 1 + row - top, at.height > 1
}

// answered is the model after a key for the question.
func (m Model) answered(key tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	a, word := m.ask, key.String()
	if a.choose != nil {
		answer, ok := a.choose[word]
		if !ok && a.strict && word != "esc" && word != "q" && word != "ctrl+c" {
			return m, nil
		}
		if m.ask = nil; !ok {
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
