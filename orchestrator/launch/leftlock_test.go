package launch

import (
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/app"
	"paw/session"
)

// TestLockOfALauncherThatWasKilledIsAwaited has a launcher that was killed in its set-up, and whose lock the kernel has not let go
// yet, and a CLI, which keeps it.
func TestLockOfALauncherThatWasKilledIsAwaited(t *testing.T) {
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}}
	h.Locks = session.Locks{Dir: h.Paths.LocksDir()}
	s := &session.Session{Name: "shop", Agents: []session.Agent{{Name: "one"}}}
	for setUp, left := range map[string]bool{"npm ci": true, "": false} {
		lock, err := h.Locks.HoldAgent("shop", "one", session.Holder{Generation: 1, SetUp: setUp})
		if err != nil {
			t.Fatal(err)
		}
		if left {
			time.AfterFunc(100*time.Millisecond, func() { lock.Close() })
		}
		if got := leftLock(t.Context(), h, s, &Job{Result: Result{Agent: "one"}}); got != left {
			t.Errorf("set-up %q: left %v, want %v", setUp, got, left)
		}
		lock.Close()
	}
}
