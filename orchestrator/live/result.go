package live

import (
	"slices"

	"paw/session"
	"paw/session/turn"
)

// Result is how an agent ended, for those who waited for it.
type Result struct {
	Agent   string
	CLI     string
	Branch  string
	Turn    int    // number of its last turn, 0 without turns
	Outcome string // "" when it has not ended
	Failed  bool
	Files   *int // changed in that turn; nil when not known
	Message string
}

// OutcomeRemoved is the outcome of an agent that left the session.
const OutcomeRemoved = "removed"

// Removed is the result of an agent of which only the name is left.
func Removed(name string) Result { return Result{Agent: name, Outcome: OutcomeRemoved} }

// Result is how the agent ended. What it said of itself comes first, then how its turn ended, then how its CLI did.
func (f Facts) Result() Result {
	r := Result{Agent: f.Record.Name, CLI: f.Record.CLI, Branch: f.Branch.Name, Turn: f.lastNumber()}
	cut := f.Status.State == session.StateSuspended && f.Status.Cause != session.CauseStopped
	exitedBadly := f.Exited && f.Status.State != session.StateCompleted
	aborted := f.Last != nil && f.Last.State == turn.Aborted
	if f.saidDone() {
		r.Message = f.Record.Done.Message
	}
	switch {
	case cut: // whatever it said before: it has failed, and no outcome may say otherwise
		r.Outcome = string(turn.ReasonCrash)
	case exitedBadly:
		r.Outcome = f.Status.Reason
	case f.saidDone() && f.Record.Done.Outcome != "":
		r.Outcome = f.Record.Done.Outcome
	case f.Last != nil && f.Last.State == turn.Finished:
		r.Outcome = f.Last.Outcome
	case f.Exited && !aborted:
		r.Outcome = "exited"
	case aborted:
		r.Outcome = string(f.Last.Reason)
	case f.Status.State == session.StateSuspended:
		r.Outcome = string(turn.ReasonStopped)
	}
	if r.Message == "" && f.Last != nil {
		r.Message = f.Last.Message
		if aborted {
			r.Message = f.Last.ErrorMessage
		}
	}
	r.Failed = exitedBadly || cut || slices.Contains([]string{"failure", "error"}, r.Outcome) || (aborted && !f.saidDone())
	return r
}
