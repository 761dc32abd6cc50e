package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"paw/session"
)

// How long recover waits for agents that lost their pane: a hang-up ends most at
// once, but a CLI may have hooks to run first, and a busy machine is slow. Soon it
// says what it waits for.
const (
	dyingGrace = 10 * time.Second
	dyingQuiet = time.Second
)

// awaitDying gives agents that have lost their pane time to end. Those that stay
// are orphans.
func (p *Paw) awaitDying(ctx context.Context, f facts) (facts, error) {
	dying := p.dying(f)
	if len(dying) == 0 {
		return f, nil
	}
	dying = p.awaitEnd(ctx, f.session, dying, dyingQuiet)
	for _, a := range dying {
		p.say("%s: waiting for %s to end", a.record.Agent, processNamed(a.lock.PID()))
	}
	p.awaitEnd(ctx, f.session, dying, dyingGrace-dyingQuiet)
	return p.observe(ctx, f.session)
}

// awaitEnd polls until nothing of those agents runs on or grace is over, and
// returns those that do. One that was launched again is not waited for.
func (p *Paw) awaitEnd(ctx context.Context, s *session.Session, dying []agentFacts, grace time.Duration) []agentFacts {
	for end := time.Now().Add(grace); len(dying) > 0 && time.Now().Before(end) && ctx.Err() == nil; settle(ctx, tick) {
		processes := lookAtProcesses()
		dying = slices.DeleteFunc(dying, func(a agentFacts) bool {
			lock, err := p.probe(s.Name, a.record, processes)
			again := lock.Holder.Generation != a.lock.Holder.Generation
			return err == nil && (again || lock.State != session.LockHeld)
		})
	}
	return dying
}

// dying are the agents that run on without a pane.
func (p *Paw) dying(f facts) []agentFacts {
	if f.tmux == session.TmuxUnknown {
		return nil
	}
	var found []agentFacts
	for _, a := range f.agents {
		paneless := (a.pane == nil || a.pane.Dead) && !runsHeadless(a.lock)
		if paneless && a.lock.State == session.LockHeld {
			found = append(found, a)
		}
	}
	return found
}

// processNamed names the process that an agent runs on as, 0 for one that is not known.
func processNamed(pid int) string {
	if pid == 0 {
		return "something that it started"
	}
	return fmt.Sprintf("pid %d", pid)
}
