package ui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// mark marks the selected agent, or removes the mark, and selects the next row.
func (m *Model) mark() {
	a, ok := m.current()
	if !ok {
		return
	}
	marks := map[string]bool{}
	for key := range m.roster.marks {
		marks[key] = true
	}
	if marks[a.Key()] {
		delete(marks, a.Key())
	} else {
		marks[a.Key()] = true
	}
	m.roster.marks = marks
	m.roster.step(1)
}

// meant returns the agents that a key acts on: the marked agents, else o's agent. A
// key pressed in a page, or while the detail fills the screen, acts on o's agent only.
func (o onAgent) meant() []Agent {
	m, a := o.m, o.a
	if all := m.roster.marked(); len(all) > 0 && !m.focus && !m.large {
		return all
	}
	return []Agent{a}
}

// marked returns the marked agents in the order of the list; those that the filter hides come last.
func (l roster) marked() (all []Agent) {
	for _, agents := range [][]Agent{l.rows, l.board.Agents} {
		for _, a := range agents {
			if l.marks[a.Key()] && !slices.ContainsFunc(all, func(b Agent) bool { return b.Key() == a.Key() }) {
				all = append(all, a)
			}
		}
	}
	return all
}

func named(all []Agent) string {
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	if len(all) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s (%d agents)", strings.Join(names, ", "), len(all))
}

// forSessions calls do once for each session of the agents, and removes all marks.
func (m Model) forSessions(all []Agent, do func(m Model, session string, names []string) (tea.Model, tea.Cmd)) (tea.Model, tea.Cmd) {
	m.roster.marks = nil
	var sessions []string
	names := map[string][]string{}
	for _, a := range all {
		if names[a.Session] == nil {
			sessions = append(sessions, a.Session)
		}
		names[a.Session] = append(names[a.Session], a.Name)
	}
	var cmds []tea.Cmd
	for _, session := range sessions {
		next, cmd := do(m, session, names[session])
		m = next.(Model) // do returns a Model
		cmds = append(cmds, cmd)
	}
	if len(cmds) == 1 {
		return m, cmds[0]
	}
	return m, tea.Batch(cmds...)
}

// markAllSeen marks the work of the marked agents as seen or, with no other agent marked, what the
// desk shows of o's agent.
func (o onAgent) markAllSeen() (tea.Model, tea.Cmd) {
	m, a := o.m, o.a
	all := o.meant()
	if len(all) == 1 && all[0].Key() == a.Key() {
		m.roster.marks = nil
		return m.on(a).markSeen()
	}
	return m.forSessions(all, func(m Model, session string, names []string) (tea.Model, tea.Cmd) {
		return m.quietly(append([]string{"seen", "--session", session}, names...)...)
	})
}

// compare shows the diff between two agents: the two marked ones, or the marked one and the
// selected one.
func (o onAgent) compare() (tea.Model, tea.Cmd) {
	m, a := o.m, o.a
	two := o.meant()
	if len(two) == 1 && two[0].Key() != a.Key() {
		two = append(two, a)
	}
	switch {
	case len(two) != 2:
		m.say(true, "mark two agents with Space, and = shows what they differ in")
		return m, nil
	case two[0].Session != two[1].Session:
		m.say(true, "%s and %s are of two sessions: they cannot be compared", two[0].Key(), two[1].Key())
		return m, nil
	}
	return m.openly(nil, "diff", two[0].Key(), two[1].Name)
}
