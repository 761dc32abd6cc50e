package orchestrator

import (
	"os"
	"testing"

	"paw/orchestrator/turns"
	"paw/session/turn"
)

// A hook ends a turn in two steps: it writes ABORT into the turn's log, and it takes a snapshot. The hook may be killed in between. Of an
// interrupted turn ABORT is written first, of a failed turn the snapshot is taken first. A turn without ABORT is still in progress.
func TestWhenAnAbortedTurnIsOver(t *testing.T) {
	abort := func(t *testing.T, reason turn.Reason, before func(log string)) (atSnapshot turn.State, ended bool, last turn.State) {
		m := newLandModel(t, t.TempDir())
		a := m.h.Agent(m.load(), m.s.Agent("a"))
		if err := turns.BeginOwn(t.Context(), a, "do something"); err != nil {
			t.Fatal(err)
		}
		m.put(m.worktree("a"), "a/0", "changed")
		m.h.Step = func(name string) {
			if open, err := a.TurnDir().Last(); name == "turn.snapshot" && err == nil {
				atSnapshot = open.State
			}
		}
		err := turns.Change(t.Context(), m.h.Agent(m.load(), m.s.Agent("a")), func(r *turns.Recorder) error {
			open, err := r.Dir.Last()
			if err != nil {
				t.Fatal(err)
			}
			one, err := turn.Open(open.LogFile, r.App.Now)
			if err != nil {
				t.Fatal(err)
			}
			before(one.Path())
			err = r.Abort(t.Context(), one, &turn.Abort{Reason: reason, Message: "x"})
			ended = r.Ended
			return err
		})
		if (err == nil) != ended {
			t.Errorf("ended %t: %v", ended, err)
		}
		if now, _ := a.TurnDir().Last(); now != nil {
			last = now.State
		}
		return atSnapshot, ended, last
	}
	t.Setenv("TMUX_TMPDIR", t.TempDir())
	nothing := func(string) {}
	for reason, want := range map[turn.Reason]turn.State{
		turn.ReasonInterrupted: turn.Aborted, turn.ReasonStopped: turn.Aborted, turn.ReasonCrash: turn.Aborted, turn.ReasonError: turn.InProgress,
	} {
		if at, ended, last := abort(t, reason, nothing); at != want || !ended || last != turn.Aborted {
			t.Errorf("%s: %s at its snapshot, want %s; ended %t, %s", reason, at, want, ended, last)
		}
	}
	if _, ended, last := abort(t, turn.ReasonInterrupted, func(log string) {
		if err := os.Rename(log, log+".away"); err != nil {
			t.Fatal(err)
		}
	}); ended || last == turn.Aborted {
		t.Errorf("its end was not written, and it counts as ended: %t, %s", ended, last)
	}
}
