package live

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"paw/config/display"
	"paw/session"
	"paw/session/turn"
)

// State decides what an agent does from one observation, and from nothing else. Every state that paw shows or acts on comes
// from here. The lock and the pane say whether the CLI runs; its turns, its own record and its screen say what it does; the
// agent's own word says whether that was the end of its work; what it waits for comes last. What no fact tells is unknown.
func State(o Observation) session.AgentStatus { return o.withMove(withWait(o.doing(), o.Wait)) }

// doing is the state of the agent's CLI, whatever the agent waits for.
func (o Observation) doing() session.AgentStatus {
	st := o.atPlace()
	if st.Limit != nil && !st.Limit.Until.IsZero() && !o.Now.Before(st.Limit.Until) {
		st.Limit = nil // it is lifted
	}
	return o.withWorktree(st)
}

// atPlace is the state by what lock and pane say: whether the CLI runs, and where.
func (o Observation) atPlace() session.AgentStatus {
	switch o.Running() {
	case Headless:
		return o.headless()
	case InPane:
		return o.inPane()
	case Paneless:
		return o.orphan()
	case Starting, Foreign:
		if o.young() {
			return session.AgentStatus{State: session.StateUnknown, Since: at(o.LaunchedAt), Source: session.SourceTmux, Reason: session.ReasonStarting}
		}
		return session.AgentStatus{State: session.StateUnknown, Source: session.SourceTmux, Reason: session.ReasonForeign}
	case NothingRuns:
		return o.ended()
	case LockUnreadable:
		reason := cmp.Or(o.LockError, session.ReasonLockUnknown)
		return session.AgentStatus{State: session.StateUnknown, Source: session.SourceNone, Reason: reason, Cause: session.CauseLockUnknown}
	case RunningUnseen, Unseen:
	}
	return session.AgentStatus{State: session.StateUnknown, Source: session.SourceNone, Reason: session.ReasonTmuxSilent}
}

// headless is the state while paw run holds the agent's lock.
func (o Observation) headless() session.AgentStatus {
	st := session.AgentStatus{State: session.StateRunning, Source: session.SourceLock, Reason: "a headless turn"}
	if o.Last != nil && o.Last.Launch == o.Launch {
		st.Since = at(o.Last.StartedAt)
	}
	return st
}

// orphan is the state of an agent whose CLI runs on although its pane does not show it.
func (o Observation) orphan() session.AgentStatus {
	reason := "a process runs on without its pane"
	if o.HolderPID > 0 {
		reason = fmt.Sprintf("process %d runs on without its pane", o.HolderPID)
	}
	if o.Respawned && o.pane() == session.PaneAlive {
		reason = both(reason, session.ReasonForeign)
	}
	return session.AgentStatus{State: session.StateUnknown, Source: session.SourceLock, Reason: reason, Orphan: true}
}

// ended is the state of an agent whose CLI does not run. The pane says how it ended, and only the record whether that was
// meant: to the CLI itself a user's kill, a server's kill and a crash look the same.
func (o Observation) ended() session.AgentStatus {
	if o.pane() == session.PaneDead {
		st := o.exit()
		if st.State == session.StateCompleted && o.saidDone() && failing(o.outcome()) {
			st = o.done() // a CLI that was told to end well does not hide that the agent has failed
		}
		st.Reason = cmp.Or(o.Failure, st.Reason)
		return st
	}
	st := session.AgentStatus{State: session.StateSuspended, Source: session.SourceTmux, Reason: session.ReasonCrash}
	switch {
	case o.Phase == session.PhaseExited:
		st = session.AgentStatus{State: session.StateCompleted, Source: session.SourceRecord, Reason: session.ReasonOver}
		if o.saidDone() && failing(o.outcome()) {
			st = o.done()
		}
		return st
	case o.Session == session.StatusStopped || o.Phase == session.PhaseStopping || o.Phase == session.PhaseStopped:
		st.Source, st.Reason, st.Cause = session.SourceRecord, session.ReasonStopped, session.CauseStopped
		if last := o.Last; last != nil && last.State == turn.Aborted && last.Reason == turn.ReasonError {
			st.Reason = both(st.Reason, fmt.Sprintf("turn %d failed: %s", last.Number, last.ErrorMessage))
		}
	case o.OtherBoot:
		st.Reason = session.ReasonReboot
	case o.Closed:
		st.Reason, st.Cause = session.ReasonClosed, session.CauseClosed
	}
	if o.inTurn() {
		st.Reason = fmt.Sprintf("%s, in turn %d", st.Reason, o.Last.Number)
	}
	return st
}

