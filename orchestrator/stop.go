package orchestrator

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/queue"
	"paw/orchestrator/teardown"
	"paw/session"
	"paw/tmux"
)

// Stop ends the agents of a session, or the named agents and their children. Branches, worktrees,
// tags and the record stay. Stopping a stopped session changes nothing.
func Stop(ctx context.Context, h *app.App, s *session.Session, o teardown.StopOptions) (*teardown.Stop, error) {
	if err := app.RequireAgents(s, o.Agents...); err != nil {
		return nil, err
	}
	if o.DryRun || len(o.Agents) == 0 && s.Status == session.StatusStopped {
		f, err := observe.Observe(ctx, h, s)
		if err != nil {
			return nil, err
		}
		if p, err := teardown.PlanStop(f, o); o.DryRun || err == nil && p.Already {
			nameQueued(h, &p)
			return &p, err
		}
	}
	if none := app.NoTmux(s.Name, tmux.Installed()); none != nil {
		return nil, none
	}
	if len(o.Agents) == 0 { // hold the queues first, even if the stop fails: stopped agents must not be sent queued prompts
		if err := queue.HoldAll(ctx, h, s.Name, "stop"); err != nil {
			return nil, err
		}
	}
	stopped, err := teardown.StopNow(ctx, h, s, o)
	if err == nil {
		nameQueued(h, stopped)
	}
	if err == nil && !stopped.Whole {
		for _, a := range stopped.Agents {
			children.ClaimAfter(h, s.Name, a.Agent, live.Claim{Leaving: a.Agent})
		}
	}
	return stopped, err
}

// nameQueued adds to a stop the prompts that are queued in the agents' CLIs, which drop them when
// they end.
func nameQueued(h *app.App, p *teardown.Stop) {
	for i := range p.Agents {
		name := p.Agents[i].Agent
		p.Agents[i].Queued = app.StillQueued(p.Session.Name, name, h.Texts().QueuedPrompts(p.Session.Name, name))
	}
}
