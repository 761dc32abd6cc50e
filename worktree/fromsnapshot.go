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
	changed, err := git.In(path).Output(ctx, "-c", "core.fsmonitor=false", "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=all")
	if err != nil {
		return false, err
	}
	if changed != "" {
		if rescued, err = m.rescueUnlessSame(ctx, path, snapshot, rescueRef); err != nil {
			return rescued, err
		}
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

// rescueUnlessSame keeps the worktree's files under ref, unless they equal the snapshot.
func (m *Moves) rescueUnlessSame(ctx context.Context, path, snapshot, ref string) (bool, error) {
	now, err := m.snapshots.Take(ctx, path, ref, "paw: before the files of "+snapshot+" were put back")
	if err != nil {
		return false, err
	}
	same, err := m.objects.SameTree(ctx, now.Commit, snapshot)
	if err != nil || !same {
		return true, err
	}
	return false, m.refs.Delete(ctx, map[string]string{ref: now.Commit})
}

// restoredMark exists once a worktree has got the files of its snapshot.
func restoredMark(admin string) string { return filepath.Join(admin, "paw-restored") }
