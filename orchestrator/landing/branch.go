package landing

import (
	"cmp"
	"context"
	"errors"

	"paw/orchestrator/errs"
	"paw/session/turn"
	"paw/worktree"
)

// onItsBranch refuses an agent whose worktree is not on the agent's branch, or whose branch is
// gone: its commits are elsewhere, and its files may be other work. The hints keep these commits in
// the worktree, which a switch back would not.
func (src *source) onItsBranch(ctx context.Context, w work) error {
	path, branch := w.agent.WorktreePath, w.agent.Branch
	tip, err := w.m.Refs().BranchTip(ctx, branch)
	if err != nil {
		return err
	}
	err = worktree.Verify(path, w.session.GitCommonDir, branch)
	var other *worktree.MismatchError
	switch {
	case errors.As(err, &other) && other.What == "branch":
		refused := errs.New(errs.Refused, "%s: its worktree is on %s, and not on its branch %s", w.agent.Name, cmp.Or(other.Got, "no branch"), branch)
		return src.elsewhere(ctx, w, refused, tip)
	case err != nil:
		return errs.New(errs.Refused, "%s: %w", w.agent.Name, err).Hint("paw recover %s", w.session.Name)
	case tip == "":
		return errs.New(errs.Refused, "%s: its branch %s is gone", w.agent.Name, branch).Hint("git branch %s %s", errs.Quote(branch), src.lastTag(w))
	}
	return nil
}

// elsewhere adds hints to the error about a worktree on another branch: the last turn, and a
// command that moves the agent's branch to the worktree's commit if no commit of the branch is lost
// by that.
func (src *source) elsewhere(ctx context.Context, w work, refused *errs.Error, tip string) error {
	if number := src.lastEnd(); number > 0 && src.command != "" {
		refused = refused.Hint("paw %s %s@%d", src.command, w.name(), number)
	}
	head, err := w.m.Refs().WorktreeHead(ctx, w.agent.WorktreePath)
	if err != nil {
		return refused // the worktree has no commit to move the branch to
	}
	forward := tip == ""
	if !forward {
		if forward, err = w.m.Objects().Contains(ctx, head, tip); err != nil {
			return err
		}
	}
	path, branch := errs.Quote(w.agent.WorktreePath), errs.Quote(w.agent.Branch)
	if !forward {
		return refused.Hint("git -C %s log --oneline --left-right %s...HEAD", path, branch)
	}
	return refused.Hint("git -C %s switch -C %s", path, branch)
}

// lastTag returns the tag of the agent's last finished turn, or of its start.
func (src *source) lastTag(w work) string {
	n := 0
	for _, t := range src.turns {
		if t.Tag != "" {
			n = t.Number
		}
	}
	return turn.TagName(w.agent.TurnSession, n)
}
