package fleet

import (
	"fmt"
	"time"

	"paw/orchestrator/agent"
	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
)

// promptPatience is how long after its launch a CLI may take to report its first
// prompt. One that has not by then took it for something else than a prompt.
const promptPatience = time.Minute

// hookPatience is how long after its launch a CLI is starting as long as no hook has reported.
const hookPatience = 10 * time.Second

// WithTurnState refines the state of an agent by its turns, and by what it said
// of its work itself.
func WithTurnState(base session.AgentStatus, f Turns) session.AgentStatus {
	st := withTurns(base, f)
	if st.Limit != nil && !st.Limit.Until.IsZero() && !f.now.Before(st.Limit.Until) {
		st.Limit = nil // it is lifted
	}
	return st
}

func withTurns(base session.AgentStatus, f Turns) session.AgentStatus {
	if f.Headless {
		return headlessState(f)
	}
	if base.Cause != session.CauseRuns {
		return withFailure(withCutTurn(base, f), f)
	}
	if !f.Visible {
		return withDone(base, f)
	}
	return withDone(withScreen(RunningState(f), f), f)
}

// RunningState is the state of an agent whose CLI runs: that of the turn log,
// corrected by the CLI's own record where no hook reports. What neither says is
// unknown, never a guess.
func RunningState(f Turns) session.AgentStatus {
	if f.observed.At.Before(f.launched) {
		f.observed = agent.Observed{} // of an earlier launch: it says nothing of this one
	}
	if f.Last != nil && f.Last.State == turn.InProgress && f.Last.Launch == f.launch {
		return openTurnState(f)
	}
	atWork := f.observed.Known && (f.observed.Busy || f.observed.Waiting)
	if atWork && (f.observed.Live || !f.closedSince(f.observed.At)) {
		return observedState(f)
	}
	if f.Last != nil && f.Last.Launch == f.launch && f.Last.EndedAt != nil {
		return ClosedTurnState(*f.Last)
	}
	switch {
	case f.prompted && f.now.Sub(f.launched).Abs() < promptPatience:
		// It has a prompt or is about to get one: it is not waiting for another.
		return session.AgentStatus{State: session.StateUnknown, Since: at(f.launched), Source: session.SourceLock, Reason: session.ReasonPrompted, Cause: session.CausePrompted}
	case f.observed.Known:
		return session.AgentStatus{State: session.StateIdle, Since: at(f.observed.At), Source: f.observed.Source}
	case !f.HooksSeen.IsZero():
		return session.AgentStatus{State: session.StateIdle, Since: at(f.HooksSeen), Source: session.SourceHook}
	}
	st := session.AgentStatus{State: session.StateUnknown, Source: session.SourceNone, Reason: "no hook has reported yet", Cause: session.CauseSilent}
	if f.now.Sub(f.launched).Abs() < hookPatience {
		st.Since, st.Reason = at(f.launched), session.ReasonStarting
	}
	return st
}

// StateInHook is the state of an agent after an event of its last turn, as the hook of that launch can tell it without a look
// at anything but the record and the turn log.
func StateInHook(w *session.Worktree, last *turn.Record, launch string, now time.Time) session.AgentStatus {
	if live.Owed(*w) {
		return session.AgentStatus{State: session.StateWaitingChildren}
	}
	f := Turns{Last: last, launch: launch, HooksSeen: now, now: now, done: w.Done}
	return withDone(RunningState(f), f)
}

// headlessState is the state while paw run holds the agent's lock.
func headlessState(f Turns) session.AgentStatus {
	st := session.AgentStatus{State: session.StateRunning, Source: session.SourceLock, Reason: "a headless turn"}
	if f.Last != nil && f.Last.Launch == f.launch {
		st.Since = at(f.Last.StartedAt)
	}
	return st
}

// closedSince reports whether paw closed the last turn after that moment: what the
// CLI's record says of then, such as of a turn that a crash cut, is over.
func (f Turns) closedSince(then time.Time) bool {
	return f.Last != nil && f.Last.EndedAt != nil && f.Last.EndedAt.After(then)
}

// withCutTurn names the turn that a crash cut, of an agent that does not run.
func withCutTurn(base session.AgentStatus, f Turns) session.AgentStatus {
	if base.State == session.StateSuspended && f.Last != nil && f.Last.State == turn.InProgress {
		base.Reason = fmt.Sprintf("%s, in turn %d", base.Reason, f.Last.Number)
	}
	return base
}

