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

// State decides the state of an agent from one observation. Every state that paw shows or acts on
// comes from here. Lock and pane say whether the CLI runs; its turns, its own record and its screen
// say what it does; paw done says whether the work is finished; the wait for children comes last.
// What no fact tells is unknown.
func State(o Observation) session.AgentStatus { return o.withMove(withWait(o.doing(), o.Wait)) }

// doing returns the state of the agent's CLI, without its wait for children.
func (o Observation) doing() session.AgentStatus {
	st := o.atPlace()
	if st.Limit != nil && !st.Limit.Until.IsZero() && !o.Now.Before(st.Limit.Until) {
		st.Limit = nil // the limit is lifted
	}
	return o.withWorktree(st)
}

// atPlace decides the state by lock and pane: whether the CLI runs, and where.
func (o Observation) atPlace() session.AgentStatus {
	switch o.Running() {
	case Headless:
		return o.headless()
	case InPane:
		return o.inPane()
	case Paneless, Elsewhere:
		return o.orphan()
	case Starting, Foreign:
		if o.young() {
			return session.AgentStatus{State: session.StateUnknown, Since: at(o.LaunchedAt), Source: session.SourceTmux, Reason: session.ReasonStarting}
		}
		return session.AgentStatus{State: session.StateUnknown, Source: session.SourceTmux, Reason: session.ReasonForeign}
	case Making:
		return o.making()
	case NothingRuns:
		return o.ended()
	case LockUnreadable:
		reason := cmp.Or(o.LockError, session.ReasonLockUnknown)
		return session.AgentStatus{State: session.StateUnknown, Source: session.SourceNone, Reason: reason, Cause: session.CauseLockUnknown}
	case RunningUnseen, Unseen:
	}
	return session.AgentStatus{State: session.StateUnknown, Source: session.SourceNone, Reason: session.ReasonTmuxSilent, Cause: session.CauseTmuxSilent}
}

// making returns the state while a paw makes the agent's worktree.
func (o Observation) making() session.AgentStatus {
	reason := session.ReasonMade
	if o.MadeBy != 0 {
		reason = fmt.Sprintf("%s by process %d", reason, o.MadeBy)
	}
	return session.AgentStatus{State: session.StateUnknown, Source: session.SourceLock, Reason: reason, Cause: session.CauseMade}
}

// headless returns the state while paw run or paw setup holds the agent's lock.
func (o Observation) headless() session.AgentStatus {
	if o.SetUp != "" {
		return o.settingUp()
	}
	st := session.AgentStatus{State: session.StateRunning, Source: session.SourceLock, Reason: "a headless turn"}
	if last := o.Last; last != nil && last.Launch == o.Launch {
		st.Since = at(last.StartedAt)
		if last.State == turn.InProgress && last.Waiting {
			return session.AgentStatus{State: session.StateWaitingInput, Since: last.WaitingSince, Source: session.SourceHook, Reason: last.Question}
		}
	}
	return st
}

// orphan returns the state of an agent whose CLI runs on without its pane.
func (o Observation) orphan() session.AgentStatus {
	reason := "a process runs on without its pane"
	switch {
	case o.Running() == Elsewhere:
		reason = session.ReasonOtherMachine
	case o.HolderPID > 0:
		reason = fmt.Sprintf("process %d runs on without its pane", o.HolderPID)
	}
	if o.Respawned && o.pane() == session.PaneAlive {
		reason = both(reason, session.ReasonForeign)
	}
	return session.AgentStatus{State: session.StateUnknown, Source: session.SourceLock, Reason: reason, Orphan: true}
}

