package landing

import (
	"context"

	"paw/session"
	"paw/worktree"
)

// Safe is the state of an agent that its last landing has brought into a branch, as a commit that has all of the agent's
// commits of then before it; "" where nothing has landed, or where the branch has it no more.
func Safe(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree) string {
	last := s.LastLanding(w.TurnSession)
	if last == nil {
		return ""
	}
	tip, err := m.BranchTip(ctx, last.Target)
	if err != nil || tip == "" {
		return ""
	}
	if there, err := m.Contains(ctx, tip, last.After); err != nil || !there {
		return ""
	}
	return last.State
}
