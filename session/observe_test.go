package session

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// now is the moment of every observation in these tests.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// everyEvidence calls do with every combination of what can be observed.
func everyEvidence(do func(e Evidence)) {
	zero, seven, nine := 0, 7, 9
	for _, tmux := range []Liveness{TmuxAlive, TmuxDead, TmuxUnknown, ""} {
		for _, record := range []Status{StatusActive, StatusStopped} {
			for _, phase := range []Phase{PhaseCreating, PhaseLive, PhaseStopping, PhaseStopped, PhaseExited, ""} {
				for _, lock := range []LockState{LockFree, LockHeld, LockUnknown, ""} {
					for _, pane := range []PaneState{PaneAlive, PaneDead, PaneGone, PaneUnknown, ""} {
						for _, code := range []*int{nil, &zero, &seven} {
							for _, signal := range []*int{nil, &nine} {
								for bits := range 4 {
									for _, age := range []time.Duration{-time.Hour, -time.Second, 0, 9 * time.Second, 10 * time.Second, time.Hour} {
										do(Evidence{
											Tmux: tmux, Record: record, Phase: phase, Lock: lock, HolderPID: 42, Pane: pane,
											ExitCode: code, Signal: signal, OtherBoot: bits&1 != 0, Closed: bits&2 != 0, LaunchedAt: now.Add(-age), Now: now,
										})
									}
								}
							}
						}
					}
				}
			}
		}
	}
}

