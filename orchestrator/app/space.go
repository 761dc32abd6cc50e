package app

import (
	"context"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// RequireSpace refuses new worktrees whose copied files would leave less free disk space than
// worktree.min_free.
func (h *App) RequireSpace(ctx context.Context, m worktree.Manager, draft *session.Session) error {
	least := h.Config.Worktree.MinFree
	if least == 0 || len(draft.Agents) == 0 {
		return nil
	}
	w := &draft.Agents[0]
	space, err := m.Setups().CopySpace(ctx, w.WorktreePath, h.Setup(draft, w, nil), len(draft.Agents), int64(least)<<20)
	if err != nil {
		return err
	}
	all := space.Copy * int64(len(draft.Agents))
	if all == 0 || space.Free-all >= int64(least)<<20 {
		return nil
	}
	return errs.New(errs.Refused, "%s: what worktree.copy names takes %d MiB for %s, and of %d MiB that are free %d have to stay so (worktree.min_free)",
		space.At, all>>20, errs.Counted(len(draft.Agents), "agent"), space.Free>>20, least).Hint("df -h %s", errs.Quote(space.At))
}
