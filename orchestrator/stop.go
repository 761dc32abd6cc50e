package orchestrator

import (
	"context"

	"paw/orchestrator/ending"
	"paw/orchestrator/family"
	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/live"
	"paw/session"
)

// Stop ends the agents of a session, or only the named ones with those that they
// have started. Branches, worktrees, tags and the record stay. Stopping twice is
// stopping once.
func Stop(ctx context.Context, h *home.Home, s *session.Session, o ending.StopOptions) (*ending.Stop, error) {
	if err := home.RequireAgents(s, o.Agents...); err != nil {
		return nil, err
	}
	if o.DryRun || len(o.Agents) == 0 && s.Status == session.StatusStopped {
		f, err := fleet.Observe(ctx, h, s)
		if err != nil {
			return nil, err
		}
		if p, err := ending.PlanStop(f, o); o.DryRun || err == nil && p.Already {
			return &p, err
		}
	}
	stopped, err := ending.StopNow(ctx, h, s, o)
	if err == nil && !stopped.Whole {
		for _, a := range stopped.Agents {
			family.ClaimAfter(h, s.Name, a.Agent, live.Claim{Leaving: a.Agent})
		}
	}
	return stopped, err
}