// exit is the state that a dead pane shows. Before 3.3 tmux tells neither code nor signal of a killed process, so nothing
// told is never success.
func (o Observation) exit() session.AgentStatus {
	st := session.AgentStatus{State: session.StateError, Source: session.SourceTmux}
	switch {
	case session.LeftByInterrupt(o.ExitCode, o.Signal):
		st.State, st.Reason = session.StateCompleted, session.ReasonLeft
	case o.Signal != nil:
		st.Reason = "killed by " + session.SignalName(*o.Signal)
	case o.ExitCode == nil:
		st.Reason = session.ReasonNoExit
	case *o.ExitCode == 0:
		st.State, st.Reason = session.StateCompleted, session.ReasonExited
	default:
		st.Reason = fmt.Sprintf("exit code %d", *o.ExitCode)
	}
	return st
}

// inPane is the state of an agent whose CLI runs in its pane.
func (o Observation) inPane() session.AgentStatus {
	if !o.Visible {
		return o.withDone(session.AgentStatus{State: session.StateUnknown, Source: session.SourceLock, Reason: session.ReasonNoTurns, Cause: session.CauseRuns})
	}
	if o.Unwritable != "" {
		return o.unwritten()
	}
	st := o.withPlace(o.withDone(o.broughtBack(o.withScreen(o.byTurns()))))
	if asked := o.open() && o.Last.Waiting; st.State == session.StateWaitingInput && !asked {
		st.Cause = session.CauseDialog
	}
	return st
}

// withPlace says that the CLI has taken the conversation out of the pane, which only shows it: the CLI works on when the pane ends;
// that it works in another folder than its worktree: no turn has what it does there; and that it is near a limit.
func (o Observation) withPlace(st session.AgentStatus) session.AgentStatus {
	if o.Observed.Away != 0 {
		st.Reason = both(st.Reason, fmt.Sprintf(session.ReasonAway, o.Observed.Away))
		st.Away = true
	}
	for _, w := range o.Observed.Windows {
		if o.Now.Before(w.Until) {
			st.Windows = append(st.Windows, w)
		}
		if w.Near(o.Now) && st.Limit == nil {
			st.Reason = both(st.Reason, "near its limit: "+w.String())
		}
	}
	if o.Observed.Elsewhere != "" {
		st.Reason = both(st.Reason, fmt.Sprintf(session.ReasonElsewhere, o.Observed.Elsewhere))
		st.Elsewhere = true
	}
	return st
}

// unwritten is the state of a CLI whose hooks cannot write down what they see: the turn log tells nothing of now. Only a
// dialog is known, which the CLI's own record or its screen shows.
func (o Observation) unwritten() session.AgentStatus {
	unknown := session.AgentStatus{
		State: session.StateUnknown, Source: session.SourceNone, Reason: "its hooks cannot write " + o.Unwritable, Cause: session.CauseUnwritable,
	}
	if o.Observed.Waiting && !o.Observed.At.Before(o.Launched) {
		return o.byRecord()
	}
	if o.Screen.Dialog != "" {
		return o.withScreen(unknown)
	}
	return unknown
}

// saidDone reports whether what the agent said of its work still counts: no later turn has begun.
func (o Observation) saidDone() bool {
	return o.Done != nil && (o.Last == nil || o.Last.Number <= o.Done.Turn)
}

