package fleet

import (
	"testing"
	"time"

	"paw/session"
	"paw/tmux"
)

// TestRunning is the table of what a lock and a pane mean together.
func TestRunning(t *testing.T) {
	free, unreadable := session.AgentLock{State: session.LockFree}, session.AgentLock{State: session.LockUnknown}
	held := session.AgentLock{State: session.LockHeld, Holder: session.Holder{PID: 7}, HolderAlive: true}
	headless := held
	headless.Holder.Headless = true
	inherited := headless
	inherited.HolderAlive = false // the paw that ran the turn was killed, and its CLI has the lock
	alive, dead := &tmux.Pane{}, &tmux.Pane{Dead: true}
	for _, c := range []struct {
		name     string
		tmux     session.Liveness
		lock     session.AgentLock
		pane     *tmux.Pane
		launched bool // a launch waits for its launcher
		want     Running
	}{
		{"nothing", session.TmuxAlive, free, nil, false, NotRunning},
		{"no server", session.TmuxDead, free, nil, false, NotRunning},
		{"a dead pane", session.TmuxAlive, free, dead, false, NotRunning},
		{"a launch that nobody will read", session.TmuxAlive, free, dead, true, NotRunning},
		{"a launcher", session.TmuxAlive, free, alive, true, Starting},
		{"a shell in its pane", session.TmuxAlive, free, alive, false, Foreign},
		{"its CLI", session.TmuxAlive, held, alive, false, InPane},
		{"its CLI, and a later launch", session.TmuxAlive, held, alive, true, InPane},
		{"its CLI beside a dead pane", session.TmuxAlive, held, dead, false, Paneless},
		{"its CLI after its server", session.TmuxDead, held, nil, false, Paneless},
		{"a headless turn", session.TmuxAlive, headless, nil, false, Headless},
		{"a headless turn beside a shell", session.TmuxAlive, headless, alive, false, Headless},
		{"a headless turn, tmux silent", session.TmuxUnknown, headless, nil, false, Headless},
		{"what a headless turn left", session.TmuxAlive, inherited, nil, false, Paneless},
		{"tmux silent, lock held", session.TmuxUnknown, held, nil, false, RunningUnseen},
		{"tmux silent, lock free", session.TmuxUnknown, free, nil, false, Unseen},
		{"lock unreadable", session.TmuxAlive, unreadable, alive, true, LockUnreadable},
	} {
		a := Agent{Lock: c.lock, Pane: c.pane}
		if c.launched {
			a.LaunchedAt = time.Now()
		}
		got := Facts{Tmux: c.tmux}.Running(a)
		if got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if got.Held() != (c.lock.State == session.LockHeld) || got.Free() != (c.lock.State == session.LockFree) {
			t.Errorf("%s: held %t, free %t", c.name, got.Held(), got.Free())
		}
	}
}
