package orchestrator

import (
	"context"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/teardown"
	"paw/session"
)

// Purge ends a session for good: stop, remove every agent, delete the merged
// branches that paw made, and the record. It refuses as a whole, before it
// changed anything, when one agent cannot be removed.
func Purge(ctx context.Context, h *app.App, s *session.Session, o teardown.Options) (*teardown.Purged, error) {
	if err := h.RequireGit(ctx); err != nil {
		return nil, err
	}
	plan, err := teardown.PlanPurge(ctx, h, s, o)
	if err != nil || o.DryRun {
		return &teardown.Purged{Purge: plan}, err
	}
	if plan.Gone == "" {
		if err := finishMoves(ctx, h, s, false); err != nil { // its record says how
			return nil, err
		}
		if left := landing.CutShort(ctx, h, s); len(left) > 0 {
			return nil, errs.New(errs.Refused, "%s: %s was cut short, and could not be finished", s.Name, strings.Join(left, ", ")).Hint("paw recover %s", s.Name)
		}
	}
	purged, err := plan.Apply(ctx, h)
	tellStranded(h, s)
	return purged, err
}
