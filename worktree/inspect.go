package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/snapshot"
)

// Dirt lists what would be lost if a worktree were removed. Paths are relative to the worktree.
type Dirt struct {
	Uncommitted []string // files that are changed, staged or in conflict
	Untracked   []string
	// Ignored lists ignored files, except in folders that are ignored as a whole, and except files
	// that are the same in the main checkout.
	Ignored    []string
	Operation  string   // an unfinished merge, rebase, cherry-pick, revert, am or bisect
	Submodules []string // submodules with changes or commits of their own
	Embedded   []string // repositories that are no submodules
	Hidden     []string // changes hidden by assume-unchanged or skip-worktree
	Detached   string   // describes commits that no ref keeps
	// Aside lists files that exist only here, too, but need no attention: wholly ignored folders
	// ("build/") that are no copies of the main checkout's, and the stores of submodules. Remove
	// keeps the files in the trash.
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

// inspect lists what a removal of the worktree at path would lose; commits that saved contains are not lost. compared
// reports whether something outside of the worktree was compared with it.
func (m *Manager) inspect(ctx context.Context, path, saved string) (dirt Dirt, compared bool, err error) {
	admin, err := gitdir.Linked(path, m.Repository.CommonDir, "")
	if err != nil {
		return Dirt{}, false, err
	}
	if err := m.Journals().SettledAt(ctx, gitdir.Checkout{Path: path, AdminDir: admin}); err != nil {
		return Dirt{}, false, err
	}
	i := inspection{m: m, path: path, admin: admin, main: m.Repository.Path}
	if err = i.look(ctx); err == nil {
		i.Detached, err = m.rescues().unkeptCommits(ctx, path, admin, saved)
	}
	return i.Dirt, i.compared, err
}

// forgive removes the uncommitted files from dirt if the commit p.Saved has all of the worktree's
// files unchanged, and reports whether it did.
func (m *Manager) forgive(ctx context.Context, p Plan, dirt *Dirt) bool {
	if p.Saved == "" || dirt.Operation != "" || len(dirt.Uncommitted)+len(dirt.Untracked) == 0 || !m.holdsOnly(ctx, p.Path, p.Scratch, p.Saved) {
		return false
	}
	dirt.Uncommitted, dirt.Untracked = nil, nil
	return true
}

// holdsOnly reports whether a commit has all files of the worktree at path, and everything staged
// there. scratch is a folder as for snapshot.Taker.TakeWithin.
func (m *Manager) holdsOnly(ctx context.Context, path, scratch, commit string) bool {
	reader, drop, err := m.WithScratch()
	if err != nil {
		return false
	}
	defer drop()
	shot, err := reader.Snapshots().TakeWithin(ctx, path, "", "paw: now\n", scratch, snapshot.Budget{})
	if err != nil || shot.Staged || shot.Unmerged || len(shot.NotSaved) > 0 {
		return false
	}
	if shot.Commit == commit {
		m.Objects().Know(commit, "", shot.Head)
		return true
	}
	same, err := reader.Objects().SameTree(ctx, shot.Commit, commit)
	return same && err == nil
}

// inspection inspects one worktree, or a submodule of it.
type inspection struct {
	Dirt
	m           *Manager
	path, admin string // directory of the worktree, and its git directory
	main        string // same path in the main checkout, "" if missing
	compared    bool   // the main checkout or stores of submodules were compared
}

func (i *inspection) look(ctx context.Context) error {
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
	i.Untracked, i.Embedded = l.Untracked, l.Embedded
	for _, name := range l.Ignored {
		if err := i.addIgnored(name); err != nil {
			return err
		}
	}
	i.Operation = gitdir.Operation(i.admin)
	return i.lookIntoSubmodules(ctx, l.Real.Submodules)
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

// lookIntoSubmodules inspects checked-out submodules like worktrees, and the stores of all
// submodules there ever were: stores are in the worktree's git directory, and removed with it.
func (i *inspection) lookIntoSubmodules(ctx context.Context, submodules []string) error {
	checkedOut, plain := map[string]bool{}, *i.m
	plain.objects = nil // a reader keeps its objects beside those of the superproject
	for _, name := range submodules {
		store, there := gitdir.Of(filepath.Join(i.path, name))
		if !there {
			continue
		}
		checkedOut[store], i.compared = true, true
		inner := inspection{m: &plain, path: filepath.Join(i.path, name), admin: store}
		if i.main != "" {
			inner.main = filepath.Join(i.main, name)
		}
		if err := errors.Join(inner.look(ctx), i.lookIntoStore(ctx, name, store)); err != nil {
			return err
		}
		if !inner.Clean() {
			i.Submodules = append(i.Submodules, name)
		}
		for _, aside := range inner.Aside {
			i.Aside = append(i.Aside, name+"/"+aside)
		}
	}
	stores, err := storesIn(i.admin)
	if err != nil {
		return err
	}
	for _, store := range stores {
		if checkedOut[disk.Resolved(store)] {
			continue
		}
		name, err := filepath.Rel(filepath.Join(i.admin, "modules"), store)
		if err == nil {
			err = i.lookIntoStore(ctx, name, store)
		}
		if err != nil {
			return err
		}
		// What the index and reflogs of the store hold besides its refs cannot be told without its
		// files.
		i.Aside = append(i.Aside, storeOf(name))
	}
	i.Submodules, i.Aside = disk.SortedPaths(i.Submodules), disk.SortedPaths(i.Aside)
	return nil
}

// lookIntoStore looks for commits that the submodule's remotes do not have. Commits of branches,
// stashes and HEAD count as work. Commits that only a tag or a reflog names may be the remote's, or
// useless; they are kept.
func (i *inspection) lookIntoStore(ctx context.Context, name, store string) error {
	// The store's worktree may be gone, and git would go there first.
	repo := git.In(store).WithEnv("GIT_DIR="+store, "GIT_WORK_TREE="+store)
	list := func(args ...string) (string, error) {
		return repo.Output(ctx, append([]string{"rev-list", "--max-count=1"}, args...)...)
	}
	work, err := list("--exclude=refs/tags/*", "--all", "--not", "--remotes")
	if err != nil {
		return err
	}
	if work != "" {
		i.Submodules = append(i.Submodules, name)
		return nil
	}
	more, err := list("--all", "--reflog", "--not", "--remotes")
	if more != "" {
		i.Aside = append(i.Aside, storeOf(name))
	}
	return err
}

func storeOf(submodule string) string { return "the store of submodule " + submodule }

// storesIn lists the git directories of submodules below that of a worktree, with nested ones.
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
			inner, err := storesIn(at)
			stores = append(stores, inner...)
			if err != nil {
				return err
			}
			return fs.SkipDir
		}
		return nil
	})
	return stores, err
}
