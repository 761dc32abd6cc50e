package orchestrator

import (
	"context"
	"strings"

	"paw/orchestrator/ending"
	"paw/orchestrator/fault"
	"paw/orchestrator/home"
	"paw/orchestrator/landing"
	"paw/session"
)

// Purge ends a session for good: stop, remove every agent, delete the merged
// branches that paw made, and the record. It refuses as a whole, before it
// changed anything, when one agent cannot be removed.
func Purge(ctx context.Context, h *home.Home, s *session.Session, o ending.Options) (*ending.Purged, error) {
	if err := h.RequireGit(ctx); err != nil {
		return nil, err
	}
	plan, err := ending.PlanPurge(ctx, h, s, o)
	if err != nil || o.DryRun {
		return &ending.Purged{Purge: plan}, err
	}
	if plan.Gone == "" {
		if err := finishMoves(ctx, h, s, false); err != nil { // its record says how
			return nil, err
		}
		if left := landing.CutShort(ctx, h, s); len(left) > 0 {
			return nil, fault.New(fault.Refused, "%s: %s was cut short, and could not be finished", s.Name, strings.Join(left, ", ")).Hint("paw recover %s", s.Name)
		}
	}
	purged, err := plan.Apply(ctx, h)
	tellStranded(h, s)
	return purged, err
}
