package ui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"paw/config/display"
)

// askComment lets the user write a comment on the marked lines of the diff.
func (o onAgent) askComment() (tea.Model, tea.Cmd) {
	m, a := o.m, o.a
	first, last := m.page.marked()
	raw := m.page.raw
	draft := fmt.Sprintf("%s comment %d", a.Key(), last)
	m.ask = &ask{title: "comment on " + o.linesMeant(first, last) + " of " + a.Name, keys: "Enter keeps it · Alt-Enter new line · Ctrl-g editor", several: true,
		text: textOf(m.drafts[draft]), keep: func(m *Model, text string) { m.drafts = with(m.drafts, draft, text) },
		done: func(m Model, said string) (tea.Model, tea.Cmd) {
			m.page.marks = false
			return m, later(m, func(ctx context.Context, paw Paw) (string, error) { return paw.Comment(ctx, a, raw, first, last, said) }, Model.commented)
		}}
	return m, nil
}

// linesMeant names what a comment on lines of the diff would be about. A line of the diff that is
// no line of a file, such as a header, stands for the whole file.
func (o onAgent) linesMeant(first, last int) string {
	m := o.m
	place, err := m.paw.Place(m.page.raw, first, last)
	switch {
	case err == nil && !strings.Contains(place, ":"):
		return "the file " + display.OneLine(place)
	case first != last:
		return fmt.Sprintf("these %d lines", last-first+1)
	case err == nil:
		return display.OneLine(place)
	}
	return "this line"
}

// commented shows a note that a comment was kept.
func (m Model) commented(place string) (tea.Model, tea.Cmd) {
	if place != "" {
		place = "on " + place + " "
	}
	m.say(false, "comment %skept; C sends all", place)
	return m, m.readNotes()
}

// askChange lets the user change or delete a comment.
func (o onAgent) askChange(c Comment) (tea.Model, tea.Cmd) {
	m, a := o.m, o.a
	m.ask = &ask{title: strings.TrimSuffix("your comment on "+c.Place, " on "), keys: "Enter keeps it, or deletes it where nothing is left · Ctrl-u empties it · Esc leaves it", several: true, empty: true,
		text: textOf(c.Text), done: func(m Model, said string) (tea.Model, tea.Cmd) {
			told := "comment kept; C sends all"
			if said == "" {
				told = "comment deleted"
			}
			return m, later(m, func(ctx context.Context, paw Paw) (string, error) { return told, paw.ChangeComment(ctx, a, c, said) },
				func(m Model, told string) (tea.Model, tea.Cmd) {
					m.say(false, "%s", told)
					return m, m.readNotes()
				})
		}}
	return m, nil
}

// commentsCmd reads the comments that were not sent yet, and asks whether to send them.
func (o onAgent) commentsCmd() tea.Cmd {
	m, a := o.m, o.a
	return later(m, func(ctx context.Context, paw Paw) ([]Comment, error) { return paw.Comments(ctx, a, "") },
		func(m Model, comments []Comment) (tea.Model, tea.Cmd) { return m.on(a).commentsRead(comments) })
}

// commentsRead asks whether the comments are to be sent or deleted.
func (o onAgent) commentsRead(comments []Comment) (tea.Model, tea.Cmd) {
	m, a := o.m, o.a
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
		line := strings.TrimPrefix(c.Place+": ", ": ") + c.Text
		if c.Stale {
			line = "stale: " + line
		}
		m.ask.lines = append(m.ask.lines, "  "+display.OneLine(line))
	}
	m.ask.keys = "y send · D forget them · any other key keeps them"
	m.ask.choose = map[string]string{"y": "--send", "D": "--drop"}
	m.ask.done = func(m Model, flag string) (tea.Model, tea.Cmd) { return m.quietly("review", a.Key(), flag) }
	return m, nil
}
