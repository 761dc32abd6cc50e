package objects

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// MergeTrees merges the trees of two commits, or two trees, with the commit base as their only common
// ancestor, "" for none.
func (o *Store) MergeTrees(ctx context.Context, dir, base, ours, theirs string) (Merged, error) {
	var made, parents []string
	if base != "" {
		parents = []string{base}
	}
	for _, tree := range []string{ours, theirs} {
		commit, err := o.Commit(ctx, NewCommit{Tree: tree + "^{tree}", Parents: parents, Own: true})
		if err != nil {
			return Merged{}, err
		}
		made = append(made, commit)
	}
	return o.MergeTree(ctx, dir, made[0], made[1])
}

// Merged is the result of merging two commits.
type Merged struct {
	Tree      string   // id of the merged tree; conflicting files have markers
	Conflicts []string // conflicting paths; none after a clean merge
	Beside    []string // those of them that are a file on one side and a folder on the other
	Places    []string // those of them that git lists no file of: a renamed folder has no place to go to

	Moved   map[string]string // conflicting paths that no side has: the name that a side has, in a folder that the other one has renamed
	Renamed map[string]string // conflicting paths that each side has renamed: what git says of the names
}

// Told returns the conflicting paths, each with what git says of names that have changed.
func (m *Merged) Told() (all []string) {
	for _, path := range m.Conflicts {
		if words := m.Words(path); words != "" {
			path += " (" + words + ")"
		}
		all = append(all, path)
	}
	return all
}

// Words says which names have changed where that is why a path conflicts, "" for another reason.
func (m *Merged) Words(path string) string {
	if was := m.Moved[path]; was != "" {
		return was + ", whose folder the other side has renamed"
	}
	return m.Renamed[path]
}

// explain reads one of git's messages about a merge: a stable kind, and the paths that it is about.
func (m *Merged) explain(kind string, paths []string) {
	switch {
	case kind == "CONFLICT (directory rename suggested)" && len(paths) > 1:
		m.Moved[paths[0]] = paths[1]
	case kind == "CONFLICT (rename/rename)" && len(paths) > 2:
		for _, path := range paths {
			m.Renamed[path] = fmt.Sprintf("%s is renamed to %s and to %s", paths[0], paths[1], paths[2])
		}
	}
}

// ErrUnrelated says that two commits have no common ancestor.
var ErrUnrelated = errors.New("no commit in common")

// MergeTree merges two commits in the object store: no ref, index or file changes. git runs in dir,
// whose .gitattributes decide how files are merged.
func (o *Store) MergeTree(ctx context.Context, dir, ours, theirs string) (Merged, error) {
	all, err := o.MergePairs(ctx, dir, [][2]string{{ours, theirs}})
	if err != nil {
		return Merged{}, err
	}
	return all[0], nil
}

// MergePairs is MergeTree for many pairs of commits, with one git process.
func (o *Store) MergePairs(ctx context.Context, dir string, pairs [][2]string) ([]Merged, error) {
	var input strings.Builder
	for _, pair := range pairs {
		for _, oid := range pair {
			if !gitdir.IsOID(oid) {
				return nil, &RefError{Ref: oid}
			}
		}
		input.WriteString(pair[0] + " " + pair[1] + "\n")
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	before := mergeFiles(dir)
	out, err := o.Quarantined(git.In(dir)).Input(ctx, []byte(input.String()), "merge-tree", "--write-tree", "--stdin", "-z", "--name-only")
	if failed, ok := errors.AsType[*git.Error](err); ok && failed.Said("unrelated histories") {
		return nil, ErrUnrelated
	}
	if err != nil {
		for _, file := range mergeFiles(dir) {
			if git.ExitCode(err) < 0 && !slices.Contains(before, file) { // of a git that was killed
				os.Remove(file)
			}
		}
		return nil, err
	}
	all, err := mergesIn(out, pairs)
	for _, one := range all {
		o.known.isTreeOf(one.Tree, one.Tree)
	}
	return all, err
}

// mergesIn reads what git merge-tree prints of some pairs of commits.
func mergesIn(out string, pairs [][2]string) (all []Merged, err error) {
	for fields := strings.Split(out, "\x00"); len(fields) > 2; { // status, tree, paths, an empty field; of conflicts messages, an empty field
		one := Merged{Tree: fields[1]}
		rest := fields[2:]
		for len(rest) > 0 && rest[0] != "" {
			one.add(rest[0], pairs[min(len(all), len(pairs)-1)])
			rest = rest[1:]
		}
		if fields[0] == "0" && len(rest) > 0 {
			rest = one.messages(rest[1:])
		}
		if !gitdir.IsOID(one.Tree) || len(rest) == 0 || (fields[0] == "0") != (len(one.Conflicts) > 0) {
			return nil, fmt.Errorf("git merge-tree says %q, which is not understood", out)
		}
		one.Conflicts = disk.SortedPaths(one.Conflicts)
		all, fields = append(all, one), rest[1:]
	}
	if len(all) != len(pairs) {
		return nil, fmt.Errorf("git merge-tree tells of %d merges, not of %d", len(all), len(pairs))
	}
	return all, nil
}

// mergeFiles returns the files that git makes in dir for a merge driver.
func mergeFiles(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var files []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".merge_file_") && e.Type().IsRegular() {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

// messages reads git's messages, each the number of its paths, the paths, its kind and its text. It
// returns the fields from the one on that ends them: an empty one or, with git 2.39, advice about a
// submodule.
func (m *Merged) messages(fields []string) []string {
	m.Moved, m.Renamed = map[string]string{}, map[string]string{}
	listed := len(m.Conflicts) > 0
	for len(fields) > 0 {
		n, err := strconv.Atoi(fields[0])
		if err != nil || n < 0 || len(fields) < n+3 {
			break
		}
		kind, paths := fields[n+1], fields[1:n+1]
		m.explain(kind, paths)
		if !listed && strings.HasPrefix(kind, "CONFLICT") {
			m.Conflicts, m.Places = append(m.Conflicts, paths...), append(m.Places, paths...)
		}
		fields = fields[n+3:]
	}
	return fields
}

// add adds a conflicting path by its own name: git renames a file to NAME~COMMIT where the other
// side has a folder.
func (m *Merged) add(name string, pair [2]string) {
	for _, side := range pair {
		if own, renamed := strings.CutSuffix(name, "~"+side); renamed {
			name, m.Beside = own, append(m.Beside, own)
		}
	}
	m.Conflicts = append(m.Conflicts, name)
}
