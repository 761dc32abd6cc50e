package fleet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"paw/config/poll"
	"paw/orchestrator/home"
	"paw/orchestrator/live"
	"paw/session"
)

// How long recover waits for agents that lost their pane: a hang-up ends most at
// once, but a CLI may have hooks to run first, and a busy machine is slow. Soon it
// says what it waits for.
const (
	dyingGrace = 10 * time.Second
	dyingQuiet = time.Second
)

// AwaitDying gives agents that have lost their pane time to end. Those that stay
// are orphans.
func AwaitDying(ctx context.Context, h *home.Home, f Facts) (Facts, error) {
	dying := slices.DeleteFunc(slices.Clone(f.Agents), func(a Agent) bool { return f.Running(a) != live.Paneless })
	if len(dying) == 0 {
		return f, nil
	}
	dying = awaitEnd(ctx, h, f.Session, dying, dyingQuiet)
	for _, a := range dying {
		h.Sayf("%s: waiting for %s to end", a.Record.Agent, processNamed(a.Lock.PID()))
	}
	awaitEnd(ctx, h, f.Session, dying, dyingGrace-dyingQuiet)
	return Observe(ctx, h, f.Session)
}

// awaitEnd polls until nothing of those agents runs on or grace is over, and
// returns those that do. One that was launched again is not waited for.
func awaitEnd(ctx context.Context, h *home.Home, s *session.Session, dying []Agent, grace time.Duration) []Agent {
	poll.Until(ctx, poll.Tick, grace, func() bool {
		processes := LookAtProcesses()
		dying = slices.DeleteFunc(dying, func(a Agent) bool {
			lock, err := Probe(h, s, a.Record, processes)
			again := lock.Holder.Generation != a.Lock.Holder.Generation
			return err == nil && (again || lock.State != session.LockHeld)
		})
		return len(dying) == 0
	})
	return dying
}

// processNamed names the process that an agent runs on as, 0 for one that is not known.
func processNamed(pid int) string {
	if pid == 0 {
		return "something that it started"
	}
	return fmt.Sprintf("pid %d", pid)
}
