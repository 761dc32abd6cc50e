package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/session"
)

// Tables of paw status for a terminal. For a pipe, printStatus prints one line for each agent, with
// the states as in --json.

// leastWork is the least width of the column WORK. With less room, the prompt of an agent gets a
// line of its own.
const leastWork = 20

// leastName is the least width to which the name of an agent is cut.
const leastName = 8

// questionLines limits the lines of a question. The whole question is in the agent's pane.
const questionLines = 3

// Styles of text that has no colour of a state.
const (
	styleHead = "1"
	styleDim  = display.Grey
)

// statusPrinter prints the status of sessions: as JSON, as lines for a pipe, or as tables that fit a terminal.
type statusPrinter struct{ *invocation }

// statusLines formats one session for a terminal: the agents that need the user come first, with
// their questions. In brief each agent has one line, and one more if the agent has a question.
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

// sessionLines formats the head of a session: name, status, the number of agents in each state, and
// where the repository and the worktrees are.
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

// furtherColumns are optional columns. A column is shown if wanted is true for at least one agent.
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

// agentLines formats the table of the agents. Lines about one agent stand below its row.
func (p statusPrinter) agentLines(st observe.SessionStatus, now time.Time, width int, brief bool) []string {
	agents := mostUrgent(st.Agents)
	table := agentTable(agents, now)
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

// agentTable returns the cells of the table of agents, below its heads. Further columns are there if
// any agent has something in them.
func agentTable(agents []relative, now time.Time) [][]string {
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
	return table
}

// belowAgent returns the lines below an agent's row: its question, the reason for its state, and
// its branch and worktree if these are not the usual ones.
func (p statusPrinter) belowAgent(st observe.SessionStatus, ag relative, width int) []string {
	const indent = "    "
	var lines []string
	switch reason := display.OneLine(ag.Reason); {
	case reason == "" || reason == session.ReasonStopped || reason == session.ReasonClosed: // the state says it
	case reason == session.ReasonCrash && st.Reason == session.ReasonTmuxGone: // the line of the session says it
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
	if branch := branchOf(ag.AgentStatus); branch != app.AutomaticBranch(st.Session.Name, ag.Record.Name) {
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

// fitted returns the widths of the columns, 0 for a column that is left out. If the room is too
// small, the column CLI is left out and the names of agents are cut; if that is not enough, further
// columns are left out, the least needed first.
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

// commonFolder returns the folder that contains all worktrees under their agents' names, "" if
// there is none.
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

// nextSteps returns the commands that the user may need next in a session.
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
	return append(steps, failedSetUps(st)...)
}

// failedSetUps returns a line for each agent whose set-up command has failed.
func failedSetUps(st observe.SessionStatus) (lines []string) {
	for _, ag := range st.Agents {
		if failed := ag.Record.SetUpFailed; failed != "" {
			lines = append(lines, fmt.Sprintf("paw setup %s/%s: its set-up failed (%s)", st.Session.Name, ag.Record.Name, failed))
		}
	}
	return lines
}
