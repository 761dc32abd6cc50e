package worktree

import (
	"context"
	"os"
	"path/filepath"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// FromSnapshot puts the files of a snapshot into the new worktree at path, as uncommitted changes:
// HEAD and index stay; files that HEAD does not have are untracked; files that the snapshot does
// not have are removed. FromSnapshot acts once in the life of a worktree, and later calls change
// nothing. If an earlier call was interrupted, the files it has left are kept under rescueRef
// first, and rescued is true.
//
// Submodules stay as they are in the worktree.
func (m *Moves) FromSnapshot(ctx context.Context, path, snapshot, rescueRef string) (rescued bool, err error) {
	admin, err := gitdir.Linked(path, m.Repository.CommonDir, "")
	if err != nil {
		return false, err
	}
	if disk.Exists(restoredMark(admin)) {
		return false, nil
	}
	now, err := m.snapshots.Take(ctx, path, "", "paw: before the files of "+snapshot+" were put back")
	if err == nil && now.Head != "" { // not clean
		var same bool
		if same, err = m.objects.SameTree(ctx, now.Commit, snapshot); err == nil && !same {
			rescued, err = true, m.refs.Keep(ctx, now.Commit, rescueRef)
		}
	}
	if err != nil {
		return rescued, err
	}
	// Hooks belong to a checkout and must not run, and submodules must not change even if the user
	// has told git to change them.
	err = git.In(path).Run(ctx, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
		"restore", "--quiet", "--source="+snapshot, "--worktree", "--no-overlay", "--no-recurse-submodules", "--", ":/")
	if err != nil {
		return rescued, err
	}
	return rescued, os.WriteFile(restoredMark(admin), nil, 0o666)
}

// restoredMark exists once a worktree has got the files of its snapshot.
func restoredMark(admin string) string { return filepath.Join(admin, "paw-restored") }
