package snapshot

import (
	"context"
	"path/filepath"
	"slices"

	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
)

// MovedFrom returns the commit that a worktree has checked out if its HEAD is at another one, head,
// since the branch was moved by a git that was not in the worktree; "" otherwise. Such a git writes
// into the reflog of the branch, not into that of the worktree's HEAD, and changes neither files nor
// index. A commit made in the worktree by a program that writes no reflog is in the index. An error,
// as of a commit that is gone, counts as not moved.
func MovedFrom(ctx context.Context, path, admin, head string) string {
	from := gitdir.LastHead(admin)
	if from == "" || head == "" || from == head || gitdir.Operation(admin) != "" {
		return ""
	}
	index := filepath.Join(admin, "index")
	changes, err := objects.Between(ctx, git.In(path), from, head)
	entries, indexErr := ListIndex(ctx, RepoWithIndex(path, index), index)
	if err != nil || indexErr != nil {
		return ""
	}
	has := map[string]string{}
	for _, e := range entries {
		has[e.Name] = objects.EntryOf(e.Mode, e.ID)
	}
	if !slices.ContainsFunc(changes, func(c objects.Change) bool { return has[c.Name] == c.OldEntry() }) {
		return ""
	}
	// git writes the reflog of a commit that is just being made before it moves the branch.
	if _, now := gitdir.Head(admin, &gitdir.Refs{CommonDir: gitdir.Common(admin)}); now != head || gitdir.LastHead(admin) != from {
		return ""
	}
	return from
}
