package live

import (
	"testing"
	"time"

	"paw/session"
)

// TestRunning is the table of what a lock and a pane mean together.
func TestRunning(t *testing.T) {
	const free, held, unreadable = session.LockFree, session.LockHeld, session.LockUnknown
	const alive, dead, gone = session.PaneAlive, session.PaneDead, session.PaneGone
	for _, c := range []struct {
		name string
		o    Observation
		want Running
	}{
		{"nothing", Observation{Lock: free, Pane: gone}, NothingRuns},
		{"no server", Observation{Tmux: session.TmuxDead, Lock: free}, NothingRuns},
		{"a dead pane", Observation{Lock: free, Pane: dead}, NothingRuns},
		{"a launch that nobody will read", Observation{Lock: free, Pane: dead, LaunchedAt: time.Now()}, NothingRuns},
		{"a launcher", Observation{Lock: free, Pane: alive, LaunchedAt: time.Now()}, Starting},
		{"a shell in its pane", Observation{Lock: free, Pane: alive}, Foreign},
		{"its CLI", Observation{Lock: held, Pane: alive}, InPane},
		{"its CLI, and a later launch", Observation{Lock: held, Pane: alive, LaunchedAt: time.Now()}, InPane},
		{"its CLI beside a shell in its pane", Observation{Lock: held, Pane: alive, Respawned: true}, Paneless},
		{"its CLI beside a dead pane", Observation{Lock: held, Pane: dead}, Paneless},
		{"its CLI after its server", Observation{Tmux: session.TmuxDead, Lock: held, Pane: gone}, Paneless},
		{"its CLI on a machine with the same home", Observation{Tmux: session.TmuxDead, Lock: held, Pane: gone, OtherBoot: true}, Elsewhere},
		{"a headless turn", Observation{Lock: held, Headless: true, Pane: gone}, Headless},
		{"a headless turn beside a shell", Observation{Lock: held, Headless: true, Pane: alive, Respawned: true}, Headless},
		{"a headless turn, tmux silent", Observation{Tmux: session.TmuxUnknown, Lock: held, Headless: true}, Headless},
		{"tmux silent, lock held", Observation{Tmux: session.TmuxUnknown, Lock: held, Pane: alive}, RunningUnseen},
		{"tmux silent, lock free", Observation{Tmux: session.TmuxUnknown, Lock: free}, Unseen},
		{"lock unreadable", Observation{Lock: unreadable, Pane: alive, LaunchedAt: time.Now()}, LockUnreadable},
	} {
		if c.o.Tmux == "" {
			c.o.Tmux = session.TmuxAlive
		}
		got := c.o.Running()
		if got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if got.Held() != (c.o.Lock == held) || got.Free() != (c.o.Lock == free) {
			t.Errorf("%s: held %t, free %t", c.name, got.Held(), got.Free())
		}
	}
}
