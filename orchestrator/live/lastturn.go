package live

import (
	"time"

	"paw/orchestrator/fault"
	"paw/session"
	"paw/session/turn"
)

// UnseenGrace is how long after an end in the CLI's own record its hook may still be at work, which knows more of it: the
// commit, the outcome, the files.
const UnseenGrace = 10 * time.Second

// EndedUnseen reports whether the open turn is over by the CLI's own record, for that long, and no hook told.
func (o Observation) EndedUnseen(grace time.Duration) bool {
	last := o.LastTurn(grace)
	return o.open() && last.State != turn.InProgress && o.Observed.Ended != nil
}

// LastTurn is the last turn of an agent, closed where the CLI's own record says for that long that it is over although
// no hook told.
func (o Observation) LastTurn(grace time.Duration) *turn.Record {
	if !o.open() {
		return o.Last
	}
	status := o.doing()
	resting := status.State == session.StateIdle || status.State == session.StateError || status.State == session.StateCompleted
	if !resting || o.Running() != InPane || o.Now.Sub(o.Observed.At).Abs() < grace {
		return o.Last
	}
	closed := *o.Last
	closed.State, closed.Reason, closed.EndedAt, closed.Waiting = turn.Aborted, turn.ReasonInterrupted, at(o.Observed.At), false
	if ended := o.Observed.Ended; ended != nil {
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
