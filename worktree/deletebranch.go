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
	if merged, err := m.contains(ctx, into, expect); !merged || err != nil {
		return false, err
	}
	x, err := m.exclude(ctx)
	if err != nil {
		return false, err
	}
	defer x.release()
	tip, err := m.Tip(ctx, branch)
	if err != nil {
		return false, err
	}
	if tip == "" {
		return true, nil
	}
	if tip != expect {
		return false, conflict("", "", "branch %s: moved on to %s", branch, tip)
	}
	if holder := m.holder(ctx, branch); holder != "" {
		return false, conflict("", "", "branch %s: checked out at %s", branch, holder)
	}
	err = m.home().WithFile(x.file).Run(ctx, "update-ref", "-d", "refs/heads/"+branch, expect)
	return err == nil, err
}

// Contains reports whether a commit is another one, by their ids, or came before it. One that is not there any more did not.
func (m Manager) Contains(ctx context.Context, tip, commit string) (bool, error) {
	there, err := m.contains(ctx, tip, commit)
	if git.ExitCode(err) == 128 && vanished(err) {
		return false, nil
	}
	return there, err
}

// contains reports whether a commit is one of into, which is a commit id or what Head takes, or came before it.
func (m Manager) contains(ctx context.Context, into, commit string) (bool, error) {
	if !isOID(into) {
		var err error
		if into, err = m.Head(ctx, into); err != nil {
			return false, err
		}
	}
	if into == commit {
		return true, nil
	}
	err := m.home().Run(ctx, "merge-base", "--is-ancestor", commit, into)
	if git.ExitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// Tip is the commit of a branch, "" when there is none of exactly this name. It starts git only where the files of the
// ref store do not tell.
func (m Manager) Tip(ctx context.Context, branch string) (string, error) {
	files, err := refsInFiles(m.Repository.CommonDir)
	if err != nil {
		return "", err
	}
	cfg, err := readCore(m.Repository.CommonDir)
	if err != nil {
		return "", err
	}
	if files && !cfg.ignoreCase {
		return (&refReader{commonDir: m.Repository.CommonDir}).resolve("refs/heads/" + branch), nil
	}
	tips, err := m.Branches(ctx, []string{branch})
	return tips[branch], err
}
