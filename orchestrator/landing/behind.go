package landing

import (
	"context"
	"maps"
	"slices"

	"paw/orchestrator/app"
	"paw/session"
	"paw/worktree"
)

// Behind returns the agents of a session whose branches lack the tip of the session's target.
// landed is the commit that a landing has just made, "" for none: if the tip is that commit, only
// branches at the same commit have it.
func Behind(ctx context.Context, h *app.App, s *session.Session, landed string) ([]string, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	tip, err := m.Refs().BranchTip(ctx, s.Target)
	if err != nil || tip == "" {
		return nil, err
	}
	var branches []string
	for _, w := range s.Agents {
		branches = append(branches, w.Branch)
	}
	var without []string
	if tip == landed {
		without, err = branchesNotAt(ctx, m, tip, branches)
	} else {
		without, err = m.Refs().BranchesWithout(ctx, tip, branches)
	}
	var names []string
	for _, w := range s.Agents {
		if slices.Contains(without, w.Branch) {
			names = append(names, w.Name)
		}
	}
	return names, err
}

// branchesNotAt returns the existing branches that are at another commit.
func branchesNotAt(ctx context.Context, m worktree.Manager, commit string, branches []string) ([]string, error) {
	tips, err := m.Refs().Branches(ctx, branches)
	maps.DeleteFunc(tips, func(_, tip string) bool { return tip == commit })
	return slices.Collect(maps.Keys(tips)), err
}
