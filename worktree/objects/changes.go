package objects

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Change is one path that differs between two trees.
type Change struct {
	Name          string
	OldID, ID     string
	OldMode, Mode string
	Added, Gone   bool
}

// Gitlink reports whether the path is a submodule in one of the trees.
func (c Change) Gitlink() bool {
	return c.OldMode == ModeGitlink || c.Mode == ModeGitlink
}

// ChangesBetween lists the paths that differ between two trees, by name. ChangesBetween asks git
// once for the same two.
func (o Store) ChangesBetween(ctx context.Context, from, to string) ([]Change, error) {
	return o.known.changesBetween(from, to, func() ([]Change, error) { return Between(ctx, o.Home(), from, to) })
}

// Between lists the paths that differ between two trees, by name.
func Between(ctx context.Context, repo git.Repo, from, to string) ([]Change, error) {
	out, err := repo.Output(ctx, git.Quietly("diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none", from, to)...)
	if err != nil {
		return nil, err
	}
	var all []Change
	fields := git.NulSeparated(out)
	for i := 0; i+1 < len(fields); i += 2 {
		info := strings.Fields(strings.TrimPrefix(fields[i], ":")) // old mode, new mode, old id, new id, status
		if len(info) != 5 {
			return nil, fmt.Errorf("git diff-tree says %q, which is not understood", fields[i])
		}
		all = append(all, Change{
			Name: fields[i+1], OldMode: info[0], Mode: info[1], OldID: info[2], ID: info[3], Added: info[4] == "A", Gone: info[4] == "D",
		})
	}
	return all, nil
}

// Changes counts the files that differ between two commits.
type Changes struct {
	Files      int
	Submodules []string // the differing paths that are a submodule in one of the commits
}

// Changes returns the differences of each pair of commits, with two git processes for all pairs.
func (o Store) Changes(ctx context.Context, pairs [][2]string) (map[[2]string]Changes, error) {
	counts := map[[2]string]Changes{}
	if len(pairs) == 0 {
		return counts, nil
	}
	trees, err := o.trees(ctx, pairs)
	if err != nil {
		return nil, err
	}
	var input strings.Builder
	byTrees := map[string][][2]string{}
	for _, pair := range pairs {
		if _, there := counts[pair]; there {
			continue
		}
		counts[pair] = Changes{}
		line := trees[pair[0]] + " " + trees[pair[1]]
		if trees[pair[0]] == trees[pair[1]] {
			continue
		}
		if len(byTrees[line]) == 0 {
			input.WriteString(line + "\n")
		}
		byTrees[line] = append(byTrees[line], pair)
	}
	if input.Len() == 0 {
		return counts, nil
	}
	out, err := o.Home().Input(ctx, []byte(input.String()), "diff-tree", "--stdin", "-r", "-O/dev/null", "--raw", "--no-renames", "--ignore-submodules=none")
	if err != nil {
		return nil, err
	}
	var at [][2]string
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if same, header := byTrees[line]; header {
			at = same
			continue
		}
		submodule := submoduleIn(line)
		for _, pair := range at {
			c := counts[pair]
			c.Files++
			if submodule != "" {
				c.Submodules = append(c.Submodules, submodule)
			}
			counts[pair] = c
		}
	}
	return counts, nil
}

// trees returns the tree of each commit.
func (o Store) trees(ctx context.Context, pairs [][2]string) (map[string]string, error) {
	var commits []string
	for _, pair := range pairs {
		commits = append(commits, pair[:]...)
	}
	slices.Sort(commits)
	commits = slices.Compact(commits)
	out, err := o.Home().Input(ctx, []byte(strings.Join(commits, "^{tree}\n")+"^{tree}\n"), "cat-file", "--batch-check=%(objectname)")
	if err != nil {
		return nil, err
	}
	trees := map[string]string{}
	for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
		if i < len(commits) && gitdir.IsOID(line) {
			trees[commits[i]] = line
		}
	}
	return trees, nil
}

// submoduleIn returns the path in a raw line of git diff-tree if it is a submodule on one side,
// else "".
func submoduleIn(line string) string {
	modes, path, _ := strings.Cut(line, "\t")
	f := strings.Fields(strings.TrimPrefix(modes, ":"))
	if len(f) < 2 || !(Change{OldMode: f[0], Mode: f[1]}).Gitlink() {
		return ""
	}
	if plain, err := strconv.Unquote(path); err == nil {
		return plain
	}
	return path
}

// BlobChange holds mode and id of a path in each of two trees; zeros if the path is missing.
type BlobChange struct{ From, To string }

