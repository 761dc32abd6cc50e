package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// Release takes paw's lock off the worktree of p, which stays as it is, whatever
// has become of it, and is the user's from then on. Where a repository of its own
// has taken its place, the registration, which would hold the branch for ever,
// goes into the trash folder. One that is not locked, not paw's or gone is no error.
func (m Manager) Release(ctx context.Context, p Plan) error {
	return m.eachAt(ctx, p, func(e Entry) error {
		if !ownedBy(e, p) {
			return nil
		}
		if info, err := os.Lstat(filepath.Join(p.Path, ".git")); err == nil && info.IsDir() {
			if _, _, err := m.rescue(ctx, e.AdminDir, p.Owner); err != nil {
				return err
			}
			_, err := m.toTrash(e.AdminDir, filepath.Base(e.AdminDir)+"-registration")
			return err
		}
		if err := os.WriteFile(releasedMark(e.AdminDir), nil, 0o666); err != nil {
			return err
		}
		// What `git worktree unlock` does, which wants to find the way back from the directory.
		return removeFile(filepath.Join(e.AdminDir, "locked"))
	})
}

// Lock locks the worktree of p again when it was unlocked, and reports whether it
// was: without its lock `git worktree prune` drops the registration of a worktree
// on a disk that is not there.
func (m Manager) Lock(ctx context.Context, p Plan) (locked bool, err error) {
	err = m.eachAt(ctx, p, func(e Entry) error {
		if made := m.madeFor(e, p) == nil; e.Locked || !made {
			return nil
		}
		locked = true
		return lockFor(e, p)
	})
	return locked, err
}

// lockFor does what `git worktree lock` does.
func lockFor(e Entry, p Plan) error {
	if err := os.WriteFile(filepath.Join(e.AdminDir, "locked"), []byte(p.Owner+"\n"), 0o666); err != nil {
		return err
	}
	return removeFile(releasedMark(e.AdminDir))
}

// eachAt calls do for the registrations at the path of p, under the repository lock.
func (m Manager) eachAt(ctx context.Context, p Plan, do func(Entry) error) error {
	return m.eachLinked(ctx, func(e Entry) error {
		if e.Path == "" || !samePath(e.Path, p.Path) {
			return nil
		}
		return do(e)
	})
}

// eachLinked calls do for the registrations of all linked worktrees, under the repository lock.
func (m Manager) eachLinked(ctx context.Context, do func(Entry) error) error {
	x, err := m.exclude(ctx)
	if err != nil {
		return err
	}
	defer x.release()
	entries, err := m.List(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries[1:] {
		err = errors.Join(err, do(e))
	}
	return err
}
