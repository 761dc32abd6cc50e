package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"paw/orchestrator/cli"
	"paw/session"
	"paw/session/turn"
)

// moment is the moment of every observation in these tests.
var moment = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// everyPlace calls do with every combination of what lock, pane, record and worktree can say.
func everyPlace(do func(Observation)) {
	zero, seven, nine, interrupted := 0, 7, 9, 130
	for _, tmux := range []session.Liveness{session.TmuxAlive, session.TmuxDead, session.TmuxUnknown} {
		for _, status := range []session.Status{session.StatusActive, session.StatusStopped} {
			for _, phase := range []session.Phase{session.PhaseCreating, session.PhaseLive, session.PhaseStopping, session.PhaseStopped, session.PhaseExited} {
				for _, lock := range []session.LockState{session.LockFree, session.LockHeld, session.LockUnknown} {
					for _, pane := range []session.PaneState{session.PaneAlive, session.PaneDead, session.PaneGone, session.PaneUnknown} {
						for _, exit := range [][2]*int{{nil, nil}, {&zero, nil}, {&seven, nil}, {nil, &nine}, {&interrupted, nil}} {
							for _, age := range []time.Duration{-time.Hour, -time.Second, 9 * time.Second, time.Hour, 0} {
								combinations := 1 << 6
								if phase == session.PhaseCreating {
									combinations = 1 << 7 // only a new agent is being made
								}
								for bits := range combinations {
									o := Observation{
										Now: moment, Tmux: tmux, Session: status, Phase: phase, Lock: lock, HolderPID: 42, Pane: pane, ExitCode: exit[0], Signal: exit[1],
										OtherBoot: bits&1 != 0, Closed: bits&2 != 0, Respawned: bits&4 != 0, Headless: bits&8 != 0, WorktreeGone: bits&16 != 0, Made: bits&64 != 0,
									}
									if bits&32 != 0 {
										o.CutShort = "paw rewind"
									}
									if age != 0 {
										o.LaunchedAt = moment.Add(-age)
									}
									do(o)
								}
							}
						}
					}
				}
			}
		}
	}
}

// everyTurn calls do with every combination of what turns, the CLI's own record, its screen, its word and its children can say.
func everyTurn(do func(Observation)) {
	const launch = "s/a/2"
	record := func(state turn.State, change func(*turn.Record)) *turn.Record {
		r := &turn.Record{Number: 4, State: state, Launch: launch, StartedAt: moment.Add(-time.Hour), LastEventAt: moment.Add(-time.Minute)}
		if state != turn.InProgress {
			end := moment.Add(-time.Minute)
			r.EndedAt = &end
		}
		if change != nil {
			change(r)
		}
		return r
	}
	asked := moment.Add(-time.Minute)
	lasts := []*turn.Record{
		nil, record(turn.InProgress, nil), record(turn.Finished, nil), record(turn.InProgress, func(r *turn.Record) { r.Launch = "s/a/1" }),
		record(turn.InProgress, func(r *turn.Record) { r.Waiting, r.WaitingSince, r.Question = true, &asked, "may I?" }),
		record(turn.InProgress, func(r *turn.Record) { r.Limit, r.LimitedSince = &turn.Limit{}, &asked }),
		record(turn.Aborted, func(r *turn.Record) { r.Reason, r.ErrorMessage = turn.ReasonError, "overloaded" }),
		record(turn.Aborted, func(r *turn.Record) { r.Reason = turn.ReasonInterrupted }),
	}
	seen := func(busy, waiting, alive bool, ended turn.Kind) cli.Observed {
		o := cli.Observed{Known: true, Busy: busy, Waiting: waiting, Live: alive, At: moment.Add(-30 * time.Second), Source: session.SourceRecord}
		if ended != "" {
			o.Ended = &turn.Event{Kind: ended, Message: "overloaded"}
		}
		return o
	}
	records := []cli.Observed{
		{}, seen(true, false, false, ""), seen(true, false, true, ""), seen(false, true, false, ""), seen(false, false, false, ""),
		seen(false, false, false, turn.KindEnd), seen(false, false, true, turn.KindError), seen(false, false, false, turn.KindInterrupt),
	}
	screens := []cli.Screen{{}, {Dialog: "sure?"}, {Box: cli.BoxEmpty}, {Box: cli.BoxEmpty, Works: true}}
	words := []*session.Done{nil, {Turn: 4, Outcome: "success", At: moment}, {Turn: 4, Outcome: "failure", At: moment}, {Turn: 3, At: moment}}
	waits := []*Waiting{nil, {Children: []string{"a", "b"}, Left: []string{"a"}, Since: moment}, {Children: []string{"a"}, Unconfirmed: []string{"a"}}}
	for _, last := range lasts {
		for _, observed := range records {
			for _, screen := range screens {
				for _, done := range words {
					for _, wait := range waits {
						for bits := range 1 << 4 {
							o := Observation{Done: done, Wait: wait, Turns: Turns{
								Visible: bits&1 != 0, Last: last, Launch: launch, Observed: observed, Screen: screen, LateHooks: bits&2 != 0, Prompted: bits&4 != 0,
								Launched: moment.Add(-45 * time.Second),
							}}
							if bits&8 != 0 {
								o.HooksSeen = moment.Add(-40 * time.Second)
							}
							do(o)
						}
					}
				}
			}
		}
	}
}

