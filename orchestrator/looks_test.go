package orchestrator

import (
	"testing"
	"time"

	"paw/tmux"
)

// TestLooksUntil: a terminal that tmux takes for focused counts for three minutes after a key, since it may never tell that it lost the focus.
func TestLooksUntil(t *testing.T) {
	event := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return event.Add(-d) }
	for name, c := range map[string]struct {
		view  tmux.View
		after time.Duration // since the event
		seen  bool
		until time.Time
	}{
		"nobody":                           {},
		"a key since":                      {view: tmux.View{LastKey: event.Add(time.Second)}, after: time.Minute, seen: true},
		"a key since, where it is focused": {view: tmux.View{Focused: event.Add(time.Second)}, after: time.Hour, seen: true},
		"a key before":                     {view: tmux.View{LastKey: ago(5 * time.Second)}, until: ago(-10 * time.Second)},
		"a key long before":                {view: tmux.View{LastKey: ago(time.Minute)}},
		"focused":                          {view: tmux.View{Focused: ago(75 * time.Second)}, until: ago(-105 * time.Second)},
		"focused, and no key comes":        {view: tmux.View{Focused: ago(75 * time.Second)}, after: 2 * time.Minute},
		"focused for ever":                 {view: tmux.View{Focused: ago(time.Hour)}},
	} {
		if seen, until := looksUntil(c.view, event, event.Add(c.after)); seen != c.seen || !until.Equal(c.until) {
			t.Errorf("%s: %t until %s, want %t until %s", name, seen, until, c.seen, c.until)
		}
	}
}
