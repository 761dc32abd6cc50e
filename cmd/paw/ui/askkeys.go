package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

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
