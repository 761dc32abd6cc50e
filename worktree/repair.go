package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/worktree/gitdir"
)

// Repair repairs what interrupted steps have left in the registry of worktrees, for registrations
// whose lock reason is paw's (owned):
//
//   - a half-made registration, which makes git's worktree list, fetch and gc fail for everyone, is moved to the trash
//     folder;
//   - a worktree whose .git file names the place where the repository was before it was moved gets a new .git file.
//
// Foreign registrations are reported and not changed. The result has one line for each finding.
func (m *Manager) Repair(ctx context.Context, owned func(reason string) bool) (report []string, err error) {
	err = m.Registry().eachLinked(ctx, func(e Entry) error {
		name := filepath.Base(e.AdminDir)
		mine := e.Locked && owned(e.LockReason)
		switch {
		case halfMade(e.AdminDir) && !mine:
			report = append(report, fmt.Sprintf("registration %s: half made by another program, left alone", name))
		case halfMade(e.AdminDir):
			if err := m.Trash().setAside(e, e.Path); err != nil {
				return fmt.Errorf("registration %s: %w", name, err)
			}
			report = append(report, fmt.Sprintf("registration %s: half made, moved to %s", name, m.Trash().dir()))
		case mine && lostLink(e):
			if err := os.WriteFile(filepath.Join(e.Path, ".git"), []byte("gitdir: "+e.AdminDir+"\n"), 0o666); err != nil {
				return fmt.Errorf("%s: %w", e.Path, err)
			}
			report = append(report, fmt.Sprintf("%s: linked to the repository again", e.Path))
		}
		return nil
	})
	return report, err
}

// halfMade reports whether a registration lacks one of the files that git writes one by one:
// gitdir, commondir and HEAD.
func halfMade(admin string) bool {
	head := gitdir.Line(filepath.Join(admin, "HEAD"))
	return gitdir.Line(filepath.Join(admin, "gitdir")) == "" ||
		gitdir.Line(filepath.Join(admin, "commondir")) == "" ||
		!strings.HasPrefix(head, "ref:") && !gitdir.IsOID(head)
}

// Unregistered reports whether a registration lacks files that git writes into it. The main
// worktree has no registration.
func (e Entry) Unregistered() bool {
	return filepath.Base(filepath.Dir(e.AdminDir)) == "worktrees" && halfMade(e.AdminDir)
}

// Unlinked reports whether the directory of p is its worktree and has only lost its .git file's
// link to the repository, which Repair restores.
func (r *Registry) Unlinked(ctx context.Context, p Plan) (bool, error) {
	e, err := r.find(ctx, func(e Entry) bool { return ownedBy(e, p) && !halfMade(e.AdminDir) && lostLink(e) })
	return e != nil, err
}

// lostLink reports whether the .git file of a worktree names a missing git directory of the same name. A folder
// without one may be another one, in which git would take all files for deleted.
func lostLink(e Entry) bool {
	target, err := gitdir.Target(filepath.Join(e.Path, ".git"))
	return err == nil && !disk.Exists(target) && filepath.Base(target) == filepath.Base(e.AdminDir)
}

// Moved finds worktrees made before the repository was moved to its present place: their
// registrations, with owner and path of a plan, were moved along with it. The result is each
// worktree's place by agent: its old path, or one of along(plan) if the worktree was moved, too. Plans
// that were not made in this repository are left out.
func (r *Registry) Moved(ctx context.Context, plans []Plan, along func(Plan) []string) (map[string]string, error) {
	entries, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	byOwner := map[string]Entry{}
	for _, e := range entries[1:] {
		if e.Locked {
			byOwner[e.LockReason] = e
		}
	}
	places := map[string]string{}
	for _, p := range plans {
		e, made := byOwner[p.Owner]
		moved := along(p)
		known := func(path string) bool { return disk.SamePath(e.Path, path) }
		if p.Owner == "" || !made || !known(p.Path) && !slices.ContainsFunc(moved, known) {
			continue
		}
		places[p.Agent] = p.Path
		for _, path := range moved {
			if !disk.Exists(p.Path) && cameAlong(path, e.AdminDir) {
				places[p.Agent] = path
			}
		}
	}
	return places, nil
}

// cameAlong reports whether the worktree at path was made with this registration, at its present
// place or at one that no longer exists.
func cameAlong(path, admin string) bool {
	target, err := gitdir.Target(filepath.Join(path, ".git"))
	return err == nil && filepath.Base(target) == filepath.Base(admin) && (!disk.Exists(target) || disk.SamePath(target, admin))
}

// Follow makes the registration of the worktree of p name the directory at path, where Moved has
// found it. Repair then restores the directory's link.
func (r *Registry) Follow(ctx context.Context, p Plan, path string) error {
	return r.eachLinked(ctx, func(e Entry) error {
		if !ownedBy(e, p) || disk.SamePath(e.Path, path) {
			return nil
		}
		temporary := filepath.Join(e.AdminDir, "paw-gitdir")
		if err := os.WriteFile(temporary, []byte(filepath.Join(path, ".git")+"\n"), 0o666); err != nil {
			return err
		}
		return os.Rename(temporary, filepath.Join(e.AdminDir, "gitdir"))
	})
}
