package worktree

import (
	"context"

	"paw/worktree/git"
)

// DeleteBranch deletes a branch that still points to the commit expect, when
// that is contained in into, and reports whether it did; a branch that is gone
// already counts as deleted. A branch that is checked out somewhere or has moved
// is refused with *ConflictError.
func (m Manager) DeleteBranch(ctx context.Context, branch, expect, into string) (bool, error) {
	if err := checkBranchName(branch); err != nil {
		return false, err
	}
	target, err := m.Head(ctx, into)
	if err != nil {
		return false, err
	}
	err = m.home().Run(ctx, "merge-base", "--is-ancestor", expect, target)
	if git.ExitCode(err) == 1 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	x, err := m.exclude(ctx)
	if err != nil {
		return false, err
	}
	defer x.release()
	found, err := m.Branches(ctx, []string{branch})
	if err != nil {
		return false, err
	}
	if found[branch] == "" {
		return true, nil
	}
	if found[branch] != expect {
		return false, conflict("", "", "branch %s: moved on to %s", branch, found[branch])
	}
	if holder := m.holder(ctx, branch); holder != "" {
		return false, conflict("", "", "branch %s: checked out at %s", branch, holder)
	}
	err = m.home().WithFile(x.file).Run(ctx, "update-ref", "-d", "refs/heads/"+branch, expect)
	return err == nil, err
}