// wanted is the table of what each combination means, cell by cell: the first line that fits.
func wanted(e Evidence) AgentStatus {
	pane := e.Pane
	if e.Tmux == TmuxDead && (pane == PaneUnknown || pane == "") {
		pane = PaneGone
	}
	age := e.Now.Sub(e.LaunchedAt)
	young := age > -10*time.Second && age < 10*time.Second
	meant := e.Record == StatusStopped || e.Phase == PhaseStopping || e.Phase == PhaseStopped
	silent := e.Tmux == TmuxUnknown || e.Tmux == "" || pane == PaneUnknown || pane == ""
	free, held := e.Lock == LockFree, e.Lock == LockHeld
	launched := e.LaunchedAt
	rows := []struct {
		fits bool
		want AgentStatus
	}{
		{silent, AgentStatus{State: StateUnknown, Source: SourceNone, Reason: "tmux did not answer"}},
		{!free && !held, AgentStatus{State: StateUnknown, Source: SourceNone, Reason: "its lock cannot be read", Cause: CauseLockUnknown}},
		{held && pane == PaneAlive, AgentStatus{State: StateUnknown, Source: SourceLock, Reason: "paw does not see its turns", Cause: CauseRuns}},
		{held, AgentStatus{State: StateUnknown, Source: SourceLock, Reason: "process 42 runs on without its pane", Orphan: true}},
		{pane == PaneAlive && young, AgentStatus{State: StateUnknown, Since: &launched, Source: SourceTmux, Reason: "starting"}},
		{pane == PaneAlive, AgentStatus{State: StateUnknown, Source: SourceTmux, Reason: "a foreign process is in paw's pane"}},
		{pane == PaneDead && e.Signal != nil, AgentStatus{State: StateError, Source: SourceTmux, Reason: "killed by signal 9 (SIGKILL)"}},
		{
			pane == PaneDead && e.ExitCode == nil,
			AgentStatus{State: StateError, Source: SourceTmux, Reason: "exit status unknown"},
		},
		{pane == PaneDead && *orOne(e.ExitCode) == 0, AgentStatus{State: StateCompleted, Source: SourceTmux, Reason: "exited with 0"}},
		{pane == PaneDead, AgentStatus{State: StateError, Source: SourceTmux, Reason: "exit code 7"}},
		{e.Phase == PhaseExited, AgentStatus{State: StateCompleted, Source: SourceRecord, Reason: "exited"}},
		{meant, AgentStatus{State: StateSuspended, Source: SourceRecord, Reason: "stopped", Cause: CauseStopped}},
		{e.OtherBoot, AgentStatus{State: StateSuspended, Source: SourceTmux, Reason: "reboot"}},
		{e.Closed, AgentStatus{State: StateSuspended, Source: SourceTmux, Reason: "its pane was closed", Cause: CauseClosed}},
		{true, AgentStatus{State: StateSuspended, Source: SourceTmux, Reason: "crash"}},
	}
	for _, row := range rows {
		if row.fits {
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

func describe(s AgentStatus) string {
	since := "-"
	if s.Since != nil {
		since = s.Since.String()
	}
	return fmt.Sprintf("%s from %s since %s, %q, cause %d, orphan %v", s.State, s.Source, since, s.Reason, s.Cause, s.Orphan)
}

func TestObserveEveryCombination(t *testing.T) {
	count := 0
	everyEvidence(func(e Evidence) {
		count++
		if got, want := describe(Observe(e)), describe(wanted(e)); got != want {
			t.Errorf("%+v:\n got %s\nwant %s", e, got, want)
		}
	})
	if count != 4*2*6*4*5*3*2*4*6 {
		t.Errorf("only %d combinations", count)
	}
}

// What must hold whatever the table says.
func TestObserveNeverGuesses(t *testing.T) {
	everyEvidence(func(e Evidence) {
		s := Observe(e)
		if s.Source == "" || s.State == StateUnknown && s.Reason == "" {
			t.Errorf("%+v: not explained: %s", e, describe(s))
		}
		if e.Tmux == TmuxUnknown && s.State != StateUnknown {
			t.Errorf("%+v: silence taken for %s", e, describe(s))
		}
		if e.Lock == LockHeld && (s.State == StateSuspended || s.State == StateCompleted || s.State == StateError) {
			t.Errorf("%+v: the CLI runs, and it says %s", e, describe(s))
		}
		recorded := e.Phase == PhaseExited && e.Pane != PaneDead
		if s.State == StateCompleted && !recorded && (e.ExitCode == nil || *e.ExitCode != 0 || e.Signal != nil) {
			t.Errorf("%+v: taken for success", e)
		}
		if s.Orphan && e.Lock != LockHeld {
			t.Errorf("%+v: orphan without a lock", e)
		}
		if strings.ToLower(s.Reason[:min(1, len(s.Reason))]) != s.Reason[:min(1, len(s.Reason))] {
			t.Errorf("%+v: %q", e, s.Reason)
		}
	})
}

func TestObserveNamesExitAndHolder(t *testing.T) {
	segv, odd, one27, interrupt, one30 := 11, 200, 127, 2, 130
	dead := Evidence{Tmux: TmuxAlive, Lock: LockFree, Pane: PaneDead}
	held := Evidence{Tmux: TmuxDead, Lock: LockHeld, Pane: PaneGone}
	for want, e := range map[string]Evidence{
		"killed by signal 11 (SIGSEGV)":      {Tmux: dead.Tmux, Lock: dead.Lock, Pane: dead.Pane, Signal: &segv},
		"killed by signal 200":               {Tmux: dead.Tmux, Lock: dead.Lock, Pane: dead.Pane, Signal: &odd},
		"left by Ctrl-C":                     {Tmux: dead.Tmux, Lock: dead.Lock, Pane: dead.Pane, Signal: &interrupt},
		"exit code 127":                      {Tmux: dead.Tmux, Lock: dead.Lock, Pane: dead.Pane, ExitCode: &one27},
		"a process runs on without its pane": held,
		"process 7 runs on without its pane": {Tmux: held.Tmux, Lock: held.Lock, Pane: held.Pane, HolderPID: 7},
		"a foreign process is in paw's pane": {Tmux: TmuxAlive, Lock: LockFree, Pane: PaneAlive, Now: now}, // never launched
	} {
		if got := Observe(e); got.Reason != want {
			t.Errorf("got %s, want %q", describe(got), want)
		}
	}
	shell := Observe(Evidence{Tmux: dead.Tmux, Lock: dead.Lock, Pane: dead.Pane, ExitCode: &one30})
	if shell.State != StateCompleted || shell.Reason != ReasonLeft {
		t.Errorf("a shell whose program was interrupted: got %s", describe(shell))
	}
}
