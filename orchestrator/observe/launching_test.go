package observe

import (
	"testing"
	"time"

	"paw/orchestrator/live"
	"paw/session"
	"paw/tmux"
)

// TestLauncherBeforeItsNameIsInTheLock: a launcher that has taken the lock and has not written itself into it yet is starting, and is not taken for
// the CLI of the launch before.
func TestLauncherBeforeItsNameIsInTheLock(t *testing.T) {
	const last, now = 2, 3 // generations
	pane := func(generation int) *tmux.Pane {
		return &tmux.Pane{ID: "%1", PID: 4_000_001, Identity: &tmux.Identity{Session: "s", Agent: "a", Generation: generation}}
	}
	ended := session.AgentLock{State: session.LockHeld, Holder: session.Holder{PID: 4_000_000, Generation: last}}
	heldBy := func(pids ...int) session.AgentLock {
		lock := ended
		lock.Holders = pids
		return lock
	}
	dead := pane(now)
	dead.Dead = true
	for name, c := range map[string]struct {
		lock session.AgentLock
		pane *tmux.Pane
		want live.Running
	}{
		"the launcher has the lock":        {heldBy(4_000_001), pane(now), live.Starting},
		"nobody is seen to have it":        {ended, pane(now), live.Starting},
		"something of the last launch has": {heldBy(4_000_002), pane(now), live.Starting},
		"a process of the same launch":     {heldBy(4_000_001), pane(last), live.InPane},
		"the pane is dead":                 {heldBy(4_000_002), dead, live.Paneless},
		"its name is in the lock":          {session.AgentLock{State: session.LockHeld, HolderAlive: true, Holder: session.Holder{PID: 4_000_001, Generation: now}}, pane(now), live.InPane},
	} {
		f := Facts{Session: &session.Session{}, Tmux: session.TmuxAlive}
		if got := f.Running(Agent{Lock: c.lock, Pane: c.pane, LaunchedAt: time.Now()}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
