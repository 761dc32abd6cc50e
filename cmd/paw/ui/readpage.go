package ui

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"paw/cmd/paw/ui/field"
	"paw/config/display"
)

// wantedPage returns what the page is to show, and the command for it; of is "" where no page is
// shown.
func (m *Model) wantedPage() (of string, words []string) {
	a, ok := m.current()
	if !ok || m.tab == tabPane {
		return "", nil
	}
	if m.scope.of != "" && m.scope.of != a.Key() { // another agent was selected since it was compared
		m.scope = scope{}
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
	ofNow := m.tab == tabDiff && m.scope.turn == 0 && m.scope.with == "" && !a.Far
	colours, dark := m.tab == tabDiff && m.colour, m.dark
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
		if msg.text = out.String(); colours {
			msg.text = paw.Highlight(ctx, msg.text, dark)
		}
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
func (m *Model) colourFlag() string {
	if m.colour {
		return "always"
	}
	return "never"
}

// take replaces the text of the page and keeps the cursor's line. A log whose end was seen scrolls
// to the new end.
func (p *page) take(m *Model, msg pageMsg) {
	if msg.number != p.number {
		return
	}
	atEnd := m.tab == tabLog && p.top+p.height >= len(p.lines)
	p.asked = false
	p.state, p.marks = msg.state, false
	if m.tab == tabDiff {
		p.takeDiff(m, msg.text)
	} else {
		p.raw, p.lines = display.Strip(msg.text), m.cleaned(msg.text)
	}
	if atEnd {
		p.cursor = max(len(p.lines)-1, 0)
	}
	p.move(0, m.pageHeight())
}

// view draws the part of the page that is seen.
func (p page) view(m *Model, width, height int) []string {
	if len(p.lines) == 0 {
		if p.asked {
			return []string{m.paint("reading …", dim)}
		}
		return []string{m.paint(m.emptyPage(), dim)}
	}
	var view, tree []string
	if w := m.frame().treeWidth(width); w > 0 {
		tree = m.frame().treeView(w, height)
		width -= w
	}
	top := max(min(p.top, len(p.lines)-height), 0)
	first, last := p.marked()
	margin := 0
	if slices.ContainsFunc(p.notes, func(c Comment) bool { return c.Line >= 0 }) {
		margin = 2
	}
	for i := top; i < min(top+height, len(p.lines)); i++ {
		line := m.Cut(p.lines[i], width-margin)
		switch {
		case m.focus && i >= first && i <= last:
			line = m.frame().onBar(line, width-margin)
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
	for y, files := range tree {
		if y == len(view) {
			view = append(view, "")
		}
		view[y] = files + view[y]
	}
	return view
}

// emptyPage says what a page without lines means.
func (m *Model) emptyPage() string {
	if m.tab == tabDiff {
		return "no changes " + m.scope.String()
	}
	return "nothing yet"
}

// readNotes reads the comments on the diff that is shown. An error is dropped here, and shown when
// the user sends the comments.
func (m *Model) readNotes() tea.Cmd {
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

// askComment lets the user write a comment on the marked lines of the diff.
func askComment(m *Model, a Agent) tea.Cmd {
	if m.scope.with != "" {
		return m.say(true, "a comment is on the work of one agent: d shows that of %s", a.Name)
	}
	first, last := m.page.markedRaw()
	raw := m.page.raw
	draft := fmt.Sprintf("%s comment %d", a.Key(), last)
	return m.asks(&ask{title: fmt.Sprintf("comment on %s of %s", map[bool]string{true: "this line", false: "these lines"}[first == last], a.Name), keys: "Enter keeps it · Alt-Enter new line · Ctrl-g editor", several: true,
		text: field.Of(m.drafts[draft]), keep: func(text string) { m.drafts[draft] = text },
		done: func(said string) tea.Cmd {
			m.page.marks = false
			return later(m, func(ctx context.Context, paw Paw) (string, error) { return paw.Comment(ctx, a, raw, first, last, said) }, m.commented)
		}})
}

// commented shows a note that a comment was kept.
func (m *Model) commented(place string) tea.Cmd {
	if place != "" {
		place = "on " + place + " "
	}
	m.say(false, "comment %skept; C sends all", place)
	return m.readNotes()
}

// askChange lets the user change or delete a comment.
func askChange(m *Model, a Agent, c Comment) tea.Cmd {
	return m.asks(&ask{title: strings.TrimSuffix("your comment on "+c.Place, " on "), keys: "Enter keeps it, or deletes it where nothing is left · Ctrl-u empties it · Esc leaves it", several: true, empty: true,
		text: field.Of(c.Text), done: func(said string) tea.Cmd {
			told := "comment kept; C sends all"
			if said == "" {
				told = "comment deleted"
			}
			return later(m, func(ctx context.Context, paw Paw) (string, error) { return told, paw.ChangeComment(ctx, a, c, said) },
				func(told string) tea.Cmd {
					m.say(false, "%s", told)
					return m.readNotes()
				})
		}})
}

// commentsCmd reads the comments that were not sent yet, and asks whether to send them.
func commentsCmd(m *Model, a Agent) tea.Cmd {
	read := func(ctx context.Context, paw Paw) ([]Comment, error) { return paw.Comments(ctx, a, "") }
	return later(m, read, func(comments []Comment) tea.Cmd { return commentsRead(m, a, comments) })
}

// commentsRead asks whether the comments are to be sent or deleted.
func commentsRead(m *Model, a Agent, comments []Comment) tea.Cmd {
	switch n := len(comments); {
	case m.ask != nil:
		return nil
	case n == 0:
		return m.say(false, "there is no comment on the work of %s: c in its diff makes one", a.Name)
	case n == 1:
		m.ask = sure(fmt.Sprintf("send 1 comment to %s?", a.Name), "send", nil)
	default:
		m.ask = sure(fmt.Sprintf("send %d comments to %s as one prompt?", n, a.Name), "send", nil)
	}
	for _, c := range comments {
		line := strings.TrimPrefix(c.Place+": ", ": ") + c.Text
		if c.Stale {
			line = "stale: " + line
		}
		m.ask.lines = append(m.ask.lines, "  "+display.OneLine(line))
	}
	m.ask.keys = "y send · D forget them · any other key keeps them"
	m.ask.choose = map[string]string{"y": "--send", "D": "--drop"}
	m.ask.done = func(flag string) tea.Cmd { return m.quietly("review", a.Key(), flag) }
	return nil
}
