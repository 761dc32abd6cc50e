package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/cmd/paw/ui"
	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
)

// What a person reads on a terminal. What is piped has one line for each agent, with the states as in --json (printStatus).

// leastWork is how many columns the column WORK needs, else what an agent works on gets a line of its own.
const leastWork = 20

// leastName is how many columns of an agent's name stay.
const leastName = 8

// questionLines is how many lines a question may take; the agent's pane has all of it.
const questionLines = 3

// The styles of what is not coloured by a state.
const (
	styleHead = "1"
	styleDim  = display.Grey
)

// statusLines shows a session on a terminal of so many columns: who needs the user comes first, with the question. In brief each
// agent has one line, and those that ask one more.
func (p statusPrinter) statusLines(st observe.SessionStatus, now time.Time, width int, brief bool) []string {
	lines := p.sessionLines(st, width)
	if len(st.Agents) == 0 {
		return append(lines, fmt.Sprintf("  no agents; paw purge %s deletes its record", st.Session.Name))
	}
	lines = append(lines, p.agentLines(st, now, width, brief)...)
	for _, line := range nextSteps(st) {
		lines = append(lines, columns.Cut("  "+line, width))
	}
	return lines
}

// sessionLines are the session's name, its status, how many agents are in which state, and where it lives.
func (p statusPrinter) sessionLines(st observe.SessionStatus, width int) []string {
	counts, place := stateCounts(st.Agents), shortened(st.Session.RepoPath)
	used := min(columns.Width(st.Session.Name), max(width-2-columns.Width(string(st.Status)), leastName)) + 2 + columns.Width(string(st.Status))
	name := columns.Cut(st.Session.Name, max(width-2-columns.Width(string(st.Status)), leastName))
	lines := []string{p.paint(name, styleHead) + "  " + p.colour(string(st.Status), string(st.Status))}
	add := func(text, style string) {
		if last := len(lines) - 1; used+2+columns.Width(text) <= width {
			lines[last] += "  " + p.paint(text, style)
			used += 2 + columns.Width(text)
			return
		}
		lines = append(lines, "  "+p.paint(columns.Cut(text, width-2), style))
		used = 2 + min(columns.Width(text), width-2)
	}
	if counts != "" {
		add(counts, "")
	}
	add(place, styleDim)
	if st.Reason != "" {
		lines = append(lines, columns.Cut("  ("+display.OneLine(st.Reason)+")", width))
	}
	if dir := commonFolder(st); dir != "" {
		lines = append(lines, p.paint(columns.Cut("  worktrees: "+shortened(dir)+"/AGENT", width), styleDim))
	}
	return lines
}

// furtherColumns are those that are there where one of the agents wants them.
var furtherColumns = []struct {
	head   string
	text   func(ag *observe.AgentStatus) string
	wanted func(ag *observe.AgentStatus) bool
}{
	{"NEW", toReview, func(ag *observe.AgentStatus) bool { return ag.ToReview > 0 }},
	{"CHANGES", changes, func(ag *observe.AgentStatus) bool { return ag.Dirty != nil }},
	{"DIRTY", uncommitted, func(ag *observe.AgentStatus) bool { return ag.Dirty != nil }},
	{"COLLIDES WITH", func(ag *observe.AgentStatus) string { return columns.Cut(collidesWith(ag), mostCollisions) },
		func(ag *observe.AgentStatus) bool { return ag.Forecast != nil }},
	{"USAGE", func(ag *observe.AgentStatus) string { return inShort(ag.Used) }, func(ag *observe.AgentStatus) bool { return ag.Used != nil }},
}

// agentLines are a table of the agents, with what belongs to one of them below its row.
func (p statusPrinter) agentLines(st observe.SessionStatus, now time.Time, width int, brief bool) []string {
	agents := mostUrgent(st.Agents)
	table := [][]string{{"AGENT", "CLI", "STATE", "SINCE", "TURN"}}
	for _, ag := range agents {
		table = append(table, []string{ag.label(), ag.Record.CLI, orchestrator.StateWord(ag.AgentStatus.AgentStatus), since(ag.AgentStatus, now), turnNumber(ag.AgentStatus)})
	}
	for _, column := range furtherColumns {
		if !slices.ContainsFunc(agents, func(ag relative) bool { return column.wanted(ag.AgentStatus) }) {
			continue
		}
		table[0] = append(table[0], column.head)
		for i, ag := range agents {
			table[i+1] = append(table[i+1], column.text(ag.AgentStatus))
		}
	}
	widths := fitted(table, width-2)
	taken := 2
	for _, w := range widths {
		if w > 0 {
			taken += w + 2
		}
	}
	beside := width-taken >= leastWork
	var lines []string
	for i, row := range table {
		var line strings.Builder
		line.WriteString("  ")
		for k, text := range row {
			if widths[k] == 0 {
				continue
			}
			text = columns.Fill(text, widths[k])
			if i > 0 && k == 2 {
				text = p.colour(text, colourOf(agents[i-1].AgentStatus.AgentStatus))
			}
			line.WriteString(text + "  ")
		}
		work := "WORK"
		if i > 0 {
			work = headline(agents[i-1].Prompt)
		}
		if beside {
			line.WriteString(columns.Cut(work, width-taken))
		}
		text := strings.TrimRight(line.String(), " ")
		if i == 0 {
			lines = append(lines, p.paint(text, styleDim))
			continue
		}
		if lines = append(lines, text); !beside && work != "" && !brief {
			lines = append(lines, columns.Cut("    "+work, width))
		}
		below := p.belowAgent(st, agents[i-1], width)
		if asks := agents[i-1].State == session.StateWaitingInput; brief && asks {
			below = below[:min(len(below), 1)]
		} else if brief {
			below = nil
		}
		lines = append(lines, below...)
	}
	return lines
}

