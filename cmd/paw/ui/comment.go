package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

type (
	// commentedMsg says that a comment was kept, or why not.
	commentedMsg struct {
		place string
		err   error
	}
	// commentsMsg are the comments on an agent's work that were not sent yet.
	commentsMsg struct {
		agent    Agent
		comments []string
		err      error
	}
)

// askComment asks what there is to say about the marked lines of the diff.
func (m Model) askComment(a Agent) (tea.Model, tea.Cmd) {
	first, last := m.page.marked()
	what, raw := "this line", m.page.raw
	if first != last {
		what = fmt.Sprintf("these %d lines", last-first+1)
	}
	draft := fmt.Sprintf("%s comment %d", a.Key(), last)
	m.ask = &ask{title: "comment on " + what + " of " + a.Name, keys: "enter keeps it, alt+enter goes to a new line, ctrl+g opens your editor", several: true,
		draft: draft, text: textOf(m.drafts[draft]),
		done: func(m Model, said string) (tea.Model, tea.Cmd) {
			m.page.marks = false
			paw, ctx := m.paw, m.ctx
			return m, func() tea.Msg {
				place, err := paw.Comment(ctx, a, raw, first, last, said)
				return commentedMsg{place, err}
			}
		}}
	return m, nil
}

// commented tells what has become of a comment.
func (m Model) commented(msg commentedMsg) (tea.Model, tea.Cmd) {
	switch {
	case msg.err != nil:
		m.say(true, "%s", firstLine(msg.err.Error()))
	case msg.place == "":
		m.say(false, "comment kept; C sends all")
	default:
		m.say(false, "comment on %s kept; C sends all", msg.place)
	}
	return m, nil
}

// commentsCmd reads the comments that wait to be sent.
func (m Model) commentsCmd(a Agent) tea.Cmd {
	paw, ctx := m.paw, m.ctx
	return func() tea.Msg {
		comments, err := paw.Comments(ctx, a)
		return commentsMsg{a, comments, err}
	}
}

// commentsRead asks whether the comments are to be sent.
func (m Model) commentsRead(msg commentsMsg) (tea.Model, tea.Cmd) {
	a := msg.agent
	switch n := len(msg.comments); {
	case msg.err != nil:
		m.say(true, "%s", firstLine(msg.err.Error()))
		return m, nil
	case m.ask != nil:
		return m, nil
	case n == 0:
		m.say(false, "there is no comment on the work of %s: c in its diff makes one", a.Name)
		return m, nil
	case n == 1:
		m.ask = sure(fmt.Sprintf("send 1 comment to %s?", a.Name), nil)
	default:
		m.ask = sure(fmt.Sprintf("send %d comments to %s as one prompt?", n, a.Name), nil)
	}
	for _, c := range msg.comments {
		m.ask.lines = append(m.ask.lines, "  "+c)
	}
	m.ask.keys = "y sends, D forgets them, any other key keeps them"
	m.ask.choose = map[string]string{"y": "--send", "D": "--drop"}
	m.ask.done = func(m Model, flag string) (tea.Model, tea.Cmd) { return m.quietly("review", a.Key(), flag) }
	return m, nil
}
