package fleet

import (
	"slices"
	"time"

	"paw/orchestrator/fault"
	"paw/orchestrator/home"
	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
)

// State is what the CLI of an agent does, whatever the agent waits for.
func (f Facts) State(a Agent) session.AgentStatus {
	st := WithTurnState(session.Observe(f.Evidence(a)), a.Turns)
	if a.failure != "" && a.Pane != nil && a.Pane.Dead {
		st.Reason = a.failure
	}
	return st
}

// States are the states of the agents as shown, with what they wait for.
func States(h *home.Home, f Facts) []session.AgentStatus {
	all := LiveFacts(h, f)
	agents := live.Gathered(all)
	states := make([]session.AgentStatus, len(all))
	for i, one := range all {
		states[i] = agents.Get(one.Branch).Status()
	}
	return states
}

// LiveFacts turns what was observed of a session into the facts of its agents.
// What was typed and has arrived is owed no longer, also where nobody has come
// yet to take it out of the record.
func LiveFacts(h *home.Home, f Facts) []live.Facts {
	settled := *f.Session
	settled.Worktrees = slices.Clone(settled.Worktrees)
	for _, w := range f.Session.Worktrees {
		if Arrived(h, f.Session.Name, w) {
			settled.SettleWait(w.Agent)
		}
	}
	all := make([]live.Facts, len(f.Agents))
	for i, a := range f.Agents {
		all[i] = liveFactsOf(h, f, a, &settled)
	}
	return all
}

func liveFactsOf(h *home.Home, f Facts, a Agent, settled *session.Session) live.Facts {
	branch := func(name string) live.Branch {
		w := settled.Worktree(name)
		if w == nil {
			return live.Branch{}
		}
		return live.Branch{Repository: settled.GitCommonDir, Name: w.Branch}
	}
	status, own := f.State(a), settled.Worktree(a.Record.Agent)
	one := live.Facts{
		Branch: live.Branch{Repository: settled.GitCommonDir, Name: own.Branch}, Parent: branch(a.Record.Parent), Record: *own,
		Status: status, Last: LastTurn(status, a.Turns, unseenGrace),
		Running:     f.Running(a) == InPane && Withdrawn(settled, a.Record.Agent, "") == "",
		Exited:      a.Lock.State == session.LockFree && (a.Pane != nil && a.Pane.Dead || a.Pane == nil && a.Record.Phase == session.PhaseExited),
		TurnsUnseen: !a.Turns.Visible, Silent: status.Cause == session.CauseSilent,
	}
	if a.Lock.State == session.LockHeld {
		one.Launch = a.Lock.Holder.Generation
	}
	for _, child := range settled.Children(a.Record.Agent) {
		one.Children = append(one.Children, branch(child))
	}
	if w := one.Record.Wait; w != nil && w.TypedAt != nil {
		one.Delivering = h.Locks.DeliveryHeld(settled.Name, a.Record.Agent)
	}
	return one
}

// unseenGrace is how long after an end in the CLI's own record its hook may still
// be at work, which knows more of it: the commit, the outcome, the files.
const unseenGrace = 10 * time.Second

// LastTurn is the last turn of an agent, closed where the CLI's own record says for that long that it is over although
// no hook told.
func LastTurn(status session.AgentStatus, f Turns, grace time.Duration) *turn.Record {
	if f.Last == nil || f.Last.State != turn.InProgress || f.Last.Launch != f.launch {
		return f.Last
	}
	resting := status.State == session.StateIdle || status.State == session.StateError || status.State == session.StateCompleted
	if !resting || status.Source == session.SourceTmux || f.now.Sub(f.observed.At).Abs() < grace {
		return f.Last
	}
	closed := *f.Last
	closed.State, closed.Reason, closed.EndedAt, closed.Waiting = turn.Aborted, turn.ReasonInterrupted, at(f.observed.At), false
	if ended := f.observed.Ended; ended != nil {
		closed.ErrorMessage = ended.Message
		switch ended.Kind {
		case turn.KindEnd:
			closed.State, closed.Reason, closed.ErrorMessage = turn.Finished, "", ""
			closed.Outcome, closed.Message = "success", fault.FirstLine(ended.Message)
		case turn.KindError:
			closed.Reason, closed.ErrorType, closed.Limit = turn.ReasonError, ended.ErrorType, ended.Limit
		default:
		}
	}
	return &closed
}

// Arrived reports whether the prompt that tells an agent of its children is in its
// turn log: then nothing is owed any more, whatever the record says.
func Arrived(h *home.Home, sessionName string, w session.Worktree) bool {
	if w.Wait == nil || w.Wait.TypedAt == nil {
		return false
	}
	there, err := h.TurnDir(sessionName, w.Agent).Asked(w.Wait.ID, w.Wait.Since)
	return err == nil && there
}