// ended returns the state of an agent whose CLI does not run. The pane says how the CLI ended, and
// only the record says whether that was intended: the CLI itself cannot tell a user's kill from a
// crash.
func (o Observation) ended() session.AgentStatus {
	if o.pane() == session.PaneDead {
		st := o.exit()
		if st.State == session.StateCompleted && o.saidDone() && failing(o.outcome()) {
			st = o.done() // an exit code of 0 does not hide that the agent reported a failure
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
	case o.Session == session.StatusStopped || o.Phase.Stop():
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

// exit returns the state for a dead pane. Before 3.3 tmux reports neither code nor signal of a
// killed process: a missing code is no success.
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

// inPane returns the state of an agent whose CLI runs in its pane.
func (o Observation) inPane() session.AgentStatus {
	if o.SetUp != "" {
		return o.settingUp()
	}
	if !o.Visible {
		return o.withDone(session.AgentStatus{State: session.StateUnknown, Source: session.SourceLock, Reason: session.ReasonNoTurns, Cause: session.CauseRuns})
	}
	if o.Unrecorded != "" {
		return o.unrecorded()
	}
	st := o.withPlace(o.withDone(o.broughtBack(o.withScreen(o.byTurns()))))
	if asked := o.open() && o.Last.Waiting; st.State == session.StateWaitingInput && !asked && !o.Screen.Listed() {
		st.Cause = session.CauseDialog
	}
	return st
}

// withPlace adds to the reason that the CLI has moved the conversation out of the pane (it works on
// when the pane ends), that it works in another folder than its worktree or has made another worktree
// there (no turn records that), and that it is near a usage limit.
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
	if o.Elsewhere != "" {
		st.Reason = both(st.Reason, fmt.Sprintf(session.ReasonElsewhere, o.Elsewhere))
		st.Elsewhere = true
	}
	for _, stray := range o.Strays {
		st.Reason = both(st.Reason, fmt.Sprintf(session.ReasonStray, stray))
		st.Elsewhere = true
	}
	return st
}

// settingUp returns the state while the launcher, or paw setup, prepares the worktree.
func (o Observation) settingUp() session.AgentStatus {
	reason := fmt.Sprintf("set-up: %s, %s", o.SetUp, max(0, o.Now.Sub(o.Launched)).Truncate(time.Second))
	return session.AgentStatus{State: session.StateRunning, Since: at(o.Launched), Source: session.SourceLock, Reason: reason, Cause: session.CauseSetUp}
}

// unrecorded returns the state of a CLI whose hooks cannot record what happens: the turn log is not
// current. Only a dialog is known, from the CLI's own record or its screen.
func (o Observation) unrecorded() session.AgentStatus {
	unknown := session.AgentStatus{
		State: session.StateUnknown, Source: session.SourceNone, Reason: o.Unrecorded, Cause: session.CauseUnrecorded,
	}
	if o.Observed.Waiting && !o.Observed.At.Before(o.Launched) {
		return o.byRecord()
	}
	if o.Screen.Dialog != "" {
		return o.withScreen(unknown)
	}
	return unknown
}

// saidDone reports whether the agent ran paw done, and no later turn has begun.
func (o Observation) saidDone() bool {
	return o.Done != nil && (o.Last == nil || o.Last.Number <= o.Done.Turn)
}

// outcome returns the outcome given to paw done, else that of the last turn.
func (o Observation) outcome() string {
	if o.Done.Outcome == "" && o.Last != nil && o.Last.State == turn.Finished {
		return o.Last.Outcome
	}
	return o.Done.Outcome
}

// failing reports whether an outcome means failure.
func failing(outcome string) bool { return outcome == "failure" || outcome == "error" }

// withDone returns the state after paw done, once the turn in which it was said is over.
func (o Observation) withDone(st session.AgentStatus) session.AgentStatus {
	underWay := st.State == session.StateRunning || st.State == session.StateWaitingInput || st.State == session.StateUnknown && o.inTurn()
	if !o.saidDone() || underWay {
		return st
	}
	return o.done()
}

// done returns the state that follows from paw done.
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

// withMove adds to the reason where a rewind has put the worktree of an agent at rest, that a command was killed while it moved
// the worktree's files, or that the branch was moved without them.
func (o Observation) withMove(st session.AgentStatus) session.AgentStatus {
	if o.CutShort != "" {
		st.Reason = both(st.Reason, fmt.Sprintf(session.ReasonCutShort, o.CutShort))
	}
	if o.Rewound != "" && (st.State.Rests() || st.State == session.StateSuspended) {
		st.Reason = both(st.Reason, o.Rewound)
	}
	if o.Kept > 0 && o.Running() == InPane {
		st.Reason = both(st.Reason, fmt.Sprintf(session.ReasonKept, o.Kept))
	}
	if o.BranchMoved {
		st.Reason = both(st.Reason, session.ReasonBranchMoved)
	}
	if o.HookLost != "" && o.Running() == InPane {
		st.Reason = both(st.Reason, o.HookLost)
	}
	return st
}

// withWorktree adds to the reason that the worktree is gone; an idle CLI is then in the state
// error.
func (o Observation) withWorktree(st session.AgentStatus) session.AgentStatus {
	if !o.WorktreeGone {
		return st
	}
	if st.State.Rests() && o.Running() == InPane {
		st = session.AgentStatus{State: session.StateError, Source: session.SourceNone, Reason: st.Reason, Limit: st.Limit}
	}
	st.Reason = both(st.Reason, session.ReasonWorktreeGone)
	return st
}

// withWait adds the agent's wait for children.
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

// String describes the wait, and how many children have ended.
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

// at returns nil for a zero time, which means unknown.
func at(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
