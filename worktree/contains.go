package worktree

import (
	"context"

	"paw/worktree/git"
)

// Contains reports whether a commit is another one, by their ids, or came before it. One that is not there any more did not.
func (m Manager) Contains(ctx context.Context, tip, commit string) (bool, error) {
	there, err := m.contains(ctx, tip, commit)
	if git.ExitCode(err) == 128 && vanished(err) {
		return false, nil
	}
	return there, err
}

// contains is Contains for commits that have to be there.
func (m Manager) contains(ctx context.Context, tip, commit string) (bool, error) {
	if tip == commit {
		return true, nil
	}
	err := m.home().Run(ctx, "merge-base", "--is-ancestor", commit, tip)
	if git.ExitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}
