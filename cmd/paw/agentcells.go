package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"paw/cmd/paw/ui"
	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosting"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/session"
)

// headline returns the first line of a prompt without a leading "please", to be shown in one row.
func headline(prompt string) string {
	line := display.OneLine(display.FirstLine(prompt))
	for _, word := range []string{"Please ", "please "} {
		line = strings.TrimPrefix(line, word)
	}
	return line
}

// urgencyOf returns the rank of an agent by its state: agents that need the user are first, agents
// at rest last.
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

// mostUrgent sorts agents by urgency, and equal ones by what they need of the user. An agent stays
// together with its children, and the most urgent of them counts for all.
func mostUrgent(agents []observe.AgentStatus) []relative {
	compare := func(a, b relative) int {
		return cmp.Or(urgencyOf(*a.AgentStatus)-urgencyOf(*b.AgentStatus), orchestrator.CompareNeed(*a.AgentStatus, *b.AgentStatus))
	}
	var all [][]relative
	for _, r := range families(agents) {
		if r.depth == 0 {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], r)
	}
	slices.SortStableFunc(all, func(a, b []relative) int {
		return compare(slices.MinFunc(a, compare), slices.MinFunc(b, compare))
	})
	return slices.Concat(all...)
}

// stateCounts says how many agents are in each state, the most urgent state first.
func stateCounts(agents []observe.AgentStatus) string {
	count := map[string]int{}
	var words []string
	for _, ag := range slices.SortedStableFunc(slices.Values(agents), func(a, b observe.AgentStatus) int { return urgencyOf(a) - urgencyOf(b) }) {
		word := ag.InWords()
		if count[word]++; count[word] == 1 {
			words = append(words, word)
		}
	}
	for i, word := range words {
		words[i] = fmt.Sprintf("%d %s", count[word], plural(word, count[word]))
	}
	return strings.Join(words, ", ")
}

// plural makes the verb of a state such as "waits for you" agree with n.
func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	word = strings.Replace(word, "waits for its", "wait for their", 1)
	return strings.Replace(word, "waits", "wait", 1)
}

// since returns how long an agent has been in its state.
func since(ag *observe.AgentStatus, now time.Time) string {
	if ag.Since == nil {
		return ""
	}
	return ui.Age(now.Sub(*ag.Since))
}

// timeOf formats a time; if the time is not today, in the form dated.
func timeOf(at, now time.Time, dated string) string {
	at, now = at.Local(), now.Local()
	if at.Year() == now.Year() && at.YearDay() == now.YearDay() {
		return at.Format("15:04")
	}
	return at.Format(dated)
}

// inTurn reports whether an agent's last turn is under way. An end that only the CLI's own record
// tells of counts as an end.
func inTurn(ag *observe.AgentStatus) bool {
	return ag.CurrentTurn > 0 && ag.State != session.StateIdle && ag.State != session.StateError
}

// canComeBack reports whether an agent does not run although it did not end by itself. One whose set-up has
// failed comes back by paw setup, with its first prompt.
func canComeBack(ag *observe.AgentStatus) bool {
	return ag.PID == 0 && (ag.State == session.StateSuspended || ag.State == session.StateError && ag.Record.SetUpFailed == "" || ag.State == session.StateWaitingChildren)
}

// turnNumber returns the number of the last turn, with an ellipsis if the turn is under way.
func turnNumber(ag *observe.AgentStatus) string {
	last := max(ag.LastTurn, ag.CurrentTurn, ag.TurnsCompleted) // a lost log knows fewer turns than the session's record
	switch {
	case last == 0:
		return ""
	case inTurn(ag):
		return fmt.Sprintf("%d%s", last, display.Ellipsis)
	}
	return fmt.Sprint(last)
}

// toReview counts the finished turns that the user has not seen, "" for none.
func toReview(ag *observe.AgentStatus) string {
	if ag.ToReview == 0 {
		return ""
	}
	return errs.Counted(ag.ToReview, "turn")
}

// collidesWith says what an agent's work conflicts with, by the forecast.
func collidesWith(ag *observe.AgentStatus) string {
	if ag.Forecast == nil {
		return ""
	}
	return display.OneLine(ag.Forecast.CollidesWith())
}

// mostCollisions limits the width of the column of forecasts.
const mostCollisions = 24

// uncommitted counts the files that are not committed, "" if nobody counted.
func uncommitted(ag *observe.AgentStatus) string {
	if ag.Dirty == nil {
		return ""
	}
	return errs.Counted(*ag.Dirty, "file")
}

// turnsOf returns the number of the turn that is under way, and how many turns have finished. The
// number counts interrupted turns too.
func turnsOf(ag *observe.AgentStatus) string {
	var words []string
	if inTurn(ag) {
		words = append(words, fmt.Sprintf("turn %d…", ag.CurrentTurn))
	}
	if ag.TurnsCompleted > 0 {
		words = append(words, fmt.Sprintf("%d finished", ag.TurnsCompleted))
	}
	return strings.Join(words, ", ")
}

func branchOf(ag *observe.AgentStatus) string {
	return cmp.Or(ag.Branch, "(no branch)")
}

// relative is an agent in the tree of parents and children.
type relative struct {
	*observe.AgentStatus
	depth int // 0 for an agent without a parent in the session
}