// outcome is the word for how the work went that the agent says is finished: its own, else that of its turn.
func (o Observation) outcome() string {
	if o.Done.Outcome == "" && o.Last != nil && o.Last.State == turn.Finished {
		return o.Last.Outcome
	}
	return o.Done.Outcome
}

// failing reports whether an outcome is that of work that was given up.
func failing(outcome string) bool { return outcome == "failure" || outcome == "error" }

// withDone is the state of an agent that has said that its work is finished, once nothing of that turn is under way.
func (o Observation) withDone(st session.AgentStatus) session.AgentStatus {
	underWay := st.State == session.StateRunning || st.State == session.StateWaitingInput || st.State == session.StateUnknown && o.inTurn()
	if !o.saidDone() || underWay {
		return st
	}
	return o.done()
}

// done is the state that the agent's own word makes.
func (o Observation) done() session.AgentStatus {
	since := o.Done.At
	if o.Last != nil && o.Last.EndedAt != nil && o.Last.EndedAt.After(since) {
		since = *o.Last.EndedAt
	}
	st := session.AgentStatus{State: session.StateCompleted, Since: at(since), Source: session.SourceRecord, Reason: display.FirstLine(o.Done.Message)}
	if outcome := o.outcome(); failing(outcome) {
		st.State, st.Reason = session.StateError, cmp.Or(st.Reason, outcome)
	}
	return st
}

// withMove says that what moved the files of the agent's worktree was killed: they are neither as before nor as after.
func (o Observation) withMove(st session.AgentStatus) session.AgentStatus {
	if o.CutShort != "" {
		st.Reason = both(st.Reason, fmt.Sprintf(session.ReasonCutShort, o.CutShort))
	}
	return st
}

// withWorktree says that the agent's worktree is gone. A CLI that rests without one can do nothing that counts.
func (o Observation) withWorktree(st session.AgentStatus) session.AgentStatus {
	if !o.WorktreeGone {
		return st
	}
	resting := st.State == session.StateIdle || st.State == session.StateCompleted || st.State == session.StateError
	if resting && o.Running() == InPane {
		st = session.AgentStatus{State: session.StateError, Source: session.SourceNone, Reason: st.Reason, Limit: st.Limit}
	}
	st.Reason = both(st.Reason, session.ReasonWorktreeGone)
	return st
}

// withWait adds what the agent waits for that has started others.
func withWait(st session.AgentStatus, w *Waiting) session.AgentStatus {
	switch {
	case w == nil || len(w.Children) == 0:
		return st
	case len(w.Unconfirmed) > 0:
		st.Reason = both("the results of "+strings.Join(w.Unconfirmed, ", ")+" were typed and not confirmed", st.Reason)
		return st
	case st.State == session.StateUnknown:
		st.Reason = both(st.Reason, w.String())
		return st
	}
	reason := st.Reason
	switch st.State {
	case session.StateSuspended:
		reason = string(st.State) + ": " + st.Reason
	case session.StateWaitingInput:
		reason = "and for you: " + st.Reason
	case session.StateIdle:
		reason = ""
	case session.StateRunning, session.StateError, session.StateCompleted, session.StateWaitingChildren, session.StateUnknown:
	}
	return session.AgentStatus{
		State: session.StateWaitingChildren, Since: at(w.Since), Source: session.SourceRecord, Reason: both(w.String(), reason), Orphan: st.Orphan,
	}
}

// String says whom the agent waits for, and how many have ended.
func (w Waiting) String() string {
	names, what := w.Left, "waits for "
	if len(names) == 0 {
		names, what = w.Children, "waits for the results of "
	}
	return fmt.Sprintf("%s%s (%d of %d done)", what, strings.Join(names, ", "), len(w.Children)-len(w.Left), len(w.Children))
}

// both joins two reasons, either of which may be empty.
func both(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "; " + second
}

// at is nil for the zero time: not known.
func at(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
