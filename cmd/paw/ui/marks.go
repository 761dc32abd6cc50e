package ui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"paw/config/display"
)

// mark marks the selected agent, or removes the mark, and selects the next row.
func (m *Model) mark() {
	a, ok := m.current()
	if !ok {
		return
	}
	m.roster.marks[a.Key()] = !m.roster.marks[a.Key()]
	m.roster.step(1)
}

// markGroup marks an agent's group in its session, or removes the marks of a group that is marked as a whole.
func markGroup(m *Model, a Agent) tea.Cmd {
	others := func(b Agent) bool { return b.Group != a.Group || b.Session != a.Session }
	group := slices.DeleteFunc(slices.Clone(m.roster.rows), others)
	some := slices.ContainsFunc(group, func(b Agent) bool { return !m.roster.marks[b.Key()] })
	for _, b := range group {
		m.roster.marks[b.Key()] = some
	}
	return nil
}

// meant returns the agents that a key acts on: the marked agents, else a. A key pressed in a page, or
// while the detail fills the screen, acts on a only.
func meant(m *Model, a Agent) []Agent {
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
func (m *Model) forSessions(all []Agent, do func(session string, names []string) tea.Cmd) tea.Cmd {
	clear(m.roster.marks)
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
		cmds = append(cmds, do(session, names[session]))
	}
	return tea.Batch(cmds...)
}

// markAllSeen marks the work of the marked agents as seen or, with no other agent marked, what the
// desk shows of a.
func markAllSeen(m *Model, a Agent) tea.Cmd {
	all := meant(m, a)
	if len(all) == 1 && all[0].Key() == a.Key() {
		clear(m.roster.marks)
		return markSeen(m, a)
	}
	return m.forSessions(all, func(session string, names []string) tea.Cmd {
		return m.quietly(append([]string{"seen", "--session", session}, names...)...)
	})
}

// compare shows what two agents differ in: the two marked ones, or the marked one and the selected one.
func compare(m *Model, a Agent) tea.Cmd {
	two := meant(m, a)
	if len(two) == 1 && two[0].Key() != a.Key() {
		two = append(two, a)
	}
	switch {
	case len(two) > 2:
		return m.say(true, "%d are marked: = compares two", len(two))
	case len(two) < 2:
		return m.say(true, "mark two agents with Space, and = shows what they differ in")
	case two[0].Session != two[1].Session:
		return m.say(true, "%s and %s are of two sessions: they cannot be compared", two[0].Key(), two[1].Key())
	}
	m.roster.choose(two[0])
	m.scope = scope{of: two[0].Key(), with: two[1].Name}
	return turnTo(m, tabDiff)
}

// ofState adds the snapshot to a command. An agent of another machine has no snapshot here, and the
// command is unchanged.
func (s State) ofState(words ...string) []string {
	if s.Commit == "" {
		return words
	}
	return append(words[:2:2], append([]string{stateFlag, s.Commit}, words[2:]...)...)
}

// withState calls do with the snapshot that the diff shows or, where no diff is shown, with a new
// snapshot. Of an agent on another machine, only the number of the last turn is known.
func withState(m *Model, a Agent, do func(s State) tea.Cmd) tea.Cmd {
	if m.tab == tabDiff && m.scope.turn == 0 {
		switch {
		case m.page.state.Commit != "":
			return do(m.page.state)
		case m.page.asked:
			return m.say(true, "the changes of %s are not shown yet", a.Name)
		}
	}
	if a.Far {
		return do(State{Turn: lastTurn(a)})
	}
	return later(m, func(ctx context.Context, paw Paw) (State, error) { return paw.State(ctx, a) }, do)
}

// markSeen marks as seen what the user sees: the turn or the snapshot of the diff, or the last turn
// that the row shows as finished.
func markSeen(m *Model, a Agent) tea.Cmd {
	if m.tab == tabDiff && m.scope.turn > 0 {
		return m.quietly("seen", fmt.Sprintf("%s@%d", a.Key(), m.scope.turn))
	}
	shown, ofDiff := lastTurn(a), m.tab == tabDiff
	if strings.HasSuffix(a.Turn, display.Ellipsis) {
		shown--
	}
	return withState(m, a, func(s State) tea.Cmd {
		if !ofDiff && s.Turn > shown {
			return m.say(true, "%s has finished turn %d meanwhile; nothing was marked", a.Name, s.Turn)
		}
		return m.quietly(s.ofState("seen", fmt.Sprintf("%s@%d", a.Key(), s.Turn))...)
	})
}

// lastTurn returns the number of the last turn in the row, 0 for none.
func lastTurn(a Agent) int {
	number, _ := strconv.Atoi(strings.TrimSuffix(a.Turn, display.Ellipsis))
	return number
}

// planLanding shows what would land, and asks whether to land exactly that.
func planLanding(m *Model, a Agent) tea.Cmd {
	all := meant(m, a)
	if len(all) > 1 {
		return planSeveral(m, all)
	}
	a = all[0]
	clear(m.roster.marks)
	return withState(m, a, func(s State) tea.Cmd {
		land := sure(fmt.Sprintf("land this work of %s?", a.Name), "land", func() tea.Cmd {
			return m.openly(nil, s.ofState("land", a.Key())...)
		})
		land.plan = "land "
		return m.openly(land, s.ofState("land", a.Key(), "--dry-run")...)
	})
}

// planUndo shows which landing of the session is the last one, and asks whether to undo exactly that.
func planUndo(m *Model, a Agent) tea.Cmd {
	words := []string{"land", "--undo", "--session", a.Session}
	undo := sure("take back this landing, the last one of "+a.Session+"?", "take it back", func() tea.Cmd {
		for _, line := range m.run.lines {
			if plan, found := strings.CutPrefix(display.Strip(line), "undo landing "); found {
				number, _, _ := strings.Cut(plan, " ")
				return m.openly(nil, append(words, number)...)
			}
		}
		return nil
	})
	undo.plan = "undo landing "
	return m.openly(undo, append(words, "--dry-run")...)
}

// planSeveral shows what would land of several agents of one session, and asks whether to land
// exactly that; agents of other machines land as they then are.
func planSeveral(m *Model, all []Agent) tea.Cmd {
	for _, a := range all {
		if a.Session != all[0].Session {
			return m.say(true, "%s and %s are of two sessions: land one after the other", all[0].Key(), a.Key())
		}
	}
	return later(m, func(ctx context.Context, paw Paw) ([]string, error) {
		words, states := []string{"land", "--session", all[0].Session}, []string{}
		for _, a := range all {
			words = append(words, a.Name)
			if a.Far {
				continue
			}
			state, err := paw.State(ctx, a)
			if err != nil {
				return nil, err
			}
			states = append(states, a.Name+"="+state.Commit)
		}
		if len(states) > 0 {
			words = append(words, stateFlag, strings.Join(states, ","))
		}
		return words, nil
	}, func(words []string) tea.Cmd {
		land := sure(fmt.Sprintf("land the work of %s?", named(all)), "land", func() tea.Cmd {
			clear(m.roster.marks)
			return m.openly(nil, words...)
		})
		land.plan = "land "
		return m.openly(land, append(words, "--dry-run")...)
	})
}
