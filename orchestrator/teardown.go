package orchestrator

import (
	"context"
	"errors"
	"os"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/observe"
	"paw/orchestrator/queue"
	"paw/orchestrator/teardown"
	"paw/session"
	"paw/tmux"
)

// Remove ends agents and removes their worktrees; their tags stay, and their branches unless these
// have landed. It refuses as long as anything would be lost (docs/concepts.md), and of
// several agents removes all or none. It calls gone with each agent that it has removed.
func Remove(ctx context.Context, h *app.App, s *session.Session, names []string, o teardown.Options, gone func(*teardown.Removed)) (teardown.Removal, error) {
	if err := app.RequireAgents(s, names...); err != nil {
		return teardown.Removal{}, err
	}
	if err := h.RequireGit(ctx); err != nil {
		return teardown.Removal{}, err
	}
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return teardown.Removal{}, err
	}
	plan, err := teardown.PlanRemoval(ctx, h, s, names, o)
	if err != nil || o.DryRun {
		return plan, err
	}
	for i, name := range names {
		removed, err := plan.Apply(ctx, h, i)
		children.ClaimAfter(h, s.Name, name, 0, true)
		if err != nil {
			return plan, err
		}
		gone(removed)
	}
	tellStranded(h, s)
	return plan, nil
}

// tellStranded names a directory to go to, if the user's current directory was removed: no command
// works there.
func tellStranded(h *app.App, s *session.Session) {
	if _, err := os.Stat(h.Dir); errors.Is(err, os.ErrNotExist) {
		h.Notef("the folder that you stand in is removed; cd %s", errs.Quote(s.RepoPath))
	}
}

// Purge stops a session, removes all of its agents, and deletes the merged branches that paw made
// and the record. It refuses before any change when one agent cannot be removed.
func Purge(ctx context.Context, h *app.App, s *session.Session, o teardown.Options) (*teardown.Purged, error) {
	if err := h.RequireGit(ctx); err != nil {
		return nil, err
	}
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return nil, err
	}
	plan, err := teardown.PlanPurge(ctx, h, s, o)
	if err != nil || o.DryRun {
		return &teardown.Purged{Purge: plan}, err
	}
	if plan.Gone == "" {
		open := len(landing.CutShort(ctx, h, s)) > 0
		if err := finishMoves(ctx, h, s, false); err != nil { // uses the record, which the purge deletes
			return nil, err
		}
		if open { // what was finished has changed the record
			if s, err = h.Load(s.Name); err != nil {
				return nil, err
			}
			if plan, err = teardown.PlanPurge(ctx, h, s, o); err != nil {
				return nil, err
			}
		}
		if left := landing.CutShort(ctx, h, s); len(left) > 0 {
			return nil, errs.New(errs.Refused, "%s: %s was cut short, and could not be finished", s.Name, strings.Join(left, ", ")).Hint("paw recover %s", s.Name)
		}
	}
	_ = queue.HoldStopped(ctx, h, s.Name) // a queue that cannot be read begins nothing, and goes with the session
	purged, err := plan.Apply(ctx, h)
	tellStranded(h, s)
	return purged, err
}

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
	if len(o.Agents) == 0 { // hold the queue first, even if the stop fails: stopped agents must not be sent queued prompts
		noteQueue(h, s.Name, queue.HoldStopped(ctx, h, s.Name))
	}
	stopped, err := teardown.StopNow(ctx, h, s, o)
	if err == nil {
		nameQueued(h, stopped)
	}
	if err == nil && !stopped.Whole {
		for _, a := range stopped.Agents {
			children.ClaimAfter(h, s.Name, a.Agent, 0, false)
		}
	}
	return stopped, err
}

// noteQueue says that the queue of a session could not be held. What was asked for goes on: a queue
// that cannot be read begins nothing.
func noteQueue(h *app.App, sessionName string, err error) {
	if err == nil {
		return
	}
	lines := ""
	if e, ok := errors.AsType[*errs.Error](err); ok && len(e.Hints) > 0 {
		lines = ": " + strings.Join(e.Hints, ", ")
	}
	h.Notef("the queue of %s begins nothing: %v%s", sessionName, err, lines)
}

// nameQueued adds to a stop the prompts that are queued in the agents' CLIs, which drop them when
// they end.
func nameQueued(h *app.App, p *teardown.Stop) {
	for i := range p.Agents {
		name := p.Agents[i].Agent
		p.Agents[i].Queued = app.StillQueued(p.Session.Name, name, h.Texts().QueuedPrompts(p.Session.Name, name))
	}
}
