package launch

import (
	"testing"

	"paw/orchestrator/observe"
	"paw/session"
	"paw/tmux"
)

// A new launch counts above all that anything remembers: the record may be of before a power loss.
func TestTheNextLaunchIsAboveAll(t *testing.T) {
	agent := func(lock, pane int) observe.Agent {
		a := observe.Agent{Lock: session.AgentLock{Holder: session.Holder{Generation: lock}}}
		if pane > 0 {
			a.Pane = &tmux.Pane{Identity: &tmux.Identity{Generation: pane}}
		}
		return a
	}
	for _, test := range []struct{ record, lock, pane, want int }{{4, 3, 3, 5}, {3, 4, 0, 5}, {3, 3, 4, 5}, {2, 7, 5, 8}} {
		f := observe.Facts{Agents: []observe.Agent{agent(1, 0), agent(test.lock, test.pane)}}
		if got := NextGeneration(&session.Session{Generation: test.record}, f); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}
