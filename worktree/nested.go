package worktree

import (
	"context"
	"path/filepath"

	"paw/config/disk"
	"paw/worktree/gitdir"
)

// ShownIn returns the checkout of another repository than own in which a folder lies and git lists what is in it as
// untracked, and the folder as a pattern of gitignore(5); "" for none.
func ShownIn(ctx context.Context, folder, own string) (around gitdir.Repository, pattern string) {
	at := folder
	for ; !disk.Exists(at) && at != filepath.Dir(at); at = filepath.Dir(at) {
	}
	around, err := gitdir.Discover(at)
	if err != nil || around.Worktree == "" || disk.SamePath(around.CommonDir, own) {
		return around, ""
	}
	below, err := filepath.Rel(around.Worktree, disk.Resolved(folder))
	if err != nil || below == "." || ignoredIn(ctx, around.Worktree, []string{below + "/x"})[below+"/x"] {
		return around, ""
	}
	return around, "/" + filepath.ToSlash(below) + "/"
}
