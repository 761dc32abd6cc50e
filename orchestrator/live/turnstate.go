package live

import (
	"time"

	"paw/orchestrator/cli"
	"paw/session"
	"paw/session/turn"
)

// promptPatience is how long after its launch a CLI may take to report its first prompt. After that
// it has not taken the text for a prompt.
const promptPatience = time.Minute

// hookPatience is how long after its launch a CLI without reports counts as starting.
const hookPatience = 10 * time.Second

// byTurns decides the state by the turn log, corrected by the CLI's own record where no hook
// reports.
func (o Observation) byTurns() session.AgentStatus {
	if o.Observed.At.Before(o.Launched) {
		o.Observed = cli.Observed{} // recorded before this launch
	}
	if o.open() {
		return o.withHelpers(o.openTurn())
	}
	seen, ended := o.Observed, o.Last != nil && o.Last.Launch == o.Launch && o.Last.EndedAt != nil
	closedSince := o.Last != nil && o.Last.EndedAt != nil && o.Last.EndedAt.After(seen.At)
	switch {
	case seen.AtWork() && (seen.Live || !closedSince):
		return o.byRecord()
	case ended:
		return o.closedTurn()
	case o.Prompted && o.Now.Sub(o.Launched).Abs() < promptPatience:
		// A launch with a first prompt does not wait for another prompt.
		return session.AgentStatus{State: session.StateUnknown, Since: at(o.Launched), Source: session.SourceLock, Reason: session.ReasonPrompted, Cause: session.CausePrompted}
	case seen.Known:
		return session.AgentStatus{State: session.StateIdle, Since: at(seen.At), Source: seen.Source}
	case !o.HooksSeen.IsZero():
		return session.AgentStatus{State: session.StateIdle, Since: at(o.HooksSeen), Source: session.SourceHook}
	case o.Now.Sub(o.Launched).Abs() < hookPatience:
		return session.AgentStatus{State: session.StateUnknown, Since: at(o.Launched), Source: session.SourceNone, Reason: session.ReasonStarting, Cause: session.CauseSilent}
	}
	return session.AgentStatus{State: session.StateUnknown, Source: session.SourceNone, Reason: session.ReasonSilent, Cause: session.CauseSilent}
}

// broughtBack corrects the state of an idle agent whose CLI has had no turn since it was launched again: the agent is idle since
// its last turn ended. If that turn was cut or has failed, the state says so, since the CLI does not go on with it by itself.
func (o Observation) broughtBack(st session.AgentStatus) session.AgentStatus {
	if st.State != session.StateIdle || o.Last == nil || o.Last.Launch == o.Launch || o.Last.EndedAt == nil {
		return st
	}
	st.Since = o.Last.EndedAt
	if why := Unfinished(o.Last); why != "" && o.Last.Number > o.SeenCut {
		st.Reason, st.CutTurn, st.Limit = why, o.Last.Number, (*session.Limit)(o.Last.Limit)
		if !o.Last.Cut() {
			st.Word = "turn failed"
		}
	}
	return st
}

// openTurn returns the state while a turn is open in the log.
func (o Observation) openTurn() session.AgentStatus {
	last, seen := *o.Last, o.Observed
	byRecord := session.AgentStatus{State: session.StateIdle, Since: at(seen.At), Source: seen.Source}
	byHook := session.AgentStatus{State: session.StateRunning, Since: at(last.StartedAt), Source: session.SourceHook}
	cut := byRecord
	cut.Reason, cut.Cause = "turn interrupted", session.CauseTurnCut
	switch {
	case seen.Live && seen.AtWork():
		return o.byRecord() // even if the log has the turn's end: the CLI goes on with a queued prompt, or because of a hook
	case seen.Ended != nil && seen.Ended.Kind == turn.KindInterrupt:
		return cut
	case seen.Ended != nil && o.endIsOnItsWay():
		return byHook
	case seen.Ended != nil && seen.Ended.Kind == turn.KindError:
		byRecord.State, byRecord.Reason, byRecord.Limit = session.StateError, seen.Ended.Message, (*session.Limit)(seen.Ended.Limit)
		return byRecord
	case seen.Ended != nil:
		return byRecord
	case seen.AtWork():
		return o.byRecord()
	case seen.Known && seen.At.After(last.LastEventAt):
		return cut // the CLI has been idle since after the last hook: the user interrupted the turn, which no hook reports
	case last.Limit != nil:
		byHook.Since, byHook.Reason, byHook.Limit = last.LimitedSince, last.ErrorMessage, (*session.Limit)(last.Limit)
	case last.Waiting:
		byHook.State, byHook.Since, byHook.Reason = session.StateWaitingInput, last.WaitingSince, last.Question
	}
	return byHook
}