// families sorts agents so that children follow their parents. An agent whose parent has left
// counts as one without a parent. Agents whose parents form a circle, which paw never writes, come
// last.
func families(agents []observe.AgentStatus) []relative {
	children, known := map[string][]*observe.AgentStatus{}, map[string]bool{}
	for i := range agents {
		known[agents[i].Record.Name] = true
	}
	for i := range agents {
		a := &agents[i]
		parent := a.Record.Parent
		if !known[parent] {
			parent = ""
		}
		children[parent] = append(children[parent], a)
	}
	ordered := make([]relative, 0, len(agents))
	placed := map[string]bool{}
	var place func(a *observe.AgentStatus, depth int)
	place = func(a *observe.AgentStatus, depth int) {
		if placed[a.Record.Name] {
			return
		}
		placed[a.Record.Name] = true
		ordered = append(ordered, relative{a, depth})
		for _, child := range children[a.Record.Name] {
			place(child, depth+1)
		}
	}
	for _, a := range children[""] {
		place(a, 0)
	}
	for i := range agents {
		place(&agents[i], 0)
	}
	return ordered
}

// label returns the agent's name, for a child behind a branch of the tree.
func (r relative) label() string {
	if r.depth == 0 {
		return r.Record.Name
	}
	return strings.Repeat("  ", r.depth-1) + "└ " + r.Record.Name
}

func statusView(statuses []observe.SessionStatus, problems []error) object {
	return object{{"version", 1}, {"sessions", objects(statuses, sessionView)}, {"problems", problemsView(problems)}}
}

func sessionView(st observe.SessionStatus) object {
	s := st.Session
	return object{
		{"name", s.Name}, {"repo_path", s.RepoPath}, {"project_name", s.ProjectName}, {"created_at", s.CreatedAt},
		{"status", st.Status}, {"record_status", s.Status}, {"reason", orNull(st.Reason)},
		{"tmux", object{{"session", s.Tmux.Session}, {"socket", s.Tmux.Socket}, {"alive", given(st.TmuxAlive)}}},
		{"agents", objects(st.Agents, agentView)},
	}
}

func agentView(ag observe.AgentStatus) object {
	w, forecast, usage, pull := ag.Record, absent, absent, absent
	if o := ag.Forecast; o != nil { // with: agents whose work conflicts with this agent's
		forecast = object{{"target", o.Target}, {"files_changed", o.Files}, {"conflicts", o.Conflicts}, {"with", o.Others}}
	}
	if ag.Used != nil {
		usage = spentView(*ag.Used)
	}
	if o := ag.Pull; o != nil {
		pull = object{{"number", o.Number}, {"state", o.State}, {"commit", o.Commit}, {"base", o.Base},
			{"passed", o.Count(hosting.Passed)}, {"failed", o.Count(hosting.Failed)}, {"pending", o.Count(hosting.Pending)}}
	} else if ag.Asked {
		pull = nil
	}
	return object{
		{"name", w.Name}, {"cli", w.CLI}, {"branch", w.Branch}, {"head_branch", orNull(ag.Branch)}, {"worktree_path", w.WorktreePath},
		{"pane_id", orNull(ag.PaneID)}, {"pane_alive", given(ag.PaneAlive)}, {"pid", orNull(ag.PID)},
		{"word", ag.InWords()}, {"state", ag.State}, {"state_since", ag.Since}, {"state_source", ag.Source}, {"reason", orNull(ag.Reason)},
		{"parent", orNull(w.Parent)}, {"children", ag.Children}, {"conversation_id", orNull(w.Conversation())},
		{"exit_code", ag.ExitCode}, {"dirty", given(ag.Dirty)}, {"turns_completed", ag.TurnsCompleted}, {"current_turn", orNull(ag.CurrentTurn)},
		{"last_tag", orNull(ag.LastTag)}, {"hooks", ag.Hooks}, {"to_review", ag.ToReview}, {"cut_turn", orNull(ag.CutTurn)},
		{"limit", limitView(ag.Limit)}, {"limits", ag.Windows}, {"ports", portsView(w.Ports)},
		{"pull_request", orNull(w.PullRequest)}, {"set_up_failed", orNull(w.SetUpFailed)}, {"forecast", forecast}, {"usage", usage}, {"request", pull},
	}
}

// limitView returns a usage limit, whose time is null if the CLI does not say when it ends.
func limitView(l *session.Limit) any {
	if l == nil {
		return nil
	}
	return object{{"until", orNull(l.Until.UTC())}}
}

func recoveredView(all []orchestrator.Recovered, problems []error, notes []string) object {
	return object{{"version", 1}, {"sessions", objects(all, func(r orchestrator.Recovered) object {
		failed, hints := any(nil), []string{}
		if r.Err != nil {
			failed, hints = r.Err.Error(), app.HintsOf(r.Err)
		}
		return object{{"name", r.Session.Name}, {"left_alone", orNull(r.Left)}, {"agents", objects(r.Results, resultView)}, {"error", failed}, {"hints", hints}}
	})}, {"problems", problemsView(problems)}, {"notes", notes}}
}

func resultView(r launch.Result) object {
	return object{{"name", r.Agent}, {"cli", r.CLI}, {"result", r.Kind}, {"reason", orNull(r.Reason)}, {"hints", r.Hints}, {"notes", r.Notes}}
}

// portsView returns the first and the last port of a block, nil for none.
func portsView(p *session.Ports) *[2]int {
	if p == nil {
		return nil
	}
	return &[2]int{p.First, p.Last()}
}
