package observe

import (
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/live"
	"paw/session"
)

// State is what the CLI of an agent does, whatever the agent waits for.
func (f Facts) State(a Agent) session.AgentStatus {
	return live.State(f.Observation(a))
}

// States are the states of the agents as shown, with what they wait for.
func States(h *app.App, f Facts) []session.AgentStatus {
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
func LiveFacts(h *app.App, f Facts) []live.Facts {
	settled := *f.Session
	settled.Agents = slices.Clone(settled.Agents)
	for _, w := range f.Session.Agents {
		if Arrived(h, f.Session.Name, w) {
			settled.SettleWait(w.Name)
		}
	}
	all := make([]live.Facts, len(f.Agents))
	for i, a := range f.Agents {
		all[i] = liveFactsOf(h, f, a, &settled)
	}
	return all
}

func liveFactsOf(h *app.App, f Facts, a Agent, settled *session.Session) live.Facts {
	branch := func(name string) live.Branch {
		w := settled.Agent(name)
		if w == nil {
			return live.Branch{}
		}
		return live.Branch{Repository: settled.GitCommonDir, Name: w.Branch}
	}
	seen, own := f.Observation(a), settled.Agent(a.Record.Name)
	one := live.Facts{
		Branch: live.Branch{Repository: settled.GitCommonDir, Name: own.Branch}, Parent: branch(a.Record.Parent), Record: *own,
		Status: live.State(seen), Last: seen.LastTurn(live.UnseenGrace),
		Running:     seen.Running() == live.InPane && Withdrawn(settled, a.Record.Name, "") == "",
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
	for _, child := range settled.Children(a.Record.Name) {
		one.Children = append(one.Children, branch(child))
	}
	if len(one.Children) > 0 {
		one.Blocked = h.Locks.Awaits(settled.Name, a.Record.Name)
	}
	if w := one.Record.Wait; w != nil && w.TypedAt != nil {
		one.Delivering = h.Locks.DeliveryHeld(settled.Name, a.Record.Name)
	}
	return one
}

// Arrived reports whether the prompt that tells an agent of its children is in its
// turn log: then nothing is owed any more, whatever the record says.
func Arrived(h *app.App, sessionName string, w session.Agent) bool {
	if w.Wait == nil || w.Wait.TypedAt == nil {
		return false
	}
	there, err := h.TurnDir(sessionName, w.Name).Asked(w.Wait.ID, w.Wait.Since)
	return err == nil && there
}
