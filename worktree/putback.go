package worktree

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"paw/worktree/git"
	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

// putBack ends a landing that was cut before the branch moved: at each path that it moves and HEAD has as before
// it, a file that is as after it, or missing, becomes what it was, and so does an index entry. Other files stay,
// also one that git was writing when it was killed, and
// putBack returns their names.
func (v *move) putBack(ctx context.Context) (left []string, err error) {
	if err := v.at.awaitIndex(ctx); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(v.at.AdminDir, snapshot.ScratchPrefix)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	theirs, err := v.between(ctx, v.From, v.m.head(ctx, v.at.Checkout))
	if err != nil {
		return nil, err
	}
	files, err := v.between(ctx, v.Was, v.Becomes)
	if err == nil {
		files = without(files, theirs)
		left, err = v.putFilesBack(ctx, dir, files)
	}
	if err == nil {
		err = v.putIndexBack(ctx, theirs)
	}
	return left, err
}

// between is objects.Between, without git for a commit and itself.
func (v *move) between(ctx context.Context, from, to string) ([]objects.Change, error) {
	if from == to || to == "" {
		return nil, nil
	}
	return objects.Between(ctx, v.m.objects.Home(), from, to)
}

// without returns the changes at other paths than some.
func without(changes, some []objects.Change) []objects.Change {
	named := map[string]bool{}
	for _, c := range some {
		named[c.Name] = true
	}
	return slices.DeleteFunc(changes, func(c objects.Change) bool { return named[c.Name] })
}

func (v *move) putFilesBack(ctx context.Context, dir string, files []objects.Change) (left []string, err error) {
	index := filepath.Join(v.at.AdminDir, "index")
	before, err := filesAs(ctx, v.repo(), index, dir, v.at.Path, files, objects.Change.OldEntry)
	if err != nil {
		return nil, err
	}
	after, err := filesAs(ctx, v.repo(), index, dir, v.at.Path, files, objects.Change.Entry)
	if err != nil {
		return nil, err
	}
	var write, remove []string
	for _, c := range files {
		if before[c.Name] || slices.Contains(v.Skipped, c.Name) {
			continue
		}
		switch own := after[c.Name] || v.begun(ctx, c); {
		case own && c.Added:
			remove = append(remove, c.Name)
		case own:
			write = append(write, c.Name)
		default:
			left = append(left, c.Name)
		}
	}
	if err := removeAll(v.at.Path, remove); err != nil {
		return nil, err
	}
	for _, name := range write {
		if at, err := obstacleAt(v.at.Path, name, nil); err != nil {
			return nil, err
		} else if at != "" && at != name {
			left = append(left, name)
		}
	}
	write = slices.DeleteFunc(write, func(name string) bool { return slices.Contains(left, name) })
	if len(write) == 0 {
		return left, nil
	}
	file, repo, err := indexWith(ctx, v.repo(), index, dir, files, objects.Change.OldEntry)
	if err != nil {
		return nil, err
	}
	defer snapshot.DropIndex(file)
	return left, writeOut(ctx, repo, write)
}

// begun reports whether there is no file at a path, or the beginning of one that git was writing.
func (v *move) begun(ctx context.Context, c objects.Change) bool {
	file := filepath.Join(v.at.Path, c.Name)
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return err != nil
	}
	have, err := os.ReadFile(file)
	return err == nil && slices.ContainsFunc([]string{c.Entry(), c.OldEntry()}, func(entry string) bool {
		if !strings.HasPrefix(entry, "100") { // a regular file
			return false
		}
		var whole string
		err := git.Unasked(func(options []string) (err error) {
			whole, err = v.repo().Output(ctx, append(options, "cat-file", "--filters", "--path="+c.Name, strings.Fields(entry)[1])...)
			return err
		})
		return err == nil && strings.HasPrefix(whole, string(have))
	})
}

// putIndexBack sets the entries that the landing has set. Index and files differ where the user has had uncommitted files of
// an agent.
func (v *move) putIndexBack(ctx context.Context, theirs []objects.Change) error {
	was, set := map[string]objects.Change{}, map[string][]string{}
	for _, to := range []string{v.To, v.Was, v.Becomes} {
		changes, err := v.between(ctx, v.From, to)
		if err != nil {
			return err
		}
		for _, c := range without(changes, theirs) {
			was[c.Name], set[c.Name] = c, append(set[c.Name], c.Entry())
		}
	}
	repo := v.repo()
	listed, err := snapshot.ListIndex(ctx, repo, filepath.Join(v.at.AdminDir, "index"))
	if err != nil {
		return err
	}
	have := map[string]string{}
	for _, e := range listed {
		have[e.Name] = objects.EntryOf(e.Mode, e.ID)
		if e.Stage != "0" { // a conflict is the user's
			delete(was, e.Name)
		}
	}
	var back []objects.Change
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if have[name] != was[name].OldEntry() && slices.Contains(set[name], have[name]) {
			back = append(back, was[name])
			have[name] = was[name].OldEntry()
		}
	}
	if len(back) > 0 {
		if _, err := repo.Input(ctx, indexInfo(back, objects.Change.OldEntry), plainly("update-index", "-z", "--index-info")...); err != nil {
			return err
		}
	}
	away := slices.DeleteFunc(slices.Clone(v.Skipped), func(name string) bool { return have[name] == "" })
	if len(away) > 0 {
		if _, err := repo.Input(ctx, git.NulTerminated(away), git.Quietly("update-index", "--skip-worktree", "-z", "--stdin")...); err != nil {
			return err
		}
	}
	return snapshot.Refresh(ctx, repo)
}

// removeAll removes files of a checkout, and the folders above them that are empty then.
func removeAll(top string, names []string) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range names {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for above := path.Dir(name); above != "." && root.Remove(above) == nil; {
			above = path.Dir(above)
		}
	}
	return nil
}

// writeOut has git write files from the index of repo over what is there.
func writeOut(ctx context.Context, repo git.Repo, names []string) error {
	return git.Unasked(func(options []string) error {
		_, err := repo.Input(ctx, git.NulTerminated(names), git.Quietly(append(options, "checkout-index", "-f", "-z", "--stdin")...)...)
		return err
	})
}
