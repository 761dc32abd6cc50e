package app

import (
	"os"
	"testing"
	"time"

	"paw/config"
	"paw/session/turn"
)

// TestQueuedNext covers the time between the end of a turn and the begin of the next one, which a
// prompt that the CLI has queued will begin.
func TestQueuedNext(t *testing.T) {
	now := time.Now()
	state := t.TempDir()
	h := &App{Paths: config.Paths{StateDir: state}, Now: func() time.Time { return now }}
	begin := func(number int, prompt string) *turn.Turn {
		one := turn.New(h.TurnDir("shop", "one"), number, h.Now)
		if err := one.Start(turn.Start{Type: turn.TypePrompt, Prompt: prompt}); err != nil {
			t.Fatal(err)
		}
		return one
	}
	finish := func(one *turn.Turn) {
		if _, err := one.Finish(turn.End{}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when string, want bool) {
		t.Helper()
		if got := h.Texts().QueuedNext("shop", "one", time.Minute); got != want {
			t.Errorf("%s: %t", when, got)
		}
	}
	expect("no turn", false)
	first := begin(1, "first")
	if err := os.MkdirAll(h.StateDir("shop", "one"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := h.Texts().KeepQueued("shop", "one", "second", 1); err != nil {
		t.Fatal(err)
	}
	expect("behind a turn that runs", false)
	finish(first)
	expect("right behind its end", true)
	now = now.Add(2 * time.Minute)
	expect("long after its end", false)
	now = now.Add(-2 * time.Minute)
	second := begin(2, "second")
	expect("begun", false)
	finish(second)
	expect("asked", false)
}
