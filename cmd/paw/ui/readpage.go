package ui

import (
	"bytes"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"paw/config/display"
)

// wantedPage returns what the page is to show, and the command for it; of is "" where no page is
// shown.
func (m Model) wantedPage() (of string, words []string) {
	a, ok := m.current()
	if !ok || m.tab == tabPane {
		return "", nil
	}
	switch m.tab {
	case tabPane:
	case tabTurns:
		words = []string{"turns", a.Key()}
	case tabDiff:
		words = m.scope.words(a)
	case tabLog:
		words = []string{"log", a.Key()}
	}
	return fmt.Sprint(m.tab, " ", a.Key(), " ", m.scope, " ", a.Mark), words
}

// freshen requests the page again if what it shows may have changed. The old page stays until the
// answer comes.
func (m *Model) freshen() tea.Cmd {
	of, words := m.wantedPage()
	if of == m.page.of || of == "" {
		return nil
	}
	same := subject(of) == subject(m.page.of)
	if !same {
		m.page = page{}
	}
	m.last++
	m.page.of, m.page.number, m.page.asked = of, m.last, true
	number, paw, ctx := m.last, m.paw, m.ctx
	a, _ := m.current()
	ofNow := m.tab == tabDiff && m.scope.turn == 0 && !a.Far
	words = append([]string{"--no-pager", "--color", m.colourFlag()}, words...)
	return func() tea.Msg {
		msg := pageMsg{number: number}
		if ofNow { // if no snapshot can be taken, the command reports the error
			if state, err := paw.State(ctx, a); err == nil {
				msg.state, words = state, append(words, stateFlag, state.Commit)
			}
		}
		var out bytes.Buffer
		paw.Run(ctx, &out, words...)
		msg.text = out.String()
		return msg
	}
}

// subject returns a request without the agent's Mark.
func subject(of string) string {
	if i := strings.LastIndexByte(of, ' '); i >= 0 {
		return of[:i]
	}
	return of
}

// colourFlag returns the value of --color for commands whose output the desk shows.
func (m Model) colourFlag() string {
	if m.colour {
		return "always"
	}
	return "never"
}

// take replaces the text of the page and keeps the cursor's line. A log whose end was seen scrolls
// to the new end.
func (p *page) take(m Model, msg pageMsg) {
	if msg.number != p.number {
		return
	}
	atEnd := m.tab == tabLog && p.top+p.height >= len(p.lines)
	p.asked = false
	if m.tab == tabDiff {
		msg.text = m.withFiles(withoutIndex(msg.text))
	}
	p.raw, p.state = display.Strip(msg.text), msg.state
	p.lines, p.marks = cleaner{m.measure, m.colour}.lines(msg.text), false
	if atEnd {
		p.cursor = max(len(p.lines)-1, 0)
	}
	p.move(0, m.pageHeight())
}

// view draws the part of the page that is seen.
func (p page) view(m Model, width, height int) []string {
	if len(p.lines) == 0 {
		if p.asked {
			return []string{m.paint("reading …", dim)}
		}
		return []string{m.paint(m.emptyPage(), dim)}
	}
	var view []string
	top := max(min(p.top, len(p.lines)-height), 0)
	first, last := p.marked()
	margin := 0
	if p.hasNotes() {
		margin = 2
	}
	for i := top; i < min(top+height, len(p.lines)); i++ {
		line := m.Cut(p.lines[i], width-margin)
		switch {
		case m.focus && i >= first && i <= last:
			line = "\x1b[7m" + m.Fill(display.Strip(line), width-margin) + "\x1b[m"
		case p.search != "" && finds(display.Strip(line), p.search):
			line = m.paint(display.Strip(line), under)
		}
		if margin > 0 {
			mark := " "
			if _, commented := p.noteAt(i); commented {
				mark = m.paint("●", yellow)
			}
			line = mark + " " + line
		}
		view = append(view, line)
	}
	return view
}

// emptyPage says what a page without lines means.
func (m Model) emptyPage() string {
	if m.tab == tabDiff {
		return "no changes " + m.scope.String()
	}
	return "nothing yet"
}

// readNotes reads the comments on the diff that is shown. An error is dropped here, and shown when
// the user sends the comments.
func (m Model) readNotes() tea.Cmd {
	a, ok := m.current()
	if !ok || m.tab != tabDiff || len(m.page.lines) == 0 {
		return nil
	}
	paw, ctx, number, raw := m.paw, m.ctx, m.page.number, m.page.raw
	return func() tea.Msg {
		notes, _ := paw.Comments(ctx, a, raw)
		return notesMsg{number, notes}
	}
}
