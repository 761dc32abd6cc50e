package worktree

import (
	"context"
	"os"
	"path/filepath"
)

// FromSnapshot puts the files of a snapshot into the new worktree at path, as
// changes that are not committed: HEAD and index stay, files that HEAD does not
// have are untracked, files that the snapshot does not have are gone. It runs once
// in the life of a worktree; repeated, it changes nothing. When an earlier call was
// cut short, what is there then is kept under rescueRef first, and rescued tells so.
//
// Submodules stay as the worktree has them.
func (m Manager) FromSnapshot(ctx context.Context, path, snapshot, rescueRef string) (rescued bool, err error) {
	admin, err := verified(path, m.Repository.CommonDir, "")
	if err != nil {
		return false, err
	}
	if exists(restoredMark(admin)) {
		return false, nil
	}
	changed, err := in(path).Output(ctx, "-c", "core.fsmonitor=false", "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=all")
	if err != nil {
		return false, err
	}
	if changed != "" {
		if rescued, err = m.rescueUnlessSame(ctx, path, snapshot, rescueRef); err != nil {
			return rescued, err
		}
	}
	// Neither hooks, which belong to a checkout, nor the user's wish to let git
	// change submodules, too.
	err = in(path).Run(ctx, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
		"restore", "--quiet", "--source="+snapshot, "--worktree", "--no-overlay", "--no-recurse-submodules", "--", ":/")
	if err != nil {
		return rescued, err
	}
	return rescued, os.WriteFile(restoredMark(admin), nil, 0o666)
}

// rescueUnlessSame keeps the files of the worktree under ref, unless they are
// those of the snapshot.
func (m Manager) rescueUnlessSame(ctx context.Context, path, snapshot, ref string) (bool, error) {
	now, err := m.Snapshot(ctx, path, ref, "paw: before the files of "+snapshot+" were put back")
	if err != nil {
		return false, err
	}
	same, err := m.sameTree(ctx, now.Commit, snapshot)
	if err != nil || !same {
		return true, err
	}
	return false, m.DeleteRefs(ctx, map[string]string{ref: now.Commit})
}

func (m Manager) sameTree(ctx context.Context, a, b string) (bool, error) {
	one, err := m.TreeOf(ctx, a)
	if err != nil {
		return false, err
	}
	other, err := m.TreeOf(ctx, b)
	return one == other, err
}

// restoredMark exists once a worktree has the files of its snapshot.
func restoredMark(admin string) string { return filepath.Join(admin, "paw-restored") }
