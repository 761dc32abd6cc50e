package landing

import (
	"context"
	"slices"

	"paw/orchestrator/app"
	"paw/session"
)

// Behind are the agents of a session whose branches do not have the tip of the branch that their work lands on.
func Behind(ctx context.Context, h *app.App, s *session.Session) ([]string, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	tip, err := m.BranchTip(ctx, s.Target)
	if err != nil || tip == "" {
		return nil, err
	}
	var branches []string
	for _, w := range s.Agents {
		branches = append(branches, w.Branch)
	}
	without, err := m.BranchesWithout(ctx, tip, branches)
	var names []string
	for _, w := range s.Agents {
		if slices.Contains(without, w.Branch) {
			names = append(names, w.Name)
		}
	}
	return names, err
}
