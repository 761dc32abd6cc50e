package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Removal says what Remove has done.
type Removal struct {
	Trash  string   // where the directory is kept, "" if it is deleted in the background
	Aside  []string // contents of Trash that git does not have, see Dirt.Aside
	Rescue string   // refs that keep what only the worktree's git directory led to, "" for none
}

// Remove removes the clean worktree of p: it moves the directory, and then its git directory, to
// the trash folder. An earlier See is used if nothing has changed since; otherwise the worktree is
// inspected now.
//
// The error is a *ConflictError for the main worktree, for a path that is not a registered worktree
// of this repository, for a worktree that was not made for p, that has a file system mounted in it,
// or that is not clean by See. The trash is deleted in the background if it holds nothing that git
// does not have, and nothing in it has changed since the inspection. The trash of a half-made
// worktree is always kept.
//
// A worktree that is neither there nor registered is no error. Nor is one of another session, which
// stays.
func (m *Manager) Remove(ctx context.Context, p Plan, seen Seen) (Removal, error) {
	if !seen.lasts {
		if e, err := m.removable(ctx, p); e == nil && (err != nil || disk.Exists(p.Path)) {
			return Removal{}, err
		}
	}
	if !disk.Exists(p.Path) || m.HalfMade(p.Path) {
		return m.RemoveKept(ctx, p)
	}
	earlier := m.sameGitDir(p, seen)
	if !earlier {
		var err error
		if seen, err = m.See(ctx, p); err != nil {
			return Removal{}, err
		}
	}
	if err := seen.Refusal(p); err != nil {
		return Removal{}, err
	}
	done, changed, err := m.removeAsSeen(ctx, p, seen)
	switch {
	case err == nil && changed && earlier:
		return m.Remove(ctx, p, Seen{})
	case err == nil && changed:
		return Removal{}, git.Conflict("", "", "%s: something in it has just changed", p.Path)
	}
	return done, err
}

// Removable returns the error with which Remove would refuse a worktree of any content: a
// *ConflictError or a *MismatchError. there says whether there is anything to remove.
func (m *Manager) Removable(ctx context.Context, p Plan) (there bool, err error) {
	e, err := m.removable(ctx, p)
	if e == nil {
		return false, err
	}
	return true, refuseMounts(p.Path)
}

// RemoveKept moves a worktree, whatever its content, to the trash, where it stays. Commits that
// only this worktree knows are kept under refs/paw/…/rescue. RemoveKept refuses the same worktrees
// as Remove.
func (m *Manager) RemoveKept(ctx context.Context, p Plan) (Removal, error) {
	x, err := m.Registry().exclude(ctx)
	if err != nil {
		return Removal{}, err
	}
	defer x.release()
	e, err := m.removable(ctx, p)
	if e == nil {
		if err == nil {
			dropFolders(p.Path)
		}
		return Removal{}, err
	}
	refs, whole, err := m.rescues().keep(ctx, e.AdminDir, p.Owner)
	if err != nil {
		return Removal{}, err
	}
	directory, registration, err := m.Trash().throwAway(*e, p.Path)
	if err != nil {
		return Removal{Trash: directory, Rescue: refs}, err
	}
	dropFolders(p.Path)
	if stores, err := storesIn(registration); directory == "" && whole && err == nil && len(stores) == 0 {
		m.Trash().doom(ctx, registration)
		return Removal{Rescue: refs}, nil
	}
	return Removal{Trash: cmp.Or(directory, registration), Rescue: refs}, nil
}

// removeAsSeen moves a clean worktree to the trash, unless its files have changed since seen.
func (m *Manager) removeAsSeen(ctx context.Context, p Plan, seen Seen) (done Removal, changed bool, err error) {
	x, err := m.Registry().exclude(ctx)
	if err != nil {
		return Removal{}, false, err
	}
	defer x.release()
	e, err := m.removable(ctx, p) // checks again, now under the lock
	if e == nil {
		return Removal{}, false, err
	}
	if now, err := imprint(p.Path); err != nil || now != seen.files {
		return Removal{}, err == nil, err
	}
	directory, registration, err := m.Trash().throwAway(*e, p.Path)
	if err != nil {
		return Removal{Trash: directory}, false, err
	}
	dropFolders(p.Path)
	return m.dropSeen(ctx, directory, registration, seen), false, nil
}

// dropSeen deletes a worktree in the trash if it holds exactly what was seen: a program that had it
// open may have written into it during the move.
func (m *Manager) dropSeen(ctx context.Context, directory, registration string, seen Seen) Removal {
	if now, err := imprint(directory); len(seen.Aside) > 0 || err != nil || now != seen.files {
		return Removal{Trash: directory, Aside: seen.Aside}
	}
	m.Trash().doom(ctx, directory, registration)
	return Removal{}
}

// HalfMade reports whether Create has left the worktree at path before its checkout was complete,
// so that nothing has run in it.
func (m *Manager) HalfMade(path string) bool {
	admin, err := gitdir.Linked(path, m.Repository.CommonDir, "")
	return err == nil && gitdir.HalfFilled(admin)
}

// removable returns the registration of the worktree of p; nil without an error if nothing of p is
// at its path.
func (m *Manager) removable(ctx context.Context, p Plan) (*Entry, error) {
	entries, err := m.Registry().List(ctx)
	if err != nil {
		return nil, err
	}
	wanted := disk.Resolved(p.Path)
	for i, e := range entries {
		if e.Path == "" || e.Path != p.Path && disk.Resolved(e.Path) != wanted {
			continue
		}
		if i == 0 {
			return nil, git.Conflict("", "", "%s: the main worktree is never removed", p.Path)
		}
		if ofAnother(e, p) {
			return nil, nil
		}
		if err := m.Registry().madeFor(e, p); err != nil {
			return nil, err
		}
		if disk.Exists(p.Path) {
			if _, err := gitdir.Linked(p.Path, m.Repository.CommonDir, ""); err != nil {
				return nil, err
			}
		}
		return &entries[i], nil
	}
	if !disk.Exists(p.Path) {
		return nil, nil
	}
	return nil, git.Conflict("", "", "%s: not a worktree of this repository", p.Path)
}

