package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/config/lazyregexp"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Repair repairs what interrupted steps have left in the registry of worktrees, for registrations
// whose lock reason is paw's (owned):
//
//   - a half-made registration, which makes git's worktree list, fetch and gc fail for everyone, is moved to the trash
//     folder;
//   - a worktree whose .git file is missing, or names the place where the repository was before it was moved, gets a new
//     .git file.
//
// Foreign registrations are reported and not changed. The result has one line for each finding.
func (m *Manager) Repair(ctx context.Context, owned func(reason string) bool) ([]string, error) {
	x, err := m.Registry().exclude(ctx)
	if err != nil {
		return nil, err
	}
	defer x.release()
	entries, err := m.Registry().List(ctx)
	if err != nil {
		return nil, err
	}
	var report []string
	for _, e := range entries[1:] {
		name := filepath.Base(e.AdminDir)
		mine := e.Locked && owned(e.LockReason)
		if mine {
			_ = unix.Rmdir(e.Path + again) // registerAgain was killed before it could delete the empty folder
		}
		switch {
		case halfMade(e.AdminDir) && !mine:
			report = append(report, fmt.Sprintf("registration %s: half made by another program, left alone", name))
		case halfMade(e.AdminDir):
			if err := m.Trash().setAside(e, e.Path); err != nil {
				return report, fmt.Errorf("registration %s: %w", name, err)
			}
			report = append(report, fmt.Sprintf("registration %s: half made, moved to %s", name, m.Trash().dir()))
		case mine && m.Registry().lostLink(ctx, e):
			if err := relink(e); err != nil {
				return report, fmt.Errorf("%s: %w", e.Path, err)
			}
			report = append(report, fmt.Sprintf("%s: linked to the repository again", e.Path))
		}
	}
	return report, nil
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
	e, err := r.find(ctx, func(e Entry) bool { return ownedBy(e, p) && !halfMade(e.AdminDir) && r.lostLink(ctx, e) })
	return e != nil, err
}

// lostLink reports whether a worktree's directory exists, and its .git file is missing or names a
// missing git directory of the same name. Without a .git file the directory may be another one, in
// which git would take all files for deleted, so its files are compared as well.
func (r *Registry) lostLink(ctx context.Context, e Entry) bool {
	info, err := os.Stat(e.Path)
	if err != nil || !info.IsDir() {
		return false
	}
	dotGit := filepath.Join(e.Path, ".git")
	if !disk.Exists(dotGit) {
		return r.hasFilesOf(ctx, e)
	}
	target, err := gitdir.Target(dotGit)
	return err == nil && !disk.Exists(target) && filepath.Base(target) == filepath.Base(e.AdminDir)
}

// hasFilesOf reports whether the directory of e has a file with the size and time that its index
// records; any file will do for an empty index. Unlike git, hasFilesOf compares nanoseconds, and no
// inode, which a copy does not share.
func (r *Registry) hasFilesOf(ctx context.Context, e Entry) bool {
	repo := git.In(e.Path).WithEnv("GIT_DIR="+e.AdminDir, "GIT_WORK_TREE="+e.Path)
	out, err := repo.Output(ctx, "ls-files", "--debug", "-z")
	if err != nil {
		return false
	}
	recorded := recordedFile().FindAllStringSubmatch(out, -1)
	if len(recorded) == 0 {
		content, err := os.ReadDir(e.Path)
		return err == nil && len(content) > 0
	}
	return slices.ContainsFunc(recorded, func(file []string) bool {
		info, err := os.Lstat(filepath.Join(e.Path, file[1]))
		if err != nil || info.IsDir() {
			return false
		}
		seconds, nanoseconds, size := file[2], file[3], file[4]
		return size == fmt.Sprint(uint32(info.Size())) && seconds == fmt.Sprint(uint32(info.ModTime().Unix())) &&
			(nanoseconds == "0" || nanoseconds == fmt.Sprint(info.ModTime().Nanosecond())) // some builds of git record seconds only
	})
}

// recordedFile matches name, time and size of a file in the output of git ls-files --debug -z.
var recordedFile = lazyregexp.New(`([^\x00]+)\x00  ctime: .*\n  mtime: (\d+):(\d+)\n  dev: .*\n  uid: .*\n  size: (\d+)\t.*\n`)

func relink(e Entry) error {
	temporary := filepath.Join(e.AdminDir, "paw-link")
	if err := os.WriteFile(temporary, []byte("gitdir: "+e.AdminDir+"\n"), 0o666); err != nil {
		return err
	}
	dotGit := filepath.Join(e.Path, ".git")
	if err := os.Rename(temporary, dotGit); err == nil {
		return nil
	}
	defer os.Remove(temporary)
	return os.WriteFile(dotGit, []byte("gitdir: "+e.AdminDir+"\n"), 0o666)
}

// Unregistered reports whether the directory of p is a worktree of this repository whose
// registration is gone, as after `git worktree prune` while its disk was not mounted. Restore
// registers it again.
func (r *Registry) Unregistered(p Plan) bool {
	target, err := gitdir.Target(filepath.Join(p.Path, ".git"))
	return err == nil && !disk.Exists(target) &&
		disk.SamePath(filepath.Dir(target), filepath.Join(r.Repository.CommonDir, "worktrees"))
}

// again is the suffix of the folder in which registerAgain makes a worktree.
const again = ".paw-again"

// registerAgain makes a worktree next to the directory, with HEAD's index and no files, and hands
// its registration over to the directory. Uncommitted work then shows as changes. The registration
// is marked as filled before that, so that no later step takes the directory for a partial
// checkout.
func (m *Manager) registerAgain(ctx context.Context, p Plan) error {
	beside := p
	beside.Path = p.Path + again
	x, err := m.Registry().exclude(ctx)
	if err != nil {
		return err
	}
	defer x.release()
	if err := m.clear(ctx, beside.Path, p, beside); err != nil {
		return err
	}
	entries, err := m.Registry().List(ctx)
	if err != nil {
		return err
	}
	if _, err := m.check(ctx, []Plan{beside}, entries); err != nil {
		return err
	}
	c := &creation{plan: beside}
	if err := m.add(ctx, x, c); err != nil {
		return err
	}
	defer c.close()
	err = git.In(beside.Path).Run(ctx, "read-tree", "HEAD")
	if err == nil {
		err = os.WriteFile(gitdir.FilledMark(c.admin), nil, 0o666)
	}
	if err == nil {
		err = handOver(c.admin, beside.Path, p.Path)
	}
	if err != nil {
		return errors.Join(err, m.undoLocked(ctx, x, []*creation{c}))
	}
	return nil
}

// handOver makes the registration of the worktree at from name the directory at to. Until the last
// rename the directory counts as unregistered.
func handOver(admin, from, to string) error {
	if err := os.WriteFile(filepath.Join(admin, "gitdir"), []byte(filepath.Join(to, ".git")+"\n"), 0o666); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(from, ".git"), filepath.Join(to, ".git")); err != nil {
		return err
	}
	return os.Remove(from)
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