// headline returns the first line of a prompt without a leading "please", to be shown in one row.
func headline(prompt string) string {
	line := display.OneLine(display.FirstLine(prompt))
	for _, word := range []string{"Please ", "please "} {
		line = strings.TrimPrefix(line, word)
	}
	return line
}

// belowAgent is what needs a line of its own: the question, why a state is what it is, and where the agent lives when
// that is not where all do.
func (p statusPrinter) belowAgent(st observe.SessionStatus, ag relative, width int) []string {
	const indent = "    "
	var lines []string
	switch reason := display.OneLine(ag.Reason); {
	case reason == "" || reason == session.ReasonStopped || reason == session.ReasonClosed: // as the state says
	case reason == session.ReasonCrash && st.Reason == session.ReasonTmuxGone: // as the line of the session says
	case ag.State == session.StateWaitingInput:
		for i, line := range columns.Wrap(reason, width-len(indent)-2, questionLines) {
			mark := p.colour("?", string(ag.State))
			if i > 0 {
				mark = " "
			}
			lines = append(lines, indent+mark+" "+p.paint(line, styleHead)) // legible on any background
		}
	default:
		lines = append(lines, indent+columns.Cut(reason, width-len(indent)))
	}
	var place []string
	if branch := branchOf(ag.AgentStatus); branch != "paw/"+st.Session.Name+"/"+ag.Record.Name {
		place = append(place, "on "+display.OneLine(branch))
	}
	if commonFolder(st) == "" {
		place = append(place, "in "+shortened(ag.Record.WorktreePath))
	}
	if len(place) > 0 {
		lines = append(lines, p.paint(columns.Cut(indent+strings.Join(place, " "), width), styleDim))
	}
	return lines
}

// fitted are the widths of the columns. Where there is no room for all, the column of the CLIs goes first (width 0), then
// the names of agents are cut, then the columns of the times, of the changes and of the usage go.
func fitted(table [][]string, room int) []int {
	widths := make([]int, len(table[0]))
	total := 0
	for k := range widths {
		for _, row := range table {
			widths[k] = max(widths[k], columns.Width(row[k]))
		}
		total += widths[k] + 2
	}
	total -= 2
	drop := func(k int) {
		total -= widths[k] + 2
		widths[k] = 0
	}
	if total > room {
		drop(slices.Index(table[0], "CLI"))
	}
	least := min(widths[0], leastName)
	for _, head := range []string{"SINCE", "CHANGES", "NEW", "COLLIDES WITH", "USAGE", "DIRTY", "TURN"} {
		if k := slices.Index(table[0], head); k >= 0 && total-(widths[0]-least) > room {
			drop(k)
		}
	}
	widths[0] = max(widths[0]-max(total-room, 0), least)
	return widths
}

// urgencyOf orders agents: those that need the user come first, those at rest last.
func urgencyOf(ag observe.AgentStatus) int {
	order := []session.State{session.StateWaitingInput, session.StateError, session.StateSuspended, session.StateUnknown, session.StateRunning,
		session.StateWaitingChildren, session.StateCompleted, session.StateIdle}
	switch {
	case ag.Cause == session.CauseStopped || ag.Cause == session.CauseClosed:
		return len(order)
	case (ag.Limit != nil || ag.CutTurn != 0) && ag.State != session.StateWaitingInput:
		return slices.Index(order, session.StateError)
	}
	return slices.Index(order, ag.State)
}

