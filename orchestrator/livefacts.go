package orchestrator

import (
	"slices"
	"time"

	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
)

// agentStatus is what the CLI of an agent does, whatever the agent waits for.
func (f facts) agentStatus(a agentFacts) session.AgentStatus {
	st := withTurnState(session.Observe(f.evidence(a)), a.turns)
	if a.failure != "" && a.pane != nil && a.pane.Dead {
		st.Reason = a.failure
	}
	return st
}

// states are the states of the agents as shown, with what they wait for.
func (p *Paw) states(f facts) []session.AgentStatus {
	states := make([]session.AgentStatus, len(f.agents))
	waits := slices.ContainsFunc(f.session.Worktrees, func(w session.Worktree) bool { return w.Wait != nil })
	if !waits {
		for i, a := range f.agents {
			states[i] = f.agentStatus(a)
		}
		return states
	}
	all := p.liveFacts(f)
	byName := map[string]live.Facts{}
	for _, one := range all {
		byName[one.Record.Agent] = one
	}
	for i, one := range all {
		states[i] = live.State(live.Family{Parent: one, Children: byName})
	}
	return states
}

// liveFacts turns what was observed of a session into the facts of its agents.
// What was typed and has arrived is owed no longer, also where nobody has come
// yet to take it out of the record.
func (p *Paw) liveFacts(f facts) []live.Facts {
	settled := *f.session
	settled.Worktrees = slices.Clone(settled.Worktrees)
	for _, w := range f.session.Worktrees {
		if p.arrived(f.session.Name, w) {
			settled.SettleWait(w.Agent)
		}
	}
	all := make([]live.Facts, len(f.agents))
	for i, a := range f.agents {
		all[i] = p.liveFactsOf(f, a, &settled)
	}
	return all
}

func (p *Paw) liveFactsOf(f facts, a agentFacts, settled *session.Session) live.Facts {
	branch := func(name string) live.Branch {
		w := settled.Worktree(name)
		if w == nil {
			return live.Branch{}
		}
		return live.Branch{Repository: settled.GitCommonDir, Name: w.Branch}
	}
	status := f.agentStatus(a)
	alive := a.pane != nil && !a.pane.Dead
	one := live.Facts{
		Branch: branch(a.record.Agent), Parent: branch(a.record.Parent), Record: *settled.Worktree(a.record.Agent),
		Status: status, Last: lastTurn(status, a.turns, unseenGrace),
		Running:     alive && a.lock.State == session.LockHeld && !a.turns.headless && withdrawn(settled, a.record.Agent, "") == "",
		Exited:      a.lock.State == session.LockFree && (a.pane != nil && a.pane.Dead || a.pane == nil && a.record.Phase == session.PhaseExited),
		TurnsUnseen: !a.turns.visible, Silent: status.Reason == reasonSilent,
	}
	if a.lock.State == session.LockHeld {
		one.Launch = a.lock.Holder.Generation
	}
	for _, child := range settled.Children(a.record.Agent) {
		one.Children = append(one.Children, branch(child))
	}
	if w := one.Record.Wait; w != nil && w.TypedAt != nil {
		one.Delivering = p.Locks.DeliveryHeld(settled.Name, a.record.Agent)
	}
	return one
}

// unseenGrace is how long after an end in the CLI's own record its hook may still
// be at work, which knows more of it: the commit, the outcome, the files.
const unseenGrace = 10 * time.Second

// lastTurn is the last turn of an agent, closed where the CLI's own record says for that long that it is over although
// no hook told.
func lastTurn(status session.AgentStatus, f turnFacts, grace time.Duration) *turn.Record {
	if f.last == nil || f.last.State != turn.InProgress || f.last.Launch != f.launch {
		return f.last
	}
	resting := status.State == session.StateIdle || status.State == session.StateError || status.State == session.StateCompleted
	if !resting || status.Source == session.SourceTmux || f.now.Sub(f.observed.At).Abs() < grace {
		return f.last
	}
	closed := *f.last
	closed.State, closed.Reason, closed.EndedAt, closed.Waiting = turn.Aborted, turn.ReasonInterrupted, at(f.observed.At), false
	if ended := f.observed.Ended; ended != nil {
		closed.ErrorMessage = ended.Message
		switch ended.Kind {
		case turn.KindEnd:
			closed.State, closed.Reason, closed.ErrorMessage = turn.Finished, "", ""
			closed.Outcome, closed.Message = "success", firstLine(ended.Message)
		case turn.KindError:
			closed.Reason, closed.ErrorType = turn.ReasonError, ended.ErrorType
		default:
		}
	}
	return &closed
}

// arrived tells whether the prompt that tells an agent of its children is in its
// turn log: then nothing is owed any more, whatever the record says.
func (p *Paw) arrived(sessionName string, w session.Worktree) bool {
	if w.Wait == nil || w.Wait.TypedAt == nil {
		return false
	}
	there, err := p.turnDir(sessionName, w.Agent).Asked(w.Wait.ID, w.Wait.Since)
	return err == nil && there
}
