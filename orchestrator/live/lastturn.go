package live

import (
	"fmt"
	"time"

	"paw/config/display"
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
	closed := closedAs(*o.Last, turn.ReasonInterrupted, o.Observed.At, o.Observed.Ended)
	return &closed
}

// CutTurn is the open turn of an agent whose CLI does not run, as recover will close it. It is nil where no turn is open, or
// the open one may go on.
func (o Observation) CutTurn() *turn.Record {
	if o.Running() != NothingRuns || !o.inTurn() {
		return nil
	}
	closed := closedAs(*o.Last, o.CutReason(), o.Last.LastEventAt, o.Observed.Ended)
	return &closed
}

// CutReason is why the open turn of an agent was cut whose CLI does not run.
func (o Observation) CutReason() turn.Reason {
	if o.pane() == session.PaneDead && session.LeftByInterrupt(o.ExitCode, o.Signal) {
		return turn.ReasonInterrupted
	}
	return turn.ReasonCrash
}

// closedAs is an open turn as it was closed, by the CLI's own record where that tells of its end.
func closedAs(last turn.Record, reason turn.Reason, end time.Time, ended *turn.Event) turn.Record {
	last.State, last.Reason, last.EndedAt, last.Waiting = turn.Aborted, reason, at(end), false
	if ended == nil {
		return last
	}
	last.ErrorMessage = ended.Message
	switch ended.Kind {
	case turn.KindEnd:
		last.State, last.Reason, last.ErrorMessage = turn.Finished, "", ""
		last.Outcome, last.Message = "success", display.FirstLine(ended.Message)
	case turn.KindError:
		last.Reason, last.ErrorType, last.Limit = turn.ReasonError, ended.ErrorType, ended.Limit
	default:
	}
	return last
}

// Unfinished says in words that the last turn of an agent was cut or has failed, "" for any other.
func Unfinished(last *turn.Record) string {
	switch {
	case last == nil:
		return ""
	case last.Cut():
		return fmt.Sprintf("turn %d was cut: %s", last.Number, display.FirstLine(last.Prompt.Words()))
	case last.State == turn.Aborted && last.Reason == turn.ReasonError:
		return fmt.Sprintf("turn %d failed: %s", last.Number, display.FirstLine(last.ErrorMessage))
	}
	return ""
}
