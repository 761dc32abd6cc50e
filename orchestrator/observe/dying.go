package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/live"
	"paw/session"
)

// AwaitDying gives agents that have lost their pane time to end. Those that do not end are orphans.
func AwaitDying(ctx context.Context, h *app.App, f Facts) (Facts, error) {
	var dying []Agent
	grace := map[string]time.Duration{}
	for _, a := range f.Agents {
		if left := graceLeft(a, f.Now); f.Running(a) == live.Paneless && left > 0 {
			dying, grace[a.Record.Name] = append(dying, a), left
		}
	}
	if len(dying) == 0 {
		return f, nil
	}
	longest := slices.Max(slices.Collect(maps.Values(grace)))
	dying = awaitEnd(ctx, h, f.Session, dying, min(longest, dyingQuiet))
	dying = slices.DeleteFunc(dying, func(a Agent) bool { return grace[a.Record.Name] <= dyingQuiet })
	for _, a := range dying {
		h.Sayf("%s: waiting for %s to end", a.Record.Name, processNamed(a.Lock.PID()))
	}
	if len(dying) > 0 {
		awaitEnd(ctx, h, f.Session, dying, longest-dyingQuiet)
	}
	return Observe(ctx, h, f.Session)
}

// How long recover waits for agents that lost their pane: SIGHUP ends most at once, but a CLI may
// run hooks first on a slow machine. After dyingQuiet recover says what it waits for.
const (
	dyingGrace = 10 * time.Second
	dyingQuiet = time.Second
)

// graceLeft returns how long an agent that has lost its pane may still take to end.
func graceLeft(a Agent, now time.Time) time.Duration {
	var taken time.Duration
	if a.Pane != nil && !a.Pane.Dead {
		if since, err := session.StartedAt(a.Pane.PID); err == nil {
			taken = now.Sub(since)
		}
	}
	return graceFor(session.IgnoresHangUp(a.Lock.PID()), taken)
}

// graceFor returns how long a CLI may still take to end that lost its pane a time ago. One that
// ignores SIGHUP ends soon, when it reads from its terminal, or never.
func graceFor(ignoresHangUp bool, taken time.Duration) time.Duration {
	grace := dyingGrace
	if ignoresHangUp {
		grace = dyingQuiet
	}
	return max(0, grace-max(0, taken))
}

// awaitEnd polls until the agents have ended or grace is over, and returns those that have not. An
// agent that was launched again is not waited for.
func awaitEnd(ctx context.Context, h *app.App, s *session.Session, dying []Agent, grace time.Duration) []Agent {
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

// processNamed names the process of an agent, 0 for an unknown one.
func processNamed(pid int) string {
	if pid == 0 {
		return "something that it started"
	}
	return fmt.Sprintf("pid %d", pid)
}
