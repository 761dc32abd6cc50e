package live

import (
	"paw/session"
	"paw/session/turn"
)

// Branch names an agent wherever it is: each has a branch of its own.
type Branch struct {
	Repository string // its common git directory
	Name       string
}

// Facts is what is known of one agent at one moment. A wait whose prompt has arrived is no longer in Record, whether or
// not somebody has come to take it out of the file.
type Facts struct {
	Branch   Branch
	Parent   Branch   // zero without one
	Children []Branch // those that are in the session now

	Record session.Agent
	Status session.AgentStatus // what its CLI does, whatever it waits for
	Last   *turn.Record        // its last turn, closed where the CLI's own record says that it is over; nil without turns

	Running     bool     // its CLI runs in its pane, and nobody is about to end it
	Launch      int      // generation of the launch of its CLI that runs; 0 when it does not run
	Exited      bool     // its CLI ended by itself
	TurnsUnseen bool     // its CLI tells nothing of its turns
	Silent      bool     // its CLI runs and has told nothing yet in this launch
	Terminals   []string // that show its pane
	Blocked     []string // children that it waits for in a command that it runs now
	Delivering  bool     // somebody is about to find out whether what it waited for has arrived
}

// lastNumber is the number of the last turn, 0 without turns.
func (f Facts) lastNumber() int {
	if f.Last == nil {
		return 0
	}
	return f.Last.Number
}

// closed reports whether there is a last turn and it is over.
func (f Facts) closed() bool { return f.Last != nil && f.Last.State != turn.InProgress }

// saidDone reports whether the agent said that it has finished its work, and has begun nothing since.
func (f Facts) saidDone() bool { return f.Record.Done != nil && f.Record.Done.Turn >= f.lastNumber() }

// Waits reports whether the agent is still to be told how its children ended.
func (f Facts) Waits() bool { return f.Record.Wait != nil && !f.Unconfirmed() }

// Unconfirmed reports whether the results of the children were typed to the agent, no sign tells that they arrived, and
// no process is about to find out.
func (f Facts) Unconfirmed() bool {
	return f.Record.Wait != nil && f.Record.Wait.TypedAt != nil && !f.Delivering
}

// Ended reports whether the agent has ended a turn, its work or its CLI since its parent was told of it last.
func (f Facts) Ended() bool {
	if f.beingRemoved() {
		return false // that it left is its end
	}
	if f.Exited {
		return true // what it waited for, nobody can tell it any more
	}
	return !f.Waits() && f.rests() && f.closed() && (f.lastNumber() > f.Record.Told || f.saidDone())
}

// AtWork reports whether an end of the agent is still to come without anybody asking for more.
func (f Facts) AtWork() bool {
	if f.beingRemoved() {
		return true
	}
	if f.Exited || f.Ended() {
		return false
	}
	if f.Waits() || f.Last != nil && f.Last.State == turn.InProgress {
		return true // also cut by a crash: it ends when it is recovered
	}
	switch f.Status.State {
	case session.StateIdle, session.StateUnknown:
		return !f.rests() || f.Last == nil // its first prompt is on the way
	case session.StateSuspended:
		return f.beingMade()
	default:
		return !f.rests()
	}
}

// beingRemoved reports whether the agent is about to leave its session, or to stay after all.
func (f Facts) beingRemoved() bool {
	switch f.Record.Phase {
	case session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving:
		return true
	case session.PhaseCreating, session.PhaseLive, session.PhaseStopping, session.PhaseStopped, session.PhaseExited:
	}
	return false
}

// beingMade reports whether the agent is on its way to its first launch.
func (f Facts) beingMade() bool { return f.Record.Phase == session.PhaseCreating }

// Finished reports whether there is nothing to wait for now, whoever knows of it: the agent has had a turn and has none
// open, or its CLI does not run.
func (f Facts) Finished() bool {
	if f.beingRemoved() {
		return false
	}
	if f.Exited || f.Status.State == session.StateSuspended {
		return !f.beingMade()
	}
	return !f.Waits() && f.rests() && f.closed()
}

// rests reports whether the CLI is known to do nothing, whatever the agent waits for.
func (f Facts) rests() bool {
	switch f.Status.State {
	case session.StateRunning, session.StateWaitingInput, session.StateWaitingChildren:
		return false
	case session.StateUnknown:
		return f.Silent // it was brought back, and nobody has asked anything of it since
	case session.StateSuspended, session.StateIdle, session.StateCompleted, session.StateError:
	}
	return true
}
