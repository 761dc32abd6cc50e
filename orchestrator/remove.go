package orchestrator

import (
	"context"
	"errors"
	"os"

	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/teardown"
	"paw/session"
)

// Remove ends agents and removes their worktrees; their tags stay, and their branches unless these have landed. It refuses
// as long as anything would be lost (docs/never-lose-work.md), of several agents all or none. gone is told of each that has
// gone.
func Remove(ctx context.Context, h *app.App, s *session.Session, names []string, o teardown.Options, gone func(*teardown.Removed)) (teardown.Removal, error) {
	if err := app.RequireAgents(s, names...); err != nil {
		return teardown.Removal{}, err
	}
	if err := h.RequireGit(ctx); err != nil {
		return teardown.Removal{}, err
	}
	plan, err := teardown.PlanRemoval(ctx, h, s, names, o)
	if err != nil || o.DryRun {
		return plan, err
	}
	for i, name := range names {
		removed, err := plan.Apply(ctx, h, i)
		children.ClaimAfter(h, s.Name, name, live.Claim{})
		if err != nil {
			return plan, err
		}
		gone(removed)
	}
	tellStranded(h, s)
	return plan, nil
}

// tellStranded says where to go to who stands in a folder that was removed: no command works there any more.
func tellStranded(h *app.App, s *session.Session) {
	if _, err := os.Stat(h.Dir); errors.Is(err, os.ErrNotExist) {
		h.Notef("the folder that you stand in is removed; cd %s", errs.Quote(s.RepoPath))
	}
}
