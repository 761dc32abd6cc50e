package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/worktree/gitdir"
)

// Dirt lists what would be lost if a worktree were removed. Paths are relative to the worktree.
type Dirt struct {
	Uncommitted []string // files that are changed, staged or in conflict
	Untracked   []string
	// Ignored lists ignored files, except in folders that are ignored as a whole, and except files
	// that are the same in the main checkout.
	Ignored    []string
	Operation  string   // an unfinished merge, rebase, cherry-pick, revert, am or bisect
	Submodules []string // submodules with changes of their own
	Embedded   []string // repositories that are no submodules
	Hidden     []string // changes hidden by assume-unchanged or skip-worktree
	Detached   string   // describes commits that no ref keeps
	// Aside lists files that exist only here, too, but need no attention: wholly ignored folders
	// ("build/") that are no copies of the main checkout's, and submodules. Remove keeps the files in
	// the trash.
	Aside []string
}

// Clean reports whether nothing except Aside would be lost.
func (d Dirt) Clean() bool {
	return len(d.Uncommitted)+len(d.Untracked)+len(d.Ignored)+len(d.Submodules)+len(d.Embedded)+len(d.Hidden) == 0 &&
		d.Operation == "" && d.Detached == ""
}

// Summary returns one line such as "3 uncommitted files (a.go, ...), an unfinished merge"; "" when
// clean.
func (d Dirt) Summary() string {
	var parts []string
	count := func(names []string, one, many string) {
		switch {
		case len(names) == 1:
			parts = append(parts, fmt.Sprintf("1 %s (%s)", one, names[0]))
		case len(names) > 1:
			parts = append(parts, fmt.Sprintf("%d %s (%s, ...)", len(names), many, names[0]))
		}
	}
	count(d.Uncommitted, "uncommitted file", "uncommitted files")
	count(d.Untracked, "untracked file", "untracked files")
	count(d.Ignored, "ignored file", "ignored files")
	count(d.Hidden, "hidden change", "hidden changes")
	count(d.Submodules, "submodule with changes", "submodules with changes")
	count(d.Embedded, "repository of its own", "repositories of its own")
	if d.Operation != "" {
		parts = append(parts, "an unfinished "+d.Operation)
	}
	if d.Detached != "" {
		parts = append(parts, d.Detached)
	}
	return strings.Join(parts, ", ")
}

// inspect lists what a removal of the worktree of p would lose; what the commit p.Saved has is not lost.
func (m *Manager) inspect(ctx context.Context, p Plan) (inspection, error) {
	i := inspection{m: m, path: p.Path, main: m.Repository.Path}
	var err error
	if i.admin, err = gitdir.Linked(p.Path, m.Repository.CommonDir, ""); err != nil {
		return i, err
	}
	if err := m.Journals().SettledAt(ctx, gitdir.Checkout{Path: p.Path, AdminDir: i.admin}); err != nil {
		return i, err
	}
	if err = i.look(ctx, p); err == nil {
		i.Detached, err = m.rescues().unkeptCommits(ctx, p.Path, i.admin, p.Saved)
	}
	return i, err
}

// inspection inspects one worktree.
type inspection struct {
	Dirt
	m           *Manager
	path, admin string // directory of the worktree, and its git directory
	main        string // same path in the main checkout, "" if missing
	compared    bool   // the main checkout was compared
	saved       bool   // the commit Plan.Saved has the uncommitted files
}

