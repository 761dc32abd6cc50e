package worktree

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
)

// ownerPrefix begins the lock reason of every worktree that paw made.
const ownerPrefix = "paw "

// Removal is what Remove did.
type Removal struct {
	Trash  string   // where the directory is kept, "" when it is deleted in the background
	Aside  []string // what is kept with it that git does not have, as in Dirt
	Rescue string   // refs that keep what only the git directory led to, "" for none
}

// Remove takes the worktree at path away: its directory and then its git
// directory are renamed into the trash folder.
//
// It is refused with *ConflictError for the main worktree, for a path that is
// not a registered worktree of this repository, for one without paw's lock, and
// for one with a file system mounted in it. With keep the trash stays for good, and
// commits that only this worktree knows are kept under refs/paw/…/rescue. Without
// keep the worktree must be clean by Inspect; otherwise this is refused with
// *ConflictError, too. The trash is deleted in the background when it holds nothing
// that git does not have and nothing in it has changed since it was looked at. The
// trash of a worktree that is half made always stays.
//
// A path that is neither there nor registered is no error.
func (m Manager) Remove(ctx context.Context, path string, keep bool) (Removal, error) {
	if e, err := m.removable(ctx, path); e == nil {
		return Removal{}, err
	}
	if keep || !exists(path) || m.HalfMade(path) {
		return m.removeKept(ctx, path)
	}
	return m.removeClean(ctx, path)
}

// removeKept moves a worktree into the trash as it is, for good.
func (m Manager) removeKept(ctx context.Context, path string) (Removal, error) {
	x, err := m.exclude(ctx)
	if err != nil {
		return Removal{}, err
	}
	defer x.release()
	e, err := m.removable(ctx, path)
	if e == nil {
		return Removal{}, err
	}
	refs, whole, err := m.rescue(ctx, e.AdminDir, e.LockReason)
	if err != nil {
		return Removal{}, err
	}
	directory, registration, err := m.throwAway(*e, path)
	if err != nil {
		return Removal{Trash: directory, Rescue: refs}, err
	}
	m.dropFolders(path)
	if stores, err := storesIn(registration); directory == "" && whole && err == nil && len(stores) == 0 {
		m.doom(ctx, registration)
		return Removal{Rescue: refs}, nil
	}
	return Removal{Trash: firstOf(directory, registration), Rescue: refs}, nil
}

// removeClean moves a worktree into the trash in which everything is git's, and
// has it deleted when that is still so.
func (m Manager) removeClean(ctx context.Context, path string) (Removal, error) {
	before, err := imprint(path)
	if err != nil {
		return Removal{}, err
	}
	dirt, err := m.Inspect(ctx, path)
	if err != nil {
		return Removal{}, err
	}
	if !dirt.Clean() {
		return Removal{}, conflict("", "", "%s: not removed: %s", path, dirt.Summary())
	}
	x, err := m.exclude(ctx)
	if err != nil {
		return Removal{}, err
	}
	defer x.release()
	e, err := m.removable(ctx, path) // again, now that nothing can change
	if e == nil {
		return Removal{}, err
	}
	if now, err := imprint(path); err != nil || now != before {
		return Removal{}, errors.Join(err, conflict("", "", "%s: not removed: something in it has just changed", path))
	}
	directory, registration, err := m.throwAway(*e, path)
	if err != nil {
		return Removal{Trash: directory}, err
	}
	m.dropFolders(path)
	if now, err := imprint(directory); len(dirt.Aside) > 0 || err != nil || now != before {
		return Removal{Trash: directory, Aside: dirt.Aside}, nil
	}
	m.doom(ctx, directory, registration)
	return Removal{}, nil
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
func (m Manager) throwAway(e Entry, path string) (directory, registration string, err error) {
	name := filepath.Base(e.AdminDir)
	if directory, err = m.toTrash(path, name); err != nil {
		return "", "", err
	}
	registration, err = m.toTrash(e.AdminDir, name+"-registration")
	return directory, registration, err
}