// Added reports whether the path is missing in the first tree.
func (c BlobChange) Added() bool { return strings.HasPrefix(c.From, "000000 ") }

// BlobChanges returns, for each pair of commits, the differing paths with mode and id on both
// sides.
func (o Store) BlobChanges(ctx context.Context, pairs [][2]string) ([]map[string]BlobChange, error) {
	all := make([]map[string]BlobChange, len(pairs))
	if len(pairs) == 0 {
		return all, nil
	}
	var input strings.Builder
	for _, pair := range pairs {
		input.WriteString(pair[1] + " " + pair[0] + "\n") // git takes the second one for the parent of the first
	}
	out, err := o.Home().Input(ctx, []byte(input.String()), "diff-tree", "--stdin", "--always", "-r", "-z", "--raw", "--no-abbrev", "-O/dev/null", "--no-renames")
	if err != nil {
		return nil, err
	}
	told := 0
	for fields := git.NulSeparated(out); len(fields) > 0; fields = fields[1:] {
		what := strings.Fields(strings.TrimPrefix(fields[0], ":"))
		switch {
		case told < len(pairs) && fields[0] == pairs[told][1]: // before the changes of each pair
			all[told] = map[string]BlobChange{}
			told++
		case told > 0 && len(what) == 5 && len(fields) > 1: // modes, ids, letter
			all[told-1][fields[1]] = BlobChange{what[0] + " " + what[2], what[1] + " " + what[3]}
			fields = fields[1:]
		default:
			return nil, fmt.Errorf("git diff-tree says %q, which is not understood", fields[0])
		}
	}
	if told != len(pairs) {
		return nil, fmt.Errorf("git diff-tree tells of %d pairs of commits, not of %d", told, len(pairs))
	}
	return all, nil
}

// ChangedPaths returns the paths at which two commits differ, in git's order.
func (o Store) ChangedPaths(ctx context.Context, from, to string) ([]string, error) {
	changes, err := o.ChangesBetween(ctx, from, to)
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Name)
	}
	return paths, err
}

// DeletedPaths returns the paths that from has and to does not have, in git's order.
func (o Store) DeletedPaths(ctx context.Context, from, to string) ([]string, error) {
	changes, err := o.ChangesBetween(ctx, from, to)
	var paths []string
	for _, c := range changes {
		if c.Gone {
			paths = append(paths, c.Name)
		}
	}
	return paths, err
}

// ModeGitlink is the mode of a submodule.
const ModeGitlink = "160000"

// Entry returns mode and id from after the change as git update-index --index-info reads them, ""
// for no file.
func (c Change) Entry() string { return EntryOf(c.Mode, c.ID) }

// OldEntry returns mode and id from before the change, "" for no file.
func (c Change) OldEntry() string { return EntryOf(c.OldMode, c.OldID) }

// EntryOf joins mode and id as git update-index --index-info reads them, "" for no file.
func EntryOf(mode, id string) string {
	if strings.Trim(mode, "0") == "" {
		return ""
	}
	return mode + " " + id + " 0"
}

// DiffFormat says how changes are written: in place of a patch the summary of `git diff --stat`; in color, which is for reading
// only; with the words From and To in front of the paths, "" for git's a and b.
type DiffFormat struct {
	Stat, Color bool
	From, To    string
}

// Diff writes the changes between two commits as a patch for `git apply` that gives exactly the
// other tree, with binary content, modes, symlinks and renames. The user's diff settings, external
// programs and text conversions are ignored.
func (o Store) Diff(ctx context.Context, path, from, to string, format DiffFormat, out io.Writer, paths ...string) error {
	if _, err := gitdir.Linked(path, o.Repository.CommonDir, ""); err != nil {
		return err
	}
	args := []string{
		"-c", "diff.suppressBlankEmpty=false", "diff-tree", "-r", "--find-renames", "--no-ext-diff", "--no-textconv",
		"--submodule=short", "--ignore-submodules=none", "-O/dev/null", "--no-relative", "--color=" + map[bool]string{true: "always", false: "never"}[format.Color],
	}
	if format.Stat {
		args = append(args, "--stat")
	} else {
		args = append(args, "--patch", "--binary", "--full-index", "--unified=3", "--inter-hunk-context=0",
			"--src-prefix="+cmp.Or(format.From, "a")+"/", "--dst-prefix="+cmp.Or(format.To, "b")+"/", "--ws-error-highlight=none")
	}
	return o.Quarantined(git.In(path)).Stream(ctx, nil, out, append(append(args, "--end-of-options", from, to, "--"), paths...)...)
}