func (i *inspection) look(ctx context.Context, p Plan) error {
	dir, err := os.MkdirTemp("", "paw") // A folder in the git directory would look like a change.
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	l, err := i.m.Snapshots().LookAt(ctx, i.path, i.admin, dir, "--ignored=matching")
	if err != nil {
		return err
	}
	defer l.Drop()
	for _, name := range l.Changed {
		if l.Hides(name) {
			i.Hidden = append(i.Hidden, name)
		} else {
			i.Uncommitted = append(i.Uncommitted, name)
		}
	}
	i.Uncommitted = disk.SortedPaths(i.Uncommitted, l.Indexed, l.Submodules)
	i.Untracked, i.Embedded, i.Submodules = l.Untracked, l.Embedded, l.Submodules
	for _, name := range l.Ignored {
		if err := i.addIgnored(name); err != nil {
			return err
		}
	}
	i.Operation = gitdir.Operation(i.admin)
	if p.Saved != "" && i.Operation == "" && len(i.Uncommitted)+len(i.Untracked) > 0 {
		i.saved, _ = l.Holds(ctx, p.Scratch, p.Saved) // what cannot be compared counts as lost
	}
	if i.saved {
		i.Uncommitted, i.Untracked = nil, nil
	}
	return i.setSubmodulesAside(l.Real.Submodules)
}

// Unfinished names the merge, rebase or the like that is unfinished in the worktree at path, "" for
// none.
func (m *Manager) Unfinished(path string) (string, error) {
	admin, err := gitdir.Linked(path, m.Repository.CommonDir, "")
	if err != nil {
		return "", err
	}
	return gitdir.Operation(admin), nil
}

func (i *inspection) addIgnored(name string) error {
	i.compared = true
	if folder, ok := strings.CutSuffix(name, "/"); ok {
		return i.lookIntoFolder(folder)
	}
	if i.main == "" || !sameAsMain(filepath.Join(i.path, name), filepath.Join(i.main, name)) {
		i.Ignored = append(i.Ignored, name)
	}
	return nil
}

// lookIntoFolder inspects a folder that is ignored as a whole, which git does not: it collects
// repositories at any depth, and notes whether the main checkout lacks anything. name is relative
// to the worktree.
func (i *inspection) lookIntoFolder(name string) error {
	own := false
	err := filepath.WalkDir(filepath.Join(i.path, name), func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(i.path, at)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (disk.Exists(filepath.Join(at, ".git")) || gitdir.Is(at)):
			i.Embedded = append(i.Embedded, relative)
			return fs.SkipDir
		case !d.IsDir():
			own = own || i.main == "" || !copiedFrom(filepath.Join(i.main, relative), at)
		}
		return nil
	})
	if own {
		i.Aside = append(i.Aside, name+"/")
	}
	return err
}

// copiedFrom reports whether a file equals the main checkout's, including the modification time,
// which paw copies. A differing time spares reading large folders that were built anew.
func copiedFrom(main, here string) bool {
	info, err := os.Lstat(here)
	if err != nil {
		return false
	}
	other, err := os.Lstat(main)
	if info.Mode().IsRegular() && (err != nil || !info.ModTime().Equal(other.ModTime())) {
		return false
	}
	return sameAsMain(here, main)
}

// setSubmodulesAside adds to Aside the submodules that are checked out, and those whose repository lies in the worktree's git directory, which
// is removed with the worktree. They are not looked into: git status tells neither their ignored files nor which of their commits were pushed.
func (i *inspection) setSubmodulesAside(submodules []string) error {
	names := slices.DeleteFunc(slices.Clone(submodules), func(name string) bool { return !gitdir.IsTop(filepath.Join(i.path, name)) })
	stores, err := storesIn(i.admin)
	for _, store := range stores {
		name, _ := filepath.Rel(filepath.Join(i.admin, "modules"), store)
		names = append(names, name)
	}
	for _, name := range disk.SortedPaths(names) {
		i.Aside = append(i.Aside, "submodule "+name)
	}
	return err
}

// storesIn lists the repositories of submodules below a worktree's git directory. That of a nested submodule lies in the one of the outer submodule.
func storesIn(admin string) ([]string, error) {
	var stores []string
	err := filepath.WalkDir(filepath.Join(admin, "modules"), func(at string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || !d.IsDir():
			return err
		case gitdir.Is(at):
			stores = append(stores, at)
			return fs.SkipDir
		}
		return nil
	})
	return stores, err
}
