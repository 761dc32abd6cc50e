package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// roster holds the agents of the desk, in the order of the list, and which are selected and marked.
type roster struct {
	board    Board
	rows     []Agent             // the agents that the filter leaves, in the order of the list
	outlooks map[string]Forecast // by the agent's key

	filter   string
	selected string          // the agent's key
	hidden   string          // the key of the agent that was selected until the filter left it out; "" once the user has taken another
	chosen   bool            // the user has pressed a key; before, the first row is always selected
	marks    map[string]bool // the marked agents, by key
	numbers  map[string]int  // numbers of agents where several sessions are listed, by key; a number stays while the desk is open
}

// cutAgents returns the names of the agents of a session whose turns were cut.
func (l roster) cutAgents(session string) (names []string) {
	for _, a := range l.rows {
		if a.Cut && a.Session == session {
			names = append(names, a.Name)
		}
	}
	return names
}

// step selects the agent that many rows further down, or up for a negative number.
func (l *roster) step(by int) { l.selectAt(l.index() + by) }

// selectAt selects the agent of row i, or of the nearest row.
func (l *roster) selectAt(i int) {
	if len(l.rows) > 0 {
		l.choose(l.rows[min(max(i, 0), len(l.rows)-1)])
	}
}

// choose selects an agent. The one that was selected leaves the list if the filter does not match
// it.
func (l *roster) choose(a Agent) {
	l.selected, l.hidden = a.Key(), ""
	l.arrange("")
}

// nextGroup selects the first agent of the next group.
func (l *roster) nextGroup() {
	at := max(l.index(), 0)
	for i := range l.rows {
		next := (at + i) % len(l.rows)
		if l.rows[next].Group != l.rows[at].Group && (next == 0 || l.rows[next-1].Group != l.rows[next].Group) {
			l.choose(l.rows[next])
			return
		}
	}
}

// counts returns how many agents each group has.
func (l roster) counts() (count [len(groupNames)]int) {
	for _, a := range l.board.Agents {
		count[l.judged(a).Group]++
	}
	return count
}

// severalSessions reports whether agents of more than one session are listed.
func (l roster) severalSessions() bool {
	return slices.ContainsFunc(l.board.Agents, func(a Agent) bool { return a.Session != l.board.Agents[0].Session })
}

// number gives each agent a number when the agent is listed for the first time, if several sessions
// are listed: the numbers within a session are not unique then.
func (l *roster) number() {
	if !l.severalSessions() {
		return
	}
	for _, a := range l.board.Agents {
		if l.numbers[a.Key()] == 0 {
			l.numbers[a.Key()] = len(l.numbers) + 1
		}
	}
}

// numberOf returns the number that selects an agent when it is typed.
func (l roster) numberOf(a Agent) int {
	if l.severalSessions() {
		return l.numbers[a.Key()]
	}
	return a.Number
}

// neighbour returns the key of the agent to select if the selected one goes.
func (l roster) neighbour() string {
	switch i := l.index(); {
	case i < 0:
		return ""
	case i+1 < len(l.rows):
		return l.rows[i+1].Key()
	default:
		return l.rows[max(i-1, 0)].Key()
	}
}

// arrange filters and sorts the agents, and keeps the selected agent selected and listed even if
// the filter does not match it. If the selected agent has gone, neighbour is selected. arrange is
// called whenever the board, the filter, the selection or a forecast has changed.
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
		if a.Since.IsZero() || b.Since.IsZero() { // unknown, and last
			return b.Since.Compare(a.Since)
		}
		return a.Since.Compare(b.Since) // the agent that has waited longest comes first
	})
	l.rows = nested(l.rows)
	if l.index() < 0 {
		l.selected = neighbour
	}
	if l.index() < 0 || !l.chosen {
		l.selected = ""
		if len(l.rows) > 0 {
			l.selected = l.rows[0].Key()
		}
	}
}

// narrow filters the list. The selected agent stays selected only if the filter matches it, and comes back with a
// filter that does.
func (l *roster) narrow(filter string) {
	was := cmp.Or(l.hidden, l.selected)
	l.filter, l.selected, l.hidden = filter, "", was
	l.arrange("")
	if slices.ContainsFunc(l.rows, func(a Agent) bool { return a.Key() == was }) {
		l.selected, l.hidden = was, ""
	}
}

// take ends the choice of a filter: the first agent that it matches is the selected one.
func (l *roster) take(string) tea.Cmd {
	if len(l.rows) > 0 {
		l.hidden = ""
	}
	return nil
}

// judged moves an agent with finished work to NeedsYou if the work conflicts with the branch to
// land in.
func (l roster) judged(a Agent) Agent {
	o := l.outlooks[a.Key()]
	if len(o.Files) > 0 && (a.Group == ToReview || a.Group == Quiet) {
		a.Group, a.Colour, a.Urgency = NeedsYou, red, conflictUrgency
		a.About = fmt.Sprintf("conflicts with %s: %s", o.Target, strings.Join(o.Files, ", "))
	}
	return a
}

// index returns the index of the selected agent, -1 if it is not listed.
func (l roster) index() int {
	return slices.IndexFunc(l.rows, func(a Agent) bool { return a.Key() == l.selected })
}

// nested puts each child below its parent where both are in the same group, and sets depth.
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

// conflictUrgency sorts conflicts behind questions and errors.
const conflictUrgency = 100

// title returns the title of the terminal window, with the number of agents that need the user.
func (l roster) title() string {
	if n := l.counts()[NeedsYou]; n > 0 {
		return fmt.Sprintf("paw: %d wait", n)
	}
	return "paw"
}

// draft returns the draft that the user has begun for an agent, without the prompts that are being
// sent, which stand in front of it.
func (m *Model) draft(key string) string {
	draft := m.paw.Draft(key)
	for _, prompt := range m.sending[key] {
		if rest, found := strings.CutPrefix(draft, prompt); found && (rest == "" || strings.HasPrefix(rest, betweenDrafts)) {
			draft = strings.TrimPrefix(rest, betweenDrafts)
		}
	}
	return draft
}

// keepDraft stores the draft for an agent behind the prompts that are being sent.
func (m *Model) keepDraft(key, text string) error {
	all := slices.Clone(m.sending[key])
	if strings.TrimSpace(text) != "" {
		all = append(all, text)
	}
	return m.paw.KeepDraft(key, strings.Join(all, betweenDrafts))
}

// betweenDrafts separates the prompts of a stored draft.
const betweenDrafts = "\n\n"

// sent takes a prompt off those that are being sent. A prompt that was not sent is the draft again;
// sent returns it where the user has begun another draft meanwhile.
func (m *Model) sent(words []string, arrived bool) (unsent string) {
	if len(words) != 4 || words[0] != "send" || words[2] != "--" {
		return ""
	}
	key, _, _ := strings.Cut(words[1], ",")
	prompt := words[3]
	i := slices.Index(m.sending[key], prompt)
	if i < 0 {
		return ""
	}
	draft := m.draft(key)
	m.sending[key] = slices.Delete(m.sending[key], i, i+1)
	switch {
	case !arrived && draft == "":
		draft = prompt
	case !arrived && draft != prompt:
		unsent = prompt
	}
	_ = m.keepDraft(key, draft) // on an error the sent prompt only stays as a draft
	return unsent
}