// places are observations at which each value of Running holds, with and without a worktree, and with one that is half moved.
func places() []Observation {
	var all []Observation
	found := map[[3]any]bool{}
	everyPlace(func(o Observation) {
		if key := [3]any{o.Running(), o.WorktreeGone, o.CutShort}; !found[key] && (o.CutShort == "" || !o.WorktreeGone) {
			found[key] = true
			all = append(all, o)
		}
	})
	return all
}

// wanted is the table of what lock, pane and record mean while no turn says more: the first line that fits.
func wanted(o Observation) session.AgentStatus {
	type status = session.AgentStatus
	pane := o.Pane
	if o.Tmux == session.TmuxDead && pane == session.PaneUnknown {
		pane = session.PaneGone
	}
	age := o.Now.Sub(o.LaunchedAt)
	young := !o.LaunchedAt.IsZero() && age > -10*time.Second && age < 10*time.Second
	meant := o.Session == session.StatusStopped || o.Phase == session.PhaseStopping || o.Phase == session.PhaseStopped
	silent := o.Tmux == session.TmuxUnknown || pane == session.PaneUnknown
	free, held := o.Lock == session.LockFree, o.Lock == session.LockHeld
	alive, dead := pane == session.PaneAlive, pane == session.PaneDead
	launched := o.LaunchedAt
	runsOn := "process 42 runs on without its pane"
	if o.OtherBoot {
		runsOn = "it runs on another machine, which has this home as well"
	}
	for _, row := range []struct {
		fits bool
		want status
	}{
		{held && o.Headless, status{State: session.StateRunning, Source: session.SourceLock, Reason: "a headless turn"}},
		{!free && !held, status{State: session.StateUnknown, Source: session.SourceNone, Reason: "its lock cannot be read", Cause: session.CauseLockUnknown}},
		{free && o.Made && (silent || !alive), status{State: session.StateUnknown, Source: session.SourceLock, Reason: "its worktree is being made", Cause: session.CauseMade}},
		{silent, status{State: session.StateUnknown, Source: session.SourceNone, Reason: "tmux did not answer", Cause: session.CauseTmuxSilent}},
		{held && alive && o.Respawned, status{State: session.StateUnknown, Source: session.SourceLock, Reason: runsOn + "; a foreign process is in paw's pane", Orphan: true}},
		{held && alive, status{State: session.StateUnknown, Source: session.SourceLock, Reason: "paw does not see its turns", Cause: session.CauseRuns}},
		{held, status{State: session.StateUnknown, Source: session.SourceLock, Reason: runsOn, Orphan: true}},
		{alive && young, status{State: session.StateUnknown, Since: &launched, Source: session.SourceTmux, Reason: "starting"}},
		{alive, status{State: session.StateUnknown, Source: session.SourceTmux, Reason: "a foreign process is in paw's pane"}},
		{dead && o.Signal != nil, status{State: session.StateError, Source: session.SourceTmux, Reason: "killed by signal 9 (SIGKILL)"}},
		{dead && o.ExitCode == nil, status{State: session.StateError, Source: session.SourceTmux, Reason: "exit status unknown"}},
		{dead && *orOne(o.ExitCode) == 0, status{State: session.StateCompleted, Source: session.SourceTmux, Reason: "exited with 0"}},
		{dead && *orOne(o.ExitCode) == 130, status{State: session.StateCompleted, Source: session.SourceTmux, Reason: "left by Ctrl-C"}},
		{dead, status{State: session.StateError, Source: session.SourceTmux, Reason: "exit code 7"}},
		{o.Phase == session.PhaseExited, status{State: session.StateCompleted, Source: session.SourceRecord, Reason: "exited"}},
		{meant, status{State: session.StateSuspended, Source: session.SourceRecord, Reason: "stopped", Cause: session.CauseStopped}},
		{o.OtherBoot, status{State: session.StateSuspended, Source: session.SourceTmux, Reason: "reboot"}},
		{o.Closed, status{State: session.StateSuspended, Source: session.SourceTmux, Reason: "its pane was closed", Cause: session.CauseClosed}},
		{true, status{State: session.StateSuspended, Source: session.SourceTmux, Reason: "crash"}},
	} {
		if row.fits {
			if o.WorktreeGone {
				row.want.Reason += "; its worktree is gone"
			}
			if o.CutShort != "" {
				row.want.Reason += "; a paw rewind was cut short there, paw recover ends it"
			}
			return row.want
		}
	}
	panic("unreachable")
}

