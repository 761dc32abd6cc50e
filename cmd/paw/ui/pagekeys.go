package ui

import (
	tea "charm.land/bubbletea/v2"

	"paw/cmd/paw/ui/field"
	"paw/cmd/paw/ui/patch"
	"paw/config/display"
)

// scrollKey returns how many lines a key moves down, where page is the distance of page keys, 0 for
// a key that does not move.
func scrollKey(word string, page int) int {
	switch word {
	case "j", "down":
		return 1
	case "k", "up":
		return -1
	case "pgdown", "ctrl+d", "space":
		return page
	case "pgup", "ctrl+u":
		return -page
	case "G", "end":
		return allLines
	case "g", "home":
		return -allLines
	}
	return 0
}

// inPage takes a key that goes to the page.
func (m *Model) inPage(word string) tea.Cmd {
	m.note = note{}
	a, ok := m.current()
	height := m.pageHeight()
	if !ok {
		m.focus = false
		return nil
	}
	switch word {
	case "c":
		if m.tab == tabDiff && len(m.page.lines) > 0 {
			return askComment(m, a)
		}
	case "v":
		m.page.marks, m.page.anchor = !m.page.marks, m.page.cursor
	case "esc", "q", "ctrl+c":
		m.focus = m.page.back(word)
	case "?", "f1":
		m.help, m.helpTop = true, 0
	case "left", "right":
		m.nextTab(word)
		m.focus = m.tab != tabPane
	case "t":
		m.tab = tabTurns
	case "d":
		m.tab = tabDiff
	case "o":
		m.tab = tabLog
	case "p":
		m.tab, m.focus = tabPane, false
	case "/":
		m.ask = askSearch(m)
	case "n", "N":
		if step := map[string]int{"n": 1, "N": -1}[word]; m.page.search != "" || m.tab != tabDiff {
			m.found(step)
		} else {
			m.page.seek(step, height, func(i int) bool { return m.page.is(i, patch.Hunk, patch.Head) })
		}
	case "}", "{":
		m.page.seek(map[string]int{"}": 1, "{": -1}[word], height, func(i int) bool { return m.page.is(i, patch.Head) })
	case "[", "]", "B":
		m.changeScope(word, a)
	case "enter":
		return m.enterLine(a)
	case "a", "s", "m", "l", "L", "u", "U", "x", "i", "r", "R", "F", "C":
		return m.act(word, a)
	default:
		by := scrollKey(word, max(height/2, 1))
		if by == 0 {
			m.unknownKey(word)
		}
		m.page.walk(by, height)
	}
	return nil
}

// back ends the marking of lines, else the search, and reports whether there was any to end by Esc;
// another key ends neither.
func (p *page) back(word string) bool {
	switch {
	case p.marks && word == "esc":
		p.marks = false
	case p.search != "" && word == "esc":
		p.search = ""
	default:
		return false
	}
	return true
}

// askSearch asks for the text to search a page for.
func askSearch(m *Model) *ask {
	return &ask{title: "search", keys: "Enter searches, n and N go on · Esc cancels", text: field.Of(m.page.search), done: func(answer string) tea.Cmd {
		m.page.search = answer
		m.found(1)
		return nil
	}}
}

// enterLine opens what the line under the cursor is about: a turn, a file, a comment, else the
// agent.
func (m *Model) enterLine(a Agent) tea.Cmd {
	if m.tab == tabTurns {
		if n := m.page.turnAtCursor(); n > 0 {
			m.tab, m.scope = tabDiff, scope{turn: n}
		} else {
			m.say(false, "no turn of %s is listed here", a.Name)
		}
		return nil
	}
	if m.tab != tabDiff {
		return m.act("enter", a)
	}
	if c, ok := m.page.noteAt(m.page.cursor); ok {
		return askChange(m, a, c)
	}
	return m.say(false, "no comment of yours on this line; c writes one")
}

// found moves the cursor to the next line that contains the search text.
func (m *Model) found(step int) {
	search := m.page.search
	if search == "" {
		return
	}
	if !m.page.seek(step, m.pageHeight(), func(i int) bool { return finds(display.Strip(m.page.lines[i]), search) }) {
		m.say(true, "no more %q", search)
	}
}

// changeScope shows the changes of another turn, all changes, or those since the user looked.
func (m *Model) changeScope(word string, a Agent) {
	last := lastTurn(a)
	m.tab = tabDiff
	switch word {
	case "B":
		m.scope = scope{unseen: m.scope == scope{}}
	case "[":
		if n := m.scope.turn - 1; n >= 1 {
			m.scope = scope{turn: n}
		} else if m.scope.turn == 0 && last > 0 {
			m.scope = scope{turn: last}
		}
	case "]":
		if m.scope.turn == 0 || m.scope.turn >= last {
			m.scope = scope{}
		} else {
			m.scope = scope{turn: m.scope.turn + 1}
		}
	}
}
