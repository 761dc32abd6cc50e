package orchestrator

import (
	"context"
	"io"

	"paw/orchestrator/app"
	"paw/worktree"
)

// StartPager starts the user's pager by git's rules for the place the user stands in; nil where there is to be none.
func StartPager(ctx context.Context, h *app.App, env []string, terminal, errw io.Writer) *worktree.Pager {
	command := worktree.PagerCommand(ctx, h.Dir)
	if command == "" {
		return nil
	}
	pager, err := worktree.StartPager(context.WithoutCancel(ctx), command, env, terminal, errw)
	if err != nil {
		return nil
	}
	return pager
}