func orOne(code *int) *int {
	one := 1
	if code == nil {
		return &one
	}
	return code
}

func TestStateAtEveryPlace(t *testing.T) {
	everyPlace(func(o Observation) {
		got, want := State(o), wanted(o)
		same := got.State == want.State && got.Source == want.Source && got.Reason == want.Reason && got.Cause == want.Cause && got.Orphan == want.Orphan
		if !same || (got.Since == nil) != (want.Since == nil) || got.Since != nil && !got.Since.Equal(*want.Since) {
			t.Errorf("%+v:\n got %s\nwant %s", o, describe(got), describe(want))
		}
	})
}

// TestStateInvariants tries every combination of what can be observed of turns at every kind of place.
func TestStateInvariants(t *testing.T) {
	all, kinds := places(), map[Running]bool{}
	for _, at := range all {
		running := at.Running()
		kinds[running] = true
		everyTurn(func(o Observation) {
			wait, done, turns := o.Wait, o.Done, o.Turns
			o = at
			o.Wait, o.Done, o.Turns = wait, done, turns
			st := State(o)
			if broken := brokenInvariant(o, running, st); broken != "" {
				t.Errorf("%s: %s\n%+v", broken, describe(st), o)
			}
		})
	}
	if len(kinds) != int(LockUnreadable)+1 || len(all) != 3*len(kinds) {
		t.Errorf("only %d kinds of places, %d of them", len(kinds), len(all))
	}
}

// brokenInvariant names a rule that a state breaks, "" for none. They hold whatever the tables say.
func brokenInvariant(o Observation, running Running, st session.AgentStatus) string {
	at := func(places ...Running) bool {
		for _, p := range places {
			if running == p {
				return true
			}
		}
		return false
	}
	is := func(states ...session.State) bool {
		for _, s := range states {
			if st.State == s {
				return true
			}
		}
		return false
	}
	waits := o.Wait != nil && len(o.Wait.Unconfirmed) == 0
	switch {
	case st.State == "" || st.Source == "":
		return "not explained"
	case is(session.StateUnknown) && st.Reason == "":
		return "unknown without a reason"
	case at(Unseen, RunningUnseen, Making, Starting, Foreign, LockUnreadable, Paneless, Elsewhere) && !is(session.StateUnknown):
		return "a guess"
	case at(Headless) && !is(session.StateRunning, session.StateWaitingInput) && !waits:
		return "a headless turn that does not run"
	case is(session.StateRunning, session.StateWaitingInput) && !at(InPane, Headless):
		return "at work, and does not run"
	case is(session.StateIdle) && !at(InPane):
		return "idle, and does not run"
	case is(session.StateSuspended) && !at(NothingRuns):
		return "suspended, and runs"
	case is(session.StateCompleted) && at(InPane) && !o.saidDone():
		return "completed, and nobody said so"
	case is(session.StateWaitingChildren) != (waits && State(withoutWait(o)).State != session.StateUnknown):
		return "waits for children, or not"
	case st.Orphan != at(Paneless, Elsewhere):
		return "orphan, or not"
	case o.WorktreeGone && !strings.Contains(st.Reason, session.ReasonWorktreeGone):
		return "hides that the worktree is gone"
	case o.CutShort != "" && !strings.Contains(st.Reason, "a paw rewind was cut short"):
		return "hides that its files are half moved"
	case o.WorktreeGone && at(InPane) && is(session.StateIdle, session.StateCompleted):
		return "rests well without a worktree"
	case at(InPane) && !o.Visible && !is(session.StateUnknown, session.StateWaitingChildren) && !o.saidDone():
		return "a turn that cannot be seen"
	case st.Limit != nil && !is(session.StateRunning, session.StateError, session.StateWaitingInput):
		return "limited, and neither at work nor failed"
	case st.Reason != "" && strings.ToLower(st.Reason[:1]) != st.Reason[:1]:
		return "a reason that begins with a capital"
	}
	return ""
}

