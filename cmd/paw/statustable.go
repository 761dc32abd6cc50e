package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
)

// Tables of paw status for a terminal. For a pipe, whose width is 0, plainLines has one line for each
// agent, with the states as in --json.

// questionLines limits the lines of a question. The whole question is in the agent's pane.
const questionLines = 3

// Styles of text that has no colour of a state.
const (
	styleHead = "1"
	styleDim  = display.Grey
)

// statusPrinter prints the status of sessions: as JSON, as lines for a pipe, or as tables that fit
// a terminal.
type statusPrinter struct{ *invocation }

// statusLines formats one session for a terminal: the agents that need the user come first, with
// their questions.
func (p statusPrinter) statusLines(st observe.SessionStatus, now time.Time, width int) []string {
	if width == 0 {
		return p.plainLines(st, now)
	}
	lines := p.sessionLines(st, width)
	if len(st.Agents) == 0 {
		return append(lines, fmt.Sprintf("  no agents; %s deletes its record", errs.Line("paw purge %s", st.Session.Name)))
	}
	lines = append(lines, p.agentLines(st, now, width)...)
	for _, line := range nextSteps(st) {
		lines = append(lines, columns.Cut("  "+line, width))
	}
	return lines
}

// sessionLines formats the head of a session: name, status, the number of agents in each state, and
// where the repository and the worktrees are.
func (p statusPrinter) sessionLines(st observe.SessionStatus, width int) []string {
	parts := []string{p.paint(columns.Cut(errs.Name(st.Session.Name), width/2), styleHead), p.colour(string(st.Status), string(st.Status)), stateCounts(st.Agents), p.paint(shortened(st.Session.RepoPath), styleDim)}
	lines := []string{columns.Cut(strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "  "), width)}
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
	{"CHANGES", func(ag *observe.AgentStatus) string { return ag.Lines.String() }, func(ag *observe.AgentStatus) bool { return ag.Lines != nil }},
	{"DIRTY", uncommitted, func(ag *observe.AgentStatus) bool { return ag.Dirty != nil }},
	{"COLLIDES WITH", func(ag *observe.AgentStatus) string { return columns.Cut(collidesWith(ag), mostCollisions) },
		func(ag *observe.AgentStatus) bool { return ag.Forecast != nil }},
	{"PR", func(ag *observe.AgentStatus) string {
		if ag.Pull == nil {
			return ""
		}
		return ag.Pull.InWords()
	}, func(ag *observe.AgentStatus) bool { return ag.Pull != nil }},
	{"USAGE", func(ag *observe.AgentStatus) string { return inShort(ag.Used) }, func(ag *observe.AgentStatus) bool { return ag.Used != nil }},
}

// agentLines formats the table of the agents. Lines about one agent stand below its row.
func (p statusPrinter) agentLines(st observe.SessionStatus, now time.Time, width int) []string {
	agents := mostUrgent(st.Agents)
	rows := agentTable(agents, now)
	state := columnWidths(rows)[stateColumn]
	for _, row := range rows {
		row[0].text = columns.Cut(row[0].text, max(width/longestName, leastName))
		row[stateColumn].text = columns.Fill(row[stateColumn].text, state) // a background is as wide as the column
	}
	rows = fitting(rows, width-2, []string{"CLI", "SINCE", "WORK", "CHANGES", "NEW", "COLLIDES WITH", "USAGE", "DIRTY", "PR", "TURN"})
	table := p.tableOf(rows, "  ", width)
	lines := []string{p.paint(table[0], styleDim)}
	for i, ag := range agents {
		lines = append(append(lines, table[i+1]), p.belowAgent(st, ag, width)...)
	}
	return lines
}

// Limits of an agent's name in its row: a part of the width, but not less than leastName.
const (
	longestName = 3
	leastName   = 8
)

// agentTable returns the cells of the table of agents, below its heads. Further columns are there if
// any agent has something in them.
func agentTable(agents []relative, now time.Time) [][]cell {
	table := [][]cell{texts("AGENT", "CLI", "STATE", "SINCE", "TURN")}
	for _, ag := range agents {
		row := texts(ag.label(), ag.Record.CLI, ag.InWords(), since(ag.AgentStatus, now), turnNumber(ag.AgentStatus))
		row[stateColumn].state = colourOf(ag.AgentStatus.AgentStatus)
		table = append(table, row)
	}
	for _, column := range furtherColumns {
		if !slices.ContainsFunc(agents, func(ag relative) bool { return column.wanted(ag.AgentStatus) }) {
			continue
		}
		table[0] = append(table[0], cell{text: column.head})
		for i, ag := range agents {
			table[i+1] = append(table[i+1], cell{text: column.text(ag.AgentStatus)})
		}
	}
	table[0] = append(table[0], cell{text: "WORK"})
	for i, ag := range agents {
		table[i+1] = append(table[i+1], cell{text: headline(ag.Prompt)})
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

// stateColumn is the index of the column STATE in the table of agents.
const stateColumn = 2

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
			steps = append(steps, errs.Line("paw answer %s/%s", st.Session.Name, r.Record.Name)+": shows its answers, and takes one")
		}
		back = back || canComeBack(r.AgentStatus) && r.Cause != session.CauseStopped
	}
	if back {
		steps = append(steps, errs.Line("paw recover %s", st.Session.Name)+": same panes, same conversations")
	}
	return append(steps, failedSetUps(st)...)
}

// failedSetUps returns a line for each agent whose set-up command has failed.
func failedSetUps(st observe.SessionStatus) (lines []string) {
	for _, ag := range st.Agents {
		if failed := ag.Record.SetUpFailed; failed != "" && ag.Cause != session.CauseSetUp {
			lines = append(lines, fmt.Sprintf("%s: its set-up failed (%s)", errs.Line("paw setup %s/%s", st.Session.Name, ag.Record.Name), failed))
		}
	}
	return lines
}
