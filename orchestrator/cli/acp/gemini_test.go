package acp

import (
	"slices"
	"testing"
	"time"
)

// TestGeminiOpensAgain: gemini is told the conversation at its start, and does not open it within the minute in which it began, unless
// it has ended. Any other agent is started as ever.
func TestGeminiOpensAgain(t *testing.T) {
	now := time.Now()
	other, one := Session{ID: "a", Agent: "other", Began: now}, Session{ID: "a", Agent: gemini, Began: now.Add(-time.Minute)}
	if got := one.options(); !slices.Equal(got, []string{"--resume", "a"}) || other.options() != nil {
		t.Error(got, other.options())
	}
	if !one.refused(42) || one.refused(1) || other.refused(42) {
		t.Error("refused")
	}
	never, ended := make(chan struct{}), make(chan struct{})
	other.awaitMinute(never)
	one.awaitMinute(never) // its minute is over
	close(ended)
	one.Began = now.Add(time.Minute)
	one.awaitMinute(ended)
	waits := make(chan struct{})
	go func() {
		one.awaitMinute(never)
		close(waits)
	}()
	select {
	case <-waits:
		t.Error("it is opened in the minute in which it began")
	case <-time.After(50 * time.Millisecond):
	}
}
