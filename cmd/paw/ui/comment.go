package ui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// askComment asks what there is to say about the marked lines of the diff.
func (m Model) askComment(a Agent) (tea.Model, tea.Cmd) {
	first, last := m.page.marked()
	what, raw := "this line", m.page.raw
	if first != last {
		what = fmt.Sprintf("these %d lines", last-first+1)
	}
	draft := fmt.Sprintf("%s comment %d", a.Key(), last)
	m.ask = &ask{title: "comment on " + what + " of " + a.Name, keys: "Enter keeps it · Alt-Enter new line · Ctrl-g editor", several: true,
		text: textOf(m.drafts[draft]), keep: func(m *Model, text string) { m.drafts = with(m.drafts, draft, text) },
		done: func(m Model, said string) (tea.Model, tea.Cmd) {
			m.page.marks = false
			return m, later(m, func(ctx context.Context, paw Paw) (string, error) { return paw.Comment(ctx, a, raw, first, last, said) }, Model.commented)
		}}
	return m, nil
}

// commented tells of a comment that was kept.
func (m Model) commented(place string) (tea.Model, tea.Cmd) {
	if place != "" {
		place = "on " + place + " "
	}
	m.say(false, "comment %skept; C sends all", place)
	return m, nil
}

// commentsCmd reads the comments that wait to be sent.
func (m Model) commentsCmd(a Agent) tea.Cmd {
	return later(m, func(ctx context.Context, paw Paw) ([]string, error) { return paw.Comments(ctx, a) },
		func(m Model, comments []string) (tea.Model, tea.Cmd) { return m.commentsRead(a, comments) })
}

// commentsRead asks whether the comments are to be sent.
func (m Model) commentsRead(a Agent, comments []string) (tea.Model, tea.Cmd) {
	switch n := len(comments); {
	case m.ask != nil:
		return m, nil
	case n == 0:
		m.say(false, "there is no comment on the work of %s: c in its diff makes one", a.Name)
		return m, nil
	case n == 1:
		m.ask = sure(fmt.Sprintf("send 1 comment to %s?", a.Name), "send", nil)
	default:
		m.ask = sure(fmt.Sprintf("send %d comments to %s as one prompt?", n, a.Name), "send", nil)
	}
	for _, c := range comments {
		m.ask.lines = append(m.ask.lines, "  "+c)
	}
	m.ask.keys = "y send · D forget them · any other key keeps them"
	m.ask.choose = map[string]string{"y": "--send", "D": "--drop"}
	m.ask.done = func(m Model, flag string) (tea.Model, tea.Cmd) { return m.quietly("review", a.Key(), flag) }
	return m, nil
}
