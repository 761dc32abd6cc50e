package worktree

import (
	"context"
	"slices"
	"strings"

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

// Reached finds the branch that has a commit to which a branch was to move: that one, whatever came after it or, when the
// branch is not there any more, another one, as after it was renamed. It is "" where none has the commit.
func (m Manager) Reached(ctx context.Context, branch, commit string) (string, error) {
	tip, err := m.Tip(ctx, branch)
	if err != nil {
		return "", err
	}
	if tip != "" {
		if there, err := m.Contains(ctx, tip, commit); !there || err != nil {
			return "", err
		}
		return branch, nil
	}
	for _, which := range []string{"--points-at=", "--contains="} {
		name, err := m.home().Line(ctx, "for-each-ref", "--count=1", which+commit, "--format=%(refname:lstrip=2)", "refs/heads")
		if name != "" || err != nil {
			return name, err
		}
	}
	return "", nil
}

// BranchesWithout are those of some branches that do not have a commit. One that is not there is not among them.
func (m Manager) BranchesWithout(ctx context.Context, commit string, branches []string) ([]string, error) {
	args := []string{"for-each-ref", "--format=%(refname)", "--no-contains=" + commit}
	for _, branch := range branches {
		args = append(args, "refs/heads/"+branch)
	}
	if len(branches) == 0 {
		return nil, nil
	}
	out, err := m.home().Output(ctx, args...)
	if err != nil {
		return nil, err
	}
	var found []string
	for ref := range strings.Lines(out) {
		if name := strings.TrimPrefix(strings.TrimSuffix(ref, "\n"), "refs/heads/"); slices.Contains(branches, name) {
			found = append(found, name)
		}
	}
	return found, nil
}

// RefsWith are the branches of this repository and of remotes and the tags, by their full names, that have a commit.
func (m Manager) RefsWith(ctx context.Context, commit string) ([]string, error) {
	out, err := m.home().Output(ctx, "for-each-ref", "--contains="+commit, "--format=%(refname)", "refs/heads/", "refs/remotes/", "refs/tags/")
	return strings.Fields(out), err
}
