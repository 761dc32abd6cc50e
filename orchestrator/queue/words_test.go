package queue_test

import (
	"testing"

	"paw/orchestrator/queue"
	"paw/session"
)

func TestWhyInWords(t *testing.T) {
	t.Parallel()
	for why, want := range map[string]string{
		"": "", "held": "", "you": "by you", "busy": "agent at work", "max": "enough at work", "limit:demo until 28 Nov 12:52": "until 28 Nov 12:52: usage limit of demo",
		"limit:demo": "usage limit of demo", "breaker:demo": "starts of demo came to nothing", "after:lexer": "after lexer", "after:lexer dropped": "lexer was dropped",
		"after:late failed": "late failed", "check: stopped": "check: stopped", "not installed: demo": "not installed: demo",
	} {
		if got := queue.WhyInWords(session.Task{State: session.TaskHeld, Why: why}); got != want {
			t.Errorf("%q: %q, want %q", why, got, want)
		}
	}
	if got := queue.WhyInWords(session.Task{State: session.TaskWaiting}); got != "about to begin" {
		t.Errorf("a task that nothing keeps waiting: %q", got)
	}
}
