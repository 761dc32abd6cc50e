package live

import (
	"paw/session"
	"paw/session/turn"
)

// Branch identifies an agent: each has a branch of its own.
type Branch struct {
	Repository string // common git directory
	Name       string
}

// Facts holds what is known about one agent at one moment. A wait whose results have arrived is
// removed from Record here, even if it is still in the file.
type Facts struct {
	Branch   Branch
	Parent   Branch   // zero for none
	Children []Branch // children that are in the session now

	Record session.Agent
	Status session.AgentStatus // state of the agent's CLI, without the wait for children
	Last   *turn.Record        // last turn, closed if the CLI's own record has its end; nil without turns

	Running     bool     // the agent's CLI runs in its pane, and is not being stopped
	Launch      int      // generation of the running launch, 0 when the agent's CLI does not run
	Exited      bool     // the agent's CLI exited by itself
	TurnsUnseen bool     // the agent's CLI does not report turns
	Silent      bool     // the agent's CLI runs and has not reported anything in this launch
	Terminals   []string // terminals that show the agent's pane
	Blocked     []string // children for which the agent waits in a running paw wait
	Delivering  bool     // a process is finding out whether typed results of children have arrived
}

// closed reports whether the last turn exists and is over.
func (f Facts) closed() bool { return f.Last != nil && f.Last.State != turn.InProgress }

// saidDone reports whether the agent ran paw done, and has begun no turn since.
func (f Facts) saidDone() bool {
	return f.Record.Done != nil && f.Record.Done.Turn >= turn.NumberOf(f.Last)
}

// Waits reports whether the agent has still to be told how its children ended.
func (f Facts) Waits() bool { return f.Record.Wait != nil && !f.Unconfirmed() }

// Unconfirmed reports whether the results of the children were typed to the agent, nothing shows
// that they arrived, and no process is finding out.
func (f Facts) Unconfirmed() bool {
	return f.Record.Wait != nil && f.Record.Wait.TypedAt != nil && !f.Delivering
}

// Ended reports whether the agent has ended a turn, its work or its CLI since its parent was told
// last.
func (f Facts) Ended() bool {
	if f.Record.Phase.Removal() {
		return false // leaving the session is the agent's end
	}
	if f.Exited {
		return true // results of the agent's children cannot be delivered any more
	}
	return !f.Waits() && f.rests() && f.closed() && (turn.NumberOf(f.Last) > f.Record.Told || f.saidDone())
}

// AtWork reports whether the agent will reach an end without a further prompt.
func (f Facts) AtWork() bool {
	if f.Record.Phase.Removal() {
		return true
	}
	if f.Exited || f.Ended() {
		return false
	}
	if f.Waits() || f.Last != nil && f.Last.State == turn.InProgress {
		return true // a turn cut by a crash ends when the agent is recovered
	}
	switch f.Status.State {
	case session.StateIdle, session.StateUnknown:
		return !f.rests() || f.Last == nil // the first prompt is on the way
	case session.StateSuspended:
		return f.beingMade()
	default:
		return !f.rests()
	}
}

// beingMade reports whether the agent has not been launched yet.
func (f Facts) beingMade() bool { return f.Record.Phase == session.PhaseCreating }

// Finished reports whether there is nothing to wait for: the agent has had a turn and none is open,
// or its CLI does not run.
func (f Facts) Finished() bool {
	if f.Record.Phase.Removal() {
		return false
	}
	if f.Exited || f.Status.State == session.StateSuspended {
		return !f.beingMade()
	}
	return !f.Waits() && f.rests() && f.closed()
}

// rests reports whether the CLI is known to do nothing.
func (f Facts) rests() bool {
	if f.Status.State == session.StateUnknown {
		return f.Silent // the agent was brought back, and has got no prompt since
	}
	return !f.Status.State.Works()
}
