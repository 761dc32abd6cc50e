package landing

import (
	"context"
	"slices"

	"paw/session"
	"paw/worktree"
)

// Safe is the state of an agent that a branch of the user's has, as a commit that has all of the agent's commits of then
// before it: that of its last landing, or one that was pushed and merged there; "" for none.
func Safe(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree) string {
	if last := s.LastLanding(w.TurnSession); last != nil && has(ctx, m, last.Target, last.After) {
		return last.State
	}
	for _, commit := range slices.Backward(w.Pushed) {
		if s.Target != "" && has(ctx, m, s.Target, commit) {
			return commit
		}
	}
	return ""
}

// has reports whether a branch is known to have a commit.
func has(ctx context.Context, m worktree.Manager, branch, commit string) bool {
	tip, err := m.BranchTip(ctx, branch)
	if err != nil || tip == "" {
		return false
	}
	there, err := m.Contains(ctx, tip, commit)
	return err == nil && there
}