// withHelpers adds to the reason that subagents, or other conversations, work for the turn: the CLI
// may have answered in the pane, and takes prompts.
func (o Observation) withHelpers(st session.AgentStatus) session.AgentStatus {
	if st.State != session.StateRunning {
		return st
	}
	if held := o.Last.Held; held != nil && held.Subagents > 0 {
		st.Reason = both(st.Reason, session.ReasonSubagents)
	}
	if len(o.Last.Others) > 0 {
		st.Reason = both(st.Reason, session.ReasonBeside)
	}
	return st
}

// endIsOnItsWay reports whether a hook is about to report, or is recording, the end that the CLI's
// own record has. The hook knows more than the record: until it is done the turn is not over. A
// held end was reported already, and an error of some CLIs never is.
func (o Observation) endIsOnItsWay() bool {
	if o.SilentErrors && o.Observed.Ended.Kind == turn.KindError {
		return false
	}
	due := !o.HooksSeen.IsZero() && o.Last.Held == nil && o.Now.Sub(o.Observed.At).Abs() < UnseenGrace
	return o.Writing || due
}

// byRecord returns the state of a CLI whose own record says that it works or waits.
func (o Observation) byRecord() session.AgentStatus {
	st := session.AgentStatus{State: session.StateRunning, Since: at(o.Observed.At), Source: o.Observed.Source}
	switch {
	case o.Observed.Waiting:
		st.State, st.Reason = session.StateWaitingInput, o.Observed.Question
		if st.Reason == "" && o.Last != nil {
			st.Reason = o.Last.Question
		}
	case o.inTurn():
		st.Since = at(o.Last.StartedAt)
	}
	return st
}

// closedTurn returns the state after the last turn of this launch.
func (o Observation) closedTurn() session.AgentStatus {
	st, last := session.AgentStatus{State: session.StateIdle, Since: o.Last.EndedAt, Source: session.SourceHook}, o.Last
	switch {
	case last.State == turn.Aborted && last.Reason == turn.ReasonError:
		st.State, st.Reason, st.Limit = session.StateError, last.ErrorMessage, (*session.Limit)(last.Limit)
	case last.State == turn.Aborted:
		st.Reason, st.Cause = "turn "+string(last.Reason), session.CauseTurnCut
	}
	return st
}

// drawLag is how long after its hook a question may come to the screen.
const drawLag = 2 * time.Second

// AnswerUnseen reports whether a question may have been answered already, which the screen alone
// tells: it shows work in place of the question.
func (o Observation) AnswerUnseen() bool {
	return o.open() && o.Observed.Late && o.Now.Sub(o.Observed.At) > drawLag
}

// withScreen refines a state by the screen, which is used last: for what nothing else tells, for a
// dialog that covers a turn, and for work in place of a question.
func (o Observation) withScreen(st session.AgentStatus) session.AgentStatus {
	seen, unknown := o.Screen, st.State == session.StateUnknown
	switch {
	case seen.Dialog != "" && st.State == session.StateWaitingInput:
		if o.Observed.Vague {
			st.Reason = seen.Dialog
		}
	case seen.Dialog != "" && (unknown || st.State == session.StateRunning):
		st = session.AgentStatus{State: session.StateWaitingInput, Source: session.SourceTmux, Reason: seen.Dialog}
	case seen.Dialog != "" && st.State == session.StateError && st.Limit != nil:
		st.Reason = both(st.Reason, seen.Dialog)
	case seen.Works && st.State == session.StateWaitingInput && o.AnswerUnseen():
		return o.withHelpers(session.AgentStatus{State: session.StateRunning, Source: session.SourceTmux, Since: at(o.Last.StartedAt)})
	case unknown && seen.Works:
		return session.AgentStatus{State: session.StateRunning, Source: session.SourceTmux}
	case unknown && seen.Box != cli.BoxUnseen && o.LateHooks && st.Cause != session.CausePrompted:
		// After the launch a CLI with other hooks would have reported: its hooks may not work, and
		// an input box says nothing about turns.
		return session.AgentStatus{State: session.StateIdle, Source: session.SourceTmux}
	}
	return st
}
