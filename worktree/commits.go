package worktree

import (
	"context"

	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// LastHeadIn returns the last commit in the reflog of HEAD of the linked worktree at path, "" for
// none. there is false if no worktree is at path.
func (r Refs) LastHeadIn(path string) (last string, there bool) {
	admin, err := gitdir.Linked(path, r.Repository.CommonDir, "")
	if err != nil {
		return "", false
	}
	return gitdir.LastHead(admin), true
}

// WorktreeHead returns the commit of HEAD of the worktree at path, and starts git only if the files
// of the ref store do not suffice.
func (r Refs) WorktreeHead(ctx context.Context, path string) (string, error) {
	admin, err := gitdir.Linked(path, r.Repository.CommonDir, "")
	if err != nil {
		return "", err
	}
	if head := r.headOf(admin); head != "" {
		return head, nil
	}
	return git.In(path).Line(ctx, "rev-parse", "--verify", "HEAD^{commit}")
}
