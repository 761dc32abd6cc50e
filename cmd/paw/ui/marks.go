package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// mark marks the selected agent, or takes its mark away, and goes on to the next row.
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

// meant are the agents that a key is for: those marked that are shown, in the order of the list, else this one. What is pressed in a page, or
// while an agent has the screen alone, is for that agent.
func (o onAgent) meant() []Agent {
	m, a := o.m, o.a
	var all []Agent
	for _, one := range m.roster.rows {
		if m.roster.marks[one.Key()] && !m.focus && !m.large {
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return []Agent{a}
	}
	return all
}

// named names agents in a question.
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

// forSessions does something with agents, session by session, and takes the marks away.
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
		m = next.(Model) // the model makes nothing else
		cmds = append(cmds, cmd)
	}
	if len(cmds) == 1 {
		return m, cmds[0]
	}
	return m, tea.Batch(cmds...)
}

// markAllSeen marks as seen what the marked agents have done, or what is shown of this one.
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

// compare shows what two agents differ in: the two that are marked, or the marked one and the selected one.
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
