package typing

import (
	"testing"
	"time"
)

// TestALongPromptIsWaitedFor: a CLI that draws what it reads is waited for, and one that stands still is not; a short prompt has its
// time and no more.
func TestALongPromptIsWaitedFor(t *testing.T) {
	begin := time.Unix(0, 0)
	for name, c := range map[string]struct {
		atMost, draws, want time.Duration // for how long it draws
	}{
		"a short prompt":             {0, time.Hour, 5 * time.Second},
		"a long one that is read":    {400 * time.Second, 100 * time.Second, 125 * time.Second},
		"one that is not drawn":      {400 * time.Second, 0, 20 * time.Second},
		"one that is drawn for ever": {400 * time.Second, time.Hour, 405 * time.Second},
	} {
		r := reader{until: begin.Add(5 * time.Second), atMost: c.atMost}
		now := begin
		for r.on(now, func() string { return min(now.Sub(begin), c.draws).String() }) {
			now = now.Add(time.Second)
		}
		if took := now.Sub(begin); took != c.want {
			t.Errorf("%s: waited for %s, want %s", name, took, c.want)
		}
	}
}
