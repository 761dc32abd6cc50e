package worktree

import (
	"context"
	"path/filepath"
	"strings"
)

// ownerPrefix begins the lock reason of every worktree that paw made.
const ownerPrefix = "paw "

// Remove takes the worktree at path away: its directory and then its git
// directory are renamed into the trash folder, which is returned.
//
// It is refused with *ConflictError for the main worktree, for a path that is
// not a registered worktree of this repository, and for one without paw's lock.
// With keep the trash stays for good, and commits that only this worktree knows
// are kept under refs/paw/…/rescue. Without keep the trash is deleted in the
// background, so the worktree must be clean by Inspect; otherwise this is
// refused with *ConflictError, too. The trash of a worktree that is half made
// always stays.
//
// A path that is neither there nor registered is no error.
func (m Manager) Remove(ctx context.Context, path string, keep bool) (trash string, err error) {
	if e, err := m.removable(ctx, path); e == nil {
		return "", err
	}
	keep = keep || m.HalfMade(path)
	clean := !keep && exists(path)
	if clean {
		dirt, err := m.Inspect(ctx, path)
		if err != nil {
			return "", err
		}
		if !dirt.Clean() {
			return "", conflict("", "", "%s: not removed: %s", path, dirt.Summary())
		}
	}
	x, err := m.exclude(ctx)
	if err != nil {
		return "", err
	}
	defer x.release()
	e, err := m.removable(ctx, path) // again, now that nothing can change
	if e == nil {
		return "", err
	}
	if !clean {
		if _, err := m.rescue(ctx, e.AdminDir, e.LockReason); err != nil {
			return "", err
		}
	}
	trash, err = m.throwAway(*e, path, keep)
	if err != nil {
		return "", err
	}
	m.dropFolders(path)
	sweep(ctx, m.trashDir(), filepath.Dir(filepath.Dir(trash)))
	return trash, nil
}

// HalfMade reports whether the worktree at path is one that Create left before
// its checkout was complete, so that nothing has run in it.
func (m Manager) HalfMade(path string) bool {
	admin, err := verified(path, m.Repository.CommonDir, "")
	return err == nil && !exists(filledMark(admin))
}

// removable returns the registration of a worktree that paw may remove, nil
// without an error when there is nothing at path any more.
func (m Manager) removable(ctx context.Context, path string) (*Entry, error) {
	entries, err := m.List(ctx)
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		if e.Path == "" || !samePath(e.Path, path) {
			continue
		}
		switch {
		case i == 0:
			return nil, conflict("", "", "%s: the main worktree is never removed", path)
		case !e.Locked || !strings.HasPrefix(e.LockReason, ownerPrefix):
			return nil, conflict("", "", "%s: not a worktree that paw made", path)
		case exists(path):
			if err := Verify(path, m.Repository.CommonDir, ""); err != nil {
				return nil, err
			}
		}
		return &entries[i], nil
	}
	if !exists(path) {
		return nil, nil
	}
	return nil, conflict("", "", "%s: not a worktree of this repository", path)
}

// throwAway moves the directory first: a registration without a directory can be
// removed again, a directory without a registration would look foreign.
func (m Manager) throwAway(e Entry, path string, keep bool) (string, error) {
	name := filepath.Base(e.AdminDir)
	suffix := ""
	if !keep {
		suffix = doomed
	}
	trash, err := m.toTrash(path, name, suffix)
	if err != nil {
		return "", err
	}
	registration, err := m.toTrash(e.AdminDir, name+"-registration", suffix)
	if trash == "" {
		trash = registration
	}
	return trash, err
}
