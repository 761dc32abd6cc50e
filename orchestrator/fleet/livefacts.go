package fleet

import (
	"slices"

	"paw/orchestrator/home"
	"paw/orchestrator/live"
	"paw/session"
)

// State is what the CLI of an agent does, whatever the agent waits for.
func (f Facts) State(a Agent) session.AgentStatus {
	return live.State(f.Observation(a))
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
	seen, own := f.Observation(a), settled.Worktree(a.Record.Agent)
	one := live.Facts{
		Branch: live.Branch{Repository: settled.GitCommonDir, Name: own.Branch}, Parent: branch(a.Record.Parent), Record: *own,
		Status: live.State(seen), Last: seen.LastTurn(live.UnseenGrace),
		Running:     seen.Running() == live.InPane && Withdrawn(settled, a.Record.Agent, "") == "",
		Exited:      a.Lock.State == session.LockFree && (a.Pane != nil && a.Pane.Dead || a.Pane == nil && a.Record.Phase == session.PhaseExited),
		TurnsUnseen: !a.Turns.Visible,
	}
	if a.Pane != nil {
		one.Terminals = a.Pane.Terminals
	}
	one.Silent = one.Status.Cause == session.CauseSilent
	if a.Lock.State == session.LockHeld {
		one.Launch = a.Lock.Holder.Generation
	}
	for _, child := range settled.Children(a.Record.Agent) {
		one.Children = append(one.Children, branch(child))
	}
	if len(one.Children) > 0 {
		one.Blocked = h.Locks.Awaits(settled.Name, a.Record.Agent)
	}
	if w := one.Record.Wait; w != nil && w.TypedAt != nil {
		one.Delivering = h.Locks.DeliveryHeld(settled.Name, a.Record.Agent)
	}
	return one
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