// mostUrgent orders agents by urgency, and a family by its most urgent member.
func mostUrgent(agents []observe.AgentStatus) []relative {
	type family struct {
		members []relative
		urgency int
	}
	var all []family
	for _, r := range families(agents) {
		if r.depth == 0 {
			all = append(all, family{urgency: urgencyOf(*r.AgentStatus)})
		}
		f := &all[len(all)-1]
		f.members, f.urgency = append(f.members, r), min(f.urgency, urgencyOf(*r.AgentStatus))
	}
	slices.SortStableFunc(all, func(a, b family) int { return a.urgency - b.urgency })
	var ordered []relative
	for _, f := range all {
		ordered = append(ordered, f.members...)
	}
	return ordered
}

// stateCounts says how many agents are in which state, the most urgent first.
func stateCounts(agents []observe.AgentStatus) string {
	count := map[string]int{}
	var words []string
	for _, ag := range slices.SortedStableFunc(slices.Values(agents), func(a, b observe.AgentStatus) int { return urgencyOf(a) - urgencyOf(b) }) {
		word := orchestrator.StateWord(ag.AgentStatus)
		if count[word]++; count[word] == 1 {
			words = append(words, word)
		}
	}
	for i, word := range words {
		words[i] = fmt.Sprintf("%d %s", count[word], plural(word, count[word]))
	}
	return strings.Join(words, ", ")
}

// plural makes "waits for you" agree with how many do.
func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	word = strings.Replace(word, "waits for its", "wait for their", 1)
	return strings.Replace(word, "waits", "wait", 1)
}

// commonFolder is the folder that has the worktree of each agent under the agent's name, "" when there is none.
func commonFolder(st observe.SessionStatus) string {
	dir := ""
	for i, ag := range st.Agents {
		parent, name := filepath.Split(ag.Record.WorktreePath)
		if name != ag.Record.Name || i > 0 && parent != dir {
			return ""
		}
		dir = parent
	}
	return strings.TrimSuffix(dir, "/")
}

// nextSteps are the commands that somebody needs who sees this.
func nextSteps(st observe.SessionStatus) []string {
	var steps []string
	back := st.Status == session.StatusStopped
	for _, r := range mostUrgent(st.Agents) {
		if r.State == session.StateWaitingInput && r.Cause != session.CauseDialog && len(steps) == 0 {
			steps = append(steps, fmt.Sprintf("paw answer %s/%s: shows its answers, and takes one", st.Session.Name, r.Record.Name))
		}
		back = back || canComeBack(r.AgentStatus) && r.Cause != session.CauseStopped
	}
	if back {
		steps = append(steps, fmt.Sprintf("paw recover %s: same panes, same conversations", st.Session.Name))
	}
	return steps
}

// since is how long an agent has been in its state.
func since(ag *observe.AgentStatus, now time.Time) string {
	if ag.Since == nil {
		return ""
	}
	return ui.Age(now.Sub(*ag.Since))
}

// inTurn reports whether an agent is at its last turn: an end that its CLI's own record tells of is one, also before paw has
// written it down.
func inTurn(ag *observe.AgentStatus) bool {
	return ag.CurrentTurn > 0 && ag.State != session.StateIdle && ag.State != session.StateError
}

// canComeBack reports whether an agent does not run, and did not end by itself.
func canComeBack(ag *observe.AgentStatus) bool {
	return ag.PID == 0 && (ag.State == session.StateSuspended || ag.State == session.StateError || ag.State == session.StateWaitingChildren)
}

// turnNumber is the number of the last turn, with an ellipsis while it is under way.
func turnNumber(ag *observe.AgentStatus) string {
	last := max(ag.LastTurn, ag.CurrentTurn, ag.TurnsCompleted) // a log that is gone knows less than the record
	switch {
	case last == 0:
		return ""
	case inTurn(ag):
		return fmt.Sprintf("%d%s", last, display.Ellipsis)
	}
	return fmt.Sprint(last)
}

// toReview is how many finished turns the user has not seen, "" for none.
func toReview(ag *observe.AgentStatus) string {
	if ag.ToReview == 0 {
		return ""
	}
	return errs.Counted(ag.ToReview, "turn")
}

// changes are the lines that an agent has added and deleted since its base, "" where nobody counted.
func changes(ag *observe.AgentStatus) string {
	if ag.Lines == nil || ag.Lines.Added+ag.Lines.Deleted == 0 {
		return ""
	}
	return fmt.Sprintf("+%d -%d", ag.Lines.Added, ag.Lines.Deleted)
}

// collidesWith is what a forecast says of an agent.
func collidesWith(ag *observe.AgentStatus) string {
	if ag.Forecast == nil {
		return ""
	}
	return display.OneLine(ag.Forecast.CollidesWith())
}

// mostCollisions is how wide the column of a forecast is at most.
const mostCollisions = 24

// uncommitted is how many files are not committed, "" where nobody counted.
func uncommitted(ag *observe.AgentStatus) string {
	if ag.Dirty == nil {
		return ""
	}
	return errs.Counted(*ag.Dirty, "file")
}
