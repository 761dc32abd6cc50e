package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// change is one path that differs between the files and the goal of a rewind.
type change struct {
	name  string
	id    string // at the goal
	mode  string
	added bool
	gone  bool
}

func (r *rewind) changes(ctx context.Context) ([]change, error) {
	out, err := r.repo.Output(ctx, "diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", r.now, r.to.tree)
	if err != nil {
		return nil, err
	}
	var all []change
	fields := nulSeparated(out)
	for i := 0; i+1 < len(fields); i += 2 {
		info := strings.Fields(strings.TrimPrefix(fields[i], ":")) // old mode, new mode, old id, new id, status
		if len(info) != 5 {
			return nil, conflict("", "", "%s: git diff-tree says %q, which is not understood", r.top, fields[i])
		}
		c := change{name: fields[i+1], id: info[3], mode: info[1], added: info[4] == "A", gone: info[4] == "D"}
		if gitlink := fmt.Sprintf("%o", modeGitlink); info[0] == gitlink || info[1] == gitlink {
			return nil, conflict("", "", "%s: the submodule %s is at another commit", r.top, c.name)
		}
		all = append(all, c)
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

// obstacle is the path that keeps c from coming back, "" for none.
func (r *rewind) obstacle(ctx context.Context, c change, gone map[string]bool) (string, error) {
	for i, b := range c.name {
		if b != '/' {
			continue
		}
		above := c.name[:i]
		info, err := os.Lstat(filepath.Join(r.top, above))
		if err != nil || gone[above] {
			return "", nil //nolint:nilerr // nothing is there, or it will be gone
		}
		if !info.IsDir() || exists(filepath.Join(r.top, above, ".git")) {
			return above, nil
		}
	}
	info, err := os.Lstat(filepath.Join(r.top, c.name))
	switch {
	case err != nil:
		return "", nil //nolint:nilerr // nothing is there
	case info.IsDir():
		return r.remainsIn(c.name, gone)
	case info.Mode().IsRegular() && (c.mode == "100755") == (info.Mode()&0o100 != 0):
		id, err := r.repo.Line(ctx, "hash-object", "--path="+c.name, "--", filepath.Join(r.top, c.name))
		if err == nil && id == c.id {
			return "", nil
		}
	}
	return c.name, nil
}

// remainsIn finds a file in a folder that the rewind does not remove anyway.
func (r *rewind) remainsIn(name string, gone map[string]bool) (string, error) {
	found := ""
	err := filepath.WalkDir(filepath.Join(r.top, name), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(r.top, path)
		if err == nil && !d.IsDir() && !gone[filepath.ToSlash(inside)] {
			found = inside
			return fs.SkipAll
		}
		return err
	})
	return found, err
}
