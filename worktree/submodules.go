package worktree

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// lookIntoSubmodules inspects checked-out submodules like worktrees, and the stores of all
// submodules there ever were: stores are in the worktree's git directory, and removed with it.
func (i inspection) lookIntoSubmodules(ctx context.Context, submodules []string) error {
	checkedOut := map[string]bool{}
	for _, name := range submodules {
		store, there := gitdir.Of(filepath.Join(i.path, name))
		if !there {
			continue
		}
		checkedOut[store], *i.compared = true, true
		if err := i.lookIntoSubmodule(ctx, name, store); err != nil {
			return err
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
		if err != nil {
			return err
		}
		if err := i.lookIntoStore(ctx, name, store); err != nil {
			return err
		}
		// What the index and reflogs of the store hold besides its refs cannot be told without its
		// files.
		i.dirt.Aside = append(i.dirt.Aside, storeOf(name))
	}
	i.dirt.Submodules, i.dirt.Aside = disk.SortedPaths(i.dirt.Submodules), disk.SortedPaths(i.dirt.Aside)
	return nil
}

func (i inspection) lookIntoSubmodule(ctx context.Context, name, store string) error {
	inner := inspection{m: i.m, path: filepath.Join(i.path, name), admin: store, dirt: &Dirt{}, compared: i.compared}
	if i.main != "" {
		inner.main = filepath.Join(i.main, name)
	}
	if err := inner.look(ctx); err != nil {
		return err
	}
	if !inner.dirt.Clean() {
		i.dirt.Submodules = append(i.dirt.Submodules, name)
	}
	for _, aside := range inner.dirt.Aside {
		i.dirt.Aside = append(i.dirt.Aside, name+"/"+aside)
	}
	return i.lookIntoStore(ctx, name, store)
}

// lookIntoStore looks for commits that the submodule's remotes do not have. Commits of branches,
// stashes and HEAD count as work. Commits that only a tag or a reflog names may be the remote's, or
// useless; they are kept.
func (i inspection) lookIntoStore(ctx context.Context, name, store string) error {
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
		i.dirt.Submodules = append(i.dirt.Submodules, name)
		return nil
	}
	more, err := list("--all", "--reflog", "--not", "--remotes")
	if more != "" {
		i.dirt.Aside = append(i.dirt.Aside, storeOf(name))
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
