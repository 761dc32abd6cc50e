package orchestrator

import (
	"context"
	"maps"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/worktree"
)

// Branches are the names of the local branches of the repository one stands in, none outside of one.
func Branches(ctx context.Context, h *app.App) []string {
	repository, err := worktree.Discover(h.Dir)
	if err != nil {
		return nil
	}
	refs, err := h.Manager(repository).Refs(ctx, "refs/heads/")
	if err != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(refs))
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "refs/heads/")
	}
	return names
}