// openTurnState is the state while a turn is open in the log.
func openTurnState(f Turns) session.AgentStatus {
	last, seen := *f.Last, f.observed
	switch {
	case seen.Known && seen.Live && (seen.Busy || seen.Waiting):
		return observedState(f) // also behind an end of that turn: with what waited, or sent on by a hook
	case seen.Ended != nil && seen.Ended.Kind == turn.KindError:
		return session.AgentStatus{State: session.StateError, Since: at(seen.At), Source: seen.Source, Reason: seen.Ended.Message, Limit: (*session.Limit)(seen.Ended.Limit)}
	case seen.Ended != nil && seen.Ended.Kind == turn.KindInterrupt:
		return session.AgentStatus{State: session.StateIdle, Since: at(seen.At), Source: seen.Source, Reason: "turn interrupted", Cause: session.CauseTurnCut}
	case seen.Ended != nil && f.endIsOnItsWay():
		return session.AgentStatus{State: session.StateRunning, Since: at(last.StartedAt), Source: session.SourceHook}
	case seen.Ended != nil:
		return session.AgentStatus{State: session.StateIdle, Since: at(seen.At), Source: seen.Source}
	case seen.Known && (seen.Busy || seen.Waiting):
		return observedState(f)
	case seen.Known && seen.At.After(last.LastEventAt):
		// The CLI is idle since after the last hook: the user interrupted it unseen.
		return session.AgentStatus{State: session.StateIdle, Since: at(seen.At), Source: seen.Source, Reason: "turn interrupted", Cause: session.CauseTurnCut}
	case last.Limit != nil:
		return session.AgentStatus{
			State: session.StateRunning, Since: last.LimitedSince, Source: session.SourceHook, Reason: last.ErrorMessage, Limit: (*session.Limit)(last.Limit),
		}
	case last.Waiting:
		return session.AgentStatus{State: session.StateWaitingInput, Since: last.WaitingSince, Source: session.SourceHook, Reason: last.Question}
	}
	return session.AgentStatus{State: session.StateRunning, Since: at(last.StartedAt), Source: session.SourceHook}
}

// endIsOnItsWay reports whether the hook of an end that the CLI has recorded is about to report it, or is at that: it knows
// more than the record, and until it has written that down nobody may take the turn for over. An end that the hook held has
// been reported already.
func (f Turns) endIsOnItsWay() bool {
	due := !f.HooksSeen.IsZero() && f.Last.Held == nil && f.now.Sub(f.observed.At).Abs() < unseenGrace
	return f.writing || due
}

// observedState is what the CLI's own record says it does.
func observedState(f Turns) session.AgentStatus {
	if f.observed.Waiting {
		question := f.observed.Question
		if question == "" && f.Last != nil {
			question = f.Last.Question
		}
		return session.AgentStatus{State: session.StateWaitingInput, Since: at(f.observed.At), Source: f.observed.Source, Reason: question}
	}
	since := at(f.observed.At)
	if f.Last != nil && f.Last.State == turn.InProgress {
		since = at(f.Last.StartedAt)
	}
	return session.AgentStatus{State: session.StateRunning, Since: since, Source: f.observed.Source}
}

// ClosedTurnState is the state after the last turn of this launch.
func ClosedTurnState(last turn.Record) session.AgentStatus {
	st := session.AgentStatus{State: session.StateIdle, Since: last.EndedAt, Source: session.SourceHook}
	switch {
	case last.State == turn.Aborted && last.Reason == turn.ReasonError:
		st.State, st.Reason, st.Limit = session.StateError, last.ErrorMessage, (*session.Limit)(last.Limit)
	case last.State == turn.Aborted:
		st.Reason, st.Cause = "turn "+string(last.Reason), session.CauseTurnCut
	}
	return st
}

// WaitsFor says that an agent needs the user, with the question where it is known.
func WaitsFor(st session.AgentStatus) string {
	if st.Reason == "" {
		return "waits for your answer"
	}
	return "waits for your answer (" + st.Reason + ")"
}

// withScreen refines the state of a CLI that runs by what its screen shows. It is the last source: it tells what nothing
// else does, and of a turn only that a dialog covers it.
func withScreen(st session.AgentStatus, f Turns) session.AgentStatus {
	seen := f.screen
	unknown := st.State == session.StateUnknown
	switch {
	case seen.Dialog != "" && st.State == session.StateWaitingInput:
		if f.observed.Vague {
			st.Reason = seen.Dialog
		}
	case seen.Dialog != "" && (unknown || st.State == session.StateRunning):
		asks := session.AgentStatus{State: session.StateWaitingInput, Source: session.SourceTmux, Reason: seen.Dialog}
		if seen.Limited {
			asks.Limit = &session.Limit{}
		}
		return asks
	case unknown && seen.Works:
		return session.AgentStatus{State: session.StateRunning, Source: session.SourceTmux}
	case unknown && seen.Box != agent.BoxUnseen && f.late && st.Cause != session.CausePrompted:
		// Where hooks should have reported by now, they may not work at all: then an input box says nothing of a turn.
		return session.AgentStatus{State: session.StateIdle, Source: session.SourceTmux}
	}
	return st
}