func withoutWait(o Observation) Observation { o.Wait = nil; return o }

func describe(s session.AgentStatus) string {
	when := "-"
	if s.Since != nil {
		when = s.Since.String()
	}
	return fmt.Sprintf("%s from %s since %s, %q, cause %d, orphan %v", s.State, s.Source, when, s.Reason, s.Cause, s.Orphan)
}

func TestStateNamesExitAndHolder(t *testing.T) {
	segv, odd, one27, interrupt := 11, 200, 127, 2
	dead := func(code, signal *int) Observation {
		return Observation{Tmux: session.TmuxAlive, Lock: session.LockFree, Pane: session.PaneDead, ExitCode: code, Signal: signal}
	}
	failed := dead(&one27, nil)
	failed.Failure = "another worktree is there"
	for want, o := range map[string]Observation{
		"killed by signal 11 (SIGSEGV)":      dead(nil, &segv),
		"killed by signal 200":               dead(nil, &odd),
		"left by Ctrl-C":                     dead(nil, &interrupt),
		"exit code 127":                      dead(&one27, nil),
		"another worktree is there":          failed,
		"a process runs on without its pane": {Tmux: session.TmuxDead, Lock: session.LockHeld, Pane: session.PaneGone},
		"process 7 runs on without its pane": orphan,
		"permission denied":                  {Tmux: session.TmuxAlive, Lock: session.LockUnknown, LockError: "permission denied"},
		"a foreign process is in paw's pane": {Tmux: session.TmuxAlive, Lock: session.LockFree, Pane: session.PaneAlive, Now: moment}, // never launched
	} {
		if got := State(o); got.Reason != want {
			t.Errorf("got %s, want %q", describe(got), want)
		}
	}
	failedTurn := &turn.Record{Number: 3, State: turn.Aborted, Reason: turn.ReasonError, ErrorMessage: "quota"}
	stopped := Observation{Tmux: session.TmuxAlive, Lock: session.LockFree, Pane: session.PaneGone, Phase: session.PhaseStopped, Turns: Turns{Last: failedTurn}}
	if got := State(stopped).Reason; got != "stopped; turn 3 failed: quota" {
		t.Errorf("%q", got)
	}
}

// While the launcher sets the worktree up, the agent is at work, whatever its turns and its CLI's record say.
func TestStateWhileTheWorktreeIsSetUp(t *testing.T) {
	want := session.AgentStatus{State: session.StateRunning, Source: session.SourceLock, Reason: "set-up: npm ci, 40s", Cause: session.CauseSetUp}
	everyTurn(func(o Observation) {
		if o.Wait != nil {
			return
		}
		at := o
		at.Now, at.Tmux, at.Pane, at.Lock, at.HolderPID = moment, session.TmuxAlive, session.PaneAlive, session.LockHeld, 42
		at.SetUp, at.Launched, at.LaunchedAt, at.Respawned, at.Headless, at.WorktreeGone, at.CutShort, at.LockError = "npm ci", moment.Add(-40*time.Second), time.Time{}, false, false, false, "", ""
		got := State(at)
		if got.State != want.State || got.Source != want.Source || got.Reason != want.Reason || got.Cause != want.Cause || got.Since == nil || !got.Since.Equal(at.Launched) {
			t.Errorf("%+v:\n got %s\nwant %s", at, describe(got), describe(want))
		}
	})
}
