package ui

import (
	"fmt"
	"slices"
	"strings"
)

// roster holds the agents that the desk lists, in the order of the list, the selected one and the marked ones.
type roster struct {
	board    Board
	rows     []Agent             // those that the filter leaves, in the order in which they are shown
	outlooks map[string]Forecast // by key of the agent

	filter   string
	selected string          // key of the selected agent
	chosen   bool            // the user has pressed a key: until then the first row is selected
	marks    map[string]bool // agents that the next key is for, by key
	numbers  map[string]int  // of the agents of several sessions, by key, as long as the desk is open
}

// cutAgents are the agents of a session whose turns were cut.
func (l roster) cutAgents(session string) (names []string) {
	for _, a := range l.rows {
		if a.Cut && a.Session == session {
			names = append(names, a.Name)
		}
	}
	return names
}

// step selects an agent further down or up.
func (l *roster) step(by int) { l.selectAt(l.index(l.rows) + by) }

// selectAt selects the agent in that place, or the one at the end.
func (l *roster) selectAt(i int) {
	if len(l.rows) > 0 {
		l.choose(l.rows[min(max(i, 0), len(l.rows)-1)])
	}
}

// choose selects an agent. The one before it goes if the filter does not leave it.
func (l *roster) choose(a Agent) {
	l.selected = a.Key()
	l.arrange("")
}

// nextGroup selects the first agent of the next group.
func (l *roster) nextGroup() {
	agents := l.rows
	at := max(l.index(agents), 0)
	for i := range agents {
		next := (at + i) % len(agents)
		if agents[next].Group != agents[at].Group && (next == 0 || agents[next-1].Group != agents[next].Group) {
			l.choose(agents[next])
			return
		}
	}
}

// counts are how many agents are in each group.
func (l roster) counts() (count [len(groupNames)]int) {
	for _, a := range l.board.Agents {
		count[l.judged(a).Group]++
	}
	return count
}

// severalSessions reports whether names of agents need those of their sessions.
func (l roster) severalSessions() bool {
	for _, a := range l.board.Agents {
		if a.Session != l.board.Agents[0].Session {
			return true
		}
	}
	return false
}

// number gives each agent of several sessions a number when it is seen first: those of their sessions are not unique.
func (l *roster) number() {
	if !l.severalSessions() {
		return
	}
	for _, a := range l.board.Agents {
		if l.numbers[a.Key()] == 0 {
			l.numbers = with(l.numbers, a.Key(), len(l.numbers)+1)
		}
	}
}

// numberOf is the number of an agent, by which a digit selects it wherever it stands.
func (l roster) numberOf(a Agent) int {
	if l.severalSessions() {
		return l.numbers[a.Key()]
	}
	return a.Number
}

// neighbour is the agent that is selected when the selected one goes.
func (l roster) neighbour() string {
	agents := l.rows
	i := l.index(agents)
	if i < 0 {
		return ""
	}
	if i+1 < len(agents) {
		return agents[i+1].Key()
	}
	return agents[max(i-1, 0)].Key()
}

// arrange puts the agents that the filter leaves in order, and keeps one selected: that of now, whom the user looks at, also
// when the filter would not leave it. It follows whatever they depend on.
func (l *roster) arrange(neighbour string) {
	l.rows = nil
	for _, a := range l.board.Agents {
		if a = l.judged(a); a.matches(l.filter) || a.Key() == l.selected {
			l.rows = append(l.rows, a)
		}
	}
	slices.SortStableFunc(l.rows, func(a, b Agent) int {
		if a.Group != b.Group {
			return int(a.Group - b.Group)
		}
		if a.Urgency != b.Urgency || a.Group > ToReview {
			return a.Urgency - b.Urgency
		}
		return a.Since.Compare(b.Since) // whoever waits longest comes first
	})
	l.rows = nested(l.rows)
	if l.index(l.rows) < 0 {
		l.selected = neighbour
	}
	if l.index(l.rows) < 0 || !l.chosen {
		l.selected = ""
		if len(l.rows) > 0 {
			l.selected = l.rows[0].Key()
		}
	}
}

// narrow shows only the agents that a filter leaves. The one that is selected stays so if it is one of them.
func (l *roster) narrow(filter string) {
	was := l.selected
	l.filter, l.selected = filter, ""
	l.arrange("")
	if i := slices.IndexFunc(l.rows, func(a Agent) bool { return a.Key() == was }); i >= 0 {
		l.selected = was
	}
}

// judged is an agent that needs the user when its finished work conflicts with the branch that it is to land in.
func (l roster) judged(a Agent) Agent {
	o := l.outlooks[a.Key()]
	if len(o.Files) > 0 && (a.Group == ToReview || a.Group == Quiet) {
		a.Group, a.Colour, a.Urgency = NeedsYou, red, conflictUrgency
		a.About = fmt.Sprintf("conflicts with %s: %s", o.Target, strings.Join(o.Files, ", "))
	}
	return a
}

// index is the place of the selected agent, -1 when it is not there.
func (l roster) index(agents []Agent) int {
	return slices.IndexFunc(agents, func(a Agent) bool { return a.Key() == l.selected })
}

// nested puts children behind their parents where both are in one group, and says how deep.
func nested(rows []Agent) []Agent {
	type family struct {
		group           Group
		session, parent string
	}
	there := map[family]bool{}
	for _, a := range rows {
		there[family{a.Group, a.Session, a.Name}] = true
	}
	children := map[family][]Agent{}
	for _, a := range rows {
		of := family{a.Group, a.Session, a.Parent}
		if a.Parent == "" || a.Parent == a.Name || !there[of] {
			of.session, of.parent = "", ""
		}
		children[of] = append(children[of], a)
	}
	in := make([]Agent, 0, len(rows))
	var add func(of family, depth int)
	add = func(of family, depth int) {
		for _, a := range children[of] {
			a.depth = depth
			in = append(in, a)
			add(family{a.Group, a.Session, a.Name}, depth+1)
		}
	}
	for g := range groupNames {
		add(family{group: Group(g)}, 0)
	}
	return in
}

// conflictUrgency puts work that conflicts behind questions and errors.
const conflictUrgency = 100

// title is the title of the terminal's window, which says how many agents need the user.
func (l roster) title() string {
	if n := l.counts()[NeedsYou]; n > 0 {
		return fmt.Sprintf("paw: %d wait", n)
	}
	return "paw"
}
