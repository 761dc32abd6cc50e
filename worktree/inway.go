package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"paw/worktree/git"
)

// change is one path that differs between two trees.
type change struct {
	name          string
	oldID, id     string
	oldMode, mode string
	added, gone   bool
}

// gitlink reports whether a submodule is, or was, at the path.
func (c change) gitlink() bool {
	gitlink := modeGitlink
	return c.oldMode == gitlink || c.mode == gitlink
}

// changesBetween lists what differs between two trees, by name.
func changesBetween(ctx context.Context, repo git.Repo, from, to string) ([]change, error) {
	out, err := repo.Output(ctx, quietly("diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none", from, to)...)
	if err != nil {
		return nil, err
	}
	var all []change
	fields := nulSeparated(out)
	for i := 0; i+1 < len(fields); i += 2 {
		info := strings.Fields(strings.TrimPrefix(fields[i], ":")) // old mode, new mode, old id, new id, status
		if len(info) != 5 {
			return nil, fmt.Errorf("git diff-tree says %q, which is not understood", fields[i])
		}
		all = append(all, change{
			name: fields[i+1], oldMode: info[0], mode: info[1], oldID: info[2], id: info[3], added: info[4] == "A", gone: info[4] == "D",
		})
	}
	return all, nil
}

// changes are what differs between the files and the goal of a rewind.
func (r *rewind) changes(ctx context.Context) ([]change, error) {
	all, err := changesBetween(ctx, r.repo, r.now, r.to.tree)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.gitlink() {
			return nil, conflict("", "", "%s: the submodule %s is at another commit", r.top, c.name)
		}
	}
	return all, nil
}

// inTheWay looks for what lies where a file comes back and is not in the rescue:
// ignored files and embedded repositories. Git itself would overwrite the former.
func (r *rewind) inTheWay(ctx context.Context, changes []change) error {
	gone := map[string]bool{}
	for _, c := range changes {
		gone[c.name] = c.gone
	}
	for _, c := range changes {
		if !c.added {
			continue
		}
		what, err := r.obstacle(ctx, c, gone)
		if err != nil {
			return err
		}
		if what != "" {
			return conflict("", "", "%s: %s is ignored and would be overwritten", r.top, what)
		}
	}
	return nil
}

// obstacle is the path that keeps c from coming back, "" for none. A file that is the same already does not.
func (r *rewind) obstacle(ctx context.Context, c change, gone map[string]bool) (string, error) {
	what, err := obstacleAt(r.top, c.name, gone)
	if what != c.name || err != nil {
		return what, err
	}
	info, err := os.Lstat(filepath.Join(r.top, c.name))
	if err == nil && info.Mode().IsRegular() && (c.mode == "100755") == (info.Mode()&0o100 != 0) {
		id, err := r.repo.Line(ctx, "hash-object", "--path="+c.name, "--", filepath.Join(r.top, c.name))
		if err == nil && id == c.id {
			return "", nil
		}
	}
	return what, nil
}

// obstacleAt is the path below top that is in the way of a new file of that name, "" for none; gone are the files that
// will be gone by then.
func obstacleAt(top, name string, gone map[string]bool) (string, error) {
	for i, b := range name {
		if b != '/' {
			continue
		}
		above := name[:i]
		info, err := os.Lstat(filepath.Join(top, above))
		if err != nil || gone[above] {
			return "", nil //nolint:nilerr // nothing is there, or it will be gone
		}
		if !info.IsDir() || exists(filepath.Join(top, above, ".git")) {
			return above, nil
		}
	}
	info, err := os.Lstat(filepath.Join(top, name))
	switch {
	case err != nil:
		return "", nil //nolint:nilerr // nothing is there
	case info.IsDir():
		return remainsIn(top, name, gone)
	}
	return name, nil
}

// remainsIn finds a file in a folder below top that will not be gone.
func remainsIn(top, name string, gone map[string]bool) (string, error) {
	found := ""
	err := filepath.WalkDir(filepath.Join(top, name), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(top, path)
		if err == nil && !d.IsDir() && !gone[filepath.ToSlash(inside)] {
			found = inside
			return fs.SkipAll
		}
		return err
	})
	return found, err
}