// ofAnother reports whether a registration belongs to another session.
func ofAnother(e Entry, p Plan) bool {
	return e.Locked && strings.HasPrefix(e.LockReason, ownerPrefix) && !ownedBy(e, p)
}

// madeFor returns an error if the registration at the path of p was not made for p. paw's lock on a
// worktree names its owner. A worktree unlocked by the user is recognised by paw's mark or by its
// branch; one that the user has locked for another reason is left alone.
func (r *Registry) madeFor(e Entry, p Plan) error {
	switch {
	case ownedBy(e, p), !e.Locked && (disk.Exists(gitdir.FilledMark(e.AdminDir)) || e.Branch != "" && e.Branch == p.Branch):
		return nil
	case !e.Locked:
		return git.Conflict("", "", "%s: not a worktree that paw made", p.Path)
	}
	return git.Conflict("", "git -C "+git.Quote(r.objects.Home().Dir)+" worktree unlock "+git.Quote(p.Path), "%s is locked: %s",
		p.Path, cmp.Or(e.LockReason, "no reason given"))
}

// Release removes paw's lock from the worktree of p, which stays as it is and belongs to the user
// from then on. If a repository of its own has taken the worktree's place, the registration, which
// would hold the branch for ever, is moved to the trash folder. A worktree that is not locked, not
// paw's or missing is no error.
func (m *Manager) Release(ctx context.Context, p Plan) error {
	return m.Registry().eachLinked(ctx, func(e Entry) error {
		if e.Path == "" || !ownedBy(e, p) {
			return nil
		}
		if info, err := os.Lstat(filepath.Join(p.Path, ".git")); err == nil && info.IsDir() {
			if _, _, err := m.rescues().keep(ctx, e.AdminDir, p.Owner); err != nil {
				return err
			}
			_, _, err := m.Trash().throwAway(e, "")
			return err
		}
		if err := os.WriteFile(releasedMark(e.AdminDir), nil, 0o666); err != nil {
			return err
		}
		// This does what `git worktree unlock` does, which fails if the directory does not lead
		// back to the repository.
		return disk.RemoveFile(filepath.Join(e.AdminDir, "locked"))
	})
}

// Lock locks the worktree of p again if it was unlocked, and reports whether it was. Without the
// lock `git worktree prune` removes the registration of a worktree whose disk is not mounted.
func (r *Registry) Lock(ctx context.Context, p Plan) (locked bool, err error) {
	err = r.eachLinked(ctx, func(e Entry) error {
		made := e.Path != "" && disk.SamePath(e.Path, p.Path) && r.madeFor(e, p) == nil
		if e.Locked || !made {
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
	return disk.RemoveFile(releasedMark(e.AdminDir))
}

// eachLinked calls do for the registrations of all linked worktrees, under the repository lock.
func (r *Registry) eachLinked(ctx context.Context, do func(Entry) error) error {
	x, err := r.exclude(ctx)
	if err != nil {
		return err
	}
	defer x.release()
	entries, err := r.List(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries[1:] {
		err = errors.Join(err, do(e))
	}
	return err
}

// ErrNotMerged says that a branch has commits which the other branch has not.
var ErrNotMerged = errors.New("not merged")

// DeleteBranches deletes the branches of expect that are still at their commit and are merged into
// the parameter into, a commit id or anything that Head takes. It returns why others stay:
// ErrNotMerged, or a *ConflictError for a branch that is checked out or has moved. A missing branch
// counts as deleted. DeleteBranches starts one git process, or two if a tip differs from into.
func (m *Manager) DeleteBranches(ctx context.Context, expect map[string]string, into string) (stay map[string]error) {
	stay = map[string]error{}
	if len(expect) == 0 {
		return stay
	}
	merged, err := m.Refs().MergedBranches(ctx, expect, into)
	var x exclusive
	if err == nil {
		x, err = m.Registry().exclude(ctx)
	}
	if err != nil {
		for branch := range expect {
			stay[branch] = err
		}
		return stay
	}
	defer x.release()
	holders, err := m.Registry().Holders(ctx)
	tips, tipsErr := m.Refs().Branches(ctx, slices.Collect(maps.Keys(expect)))
	var doomed []string
	for branch, tip := range expect {
		switch now := tips[branch]; {
		case err != nil || tipsErr != nil:
			stay[branch] = errors.Join(err, tipsErr)
		case now == "":
		case now != tip:
			stay[branch] = git.Conflict("", "", "branch %s: moved on to %s", branch, now)
		case !merged[branch]:
			stay[branch] = ErrNotMerged
		case holders[branch] != "":
			stay[branch] = git.Conflict("", "", "branch %s: checked out at %s", branch, holders[branch])
		default:
			doomed = append(doomed, branch)
		}
	}
	remove := func(branches ...string) error {
		var input strings.Builder
		for _, branch := range branches {
			fmt.Fprintf(&input, "delete refs/heads/%s\x00%s\x00", branch, expect[branch])
		}
		_, err := m.Objects().Home().WithFile(x.file).Input(ctx, []byte(input.String()), "update-ref", "-z", "--stdin")
		return err
	}
	if len(doomed) == 0 || remove(doomed...) == nil {
		return stay
	}
	for _, branch := range doomed { // One of the branches has made git refuse all.
		if err := remove(branch); err != nil {
			stay[branch] = err
		}
	}
	return stay
}
