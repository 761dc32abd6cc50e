package worktree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// DiffFormat says how changes are written: in place of a patch the summary of `git diff --stat`; in color, which is for reading
// only; with the words From and To in front of the paths, "" for git's a and b.
type DiffFormat struct {
	Stat, Color bool
	From, To    string
}

// Diff writes the changes between two commits as a patch for `git apply` that gives exactly the
// other tree, with binary content, modes, symlinks and renames. The user's diff settings, external
// programs and text conversions are ignored.
func (o Objects) Diff(ctx context.Context, path, from, to string, format DiffFormat, out io.Writer, paths ...string) error {
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
	return o.quarantined(git.In(path)).Stream(ctx, nil, out, append(append(args, "--end-of-options", from, to, "--"), paths...)...)
}

// Changed counts the uncommitted files of the checkout at path: changed, staged, in conflict or
// untracked.
func (m Manager) Changed(ctx context.Context, path string) (int, error) {
	if path != m.Repository.Path {
		if err := gitdir.Verify(path, m.Repository.CommonDir, ""); err != nil {
			return 0, err
		}
	}
	out, err := git.In(path).Output(ctx, "-c", "diff.orderFile=/dev/null", "status", "--porcelain", "-z", "--no-renames")
	if err != nil {
		return 0, err
	}
	return strings.Count(out, "\x00"), nil
}

// Lines counts added and deleted lines.
type Lines struct{ Added, Deleted int }

// ChangedLines counts the lines in which tracked files of a worktree differ from a commit. New
// files that are not staged, and binary files, count nothing.
func (m Manager) ChangedLines(ctx context.Context, path, from string) (Lines, error) {
	var lines Lines
	if _, err := gitdir.Linked(path, m.Repository.CommonDir, ""); err != nil {
		return lines, err
	}
	out, err := git.In(path).Output(ctx, "diff-index", "--numstat", "--no-ext-diff", "--no-textconv", "--no-relative", "--no-renames",
		"--ignore-submodules=all", "--end-of-options", from, "--")
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		added, _ := strconv.Atoi(f[0]) // "-" for a binary file
		deleted, _ := strconv.Atoi(f[1])
		lines.Added, lines.Deleted = lines.Added+added, lines.Deleted+deleted
	}
	return lines, err
}

// Changes counts the files that differ between two commits.
type Changes struct {
	Files      int
	Submodules []string // the differing paths that are a submodule in one of the commits
}

// CountChanges returns the number of differing files for each pair of commits.
func (o Objects) CountChanges(ctx context.Context, pairs [][2]string) (map[[2]string]int, error) {
	changes, err := o.Changes(ctx, pairs)
	if err != nil {
		return nil, err
	}
	counts := map[[2]string]int{}
	for pair, c := range changes {
		counts[pair] = c.Files
	}
	return counts, nil
}

// Changes returns the differences of each pair of commits, with two git processes for all pairs.
func (o Objects) Changes(ctx context.Context, pairs [][2]string) (map[[2]string]Changes, error) {
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
	out, err := o.home().Input(ctx, []byte(input.String()), "diff-tree", "--stdin", "-r", "-O/dev/null", "--raw", "--no-renames", "--ignore-submodules=none")
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
func (o Objects) trees(ctx context.Context, pairs [][2]string) (map[string]string, error) {
	var commits []string
	seen := map[string]bool{}
	for _, pair := range pairs {
		for _, commit := range pair {
			if !seen[commit] {
				seen[commit] = true
				commits = append(commits, commit)
			}
		}
	}
	out, err := o.home().Input(ctx, []byte(strings.Join(commits, "^{tree}\n")+"^{tree}\n"), "cat-file", "--batch-check=%(objectname)")
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
	if len(f) < 2 || !(change{oldMode: f[0], mode: f[1]}).gitlink() {
		return ""
	}
	if plain, err := strconv.Unquote(path); err == nil {
		return plain
	}
	return path
}

// sameAsMain reports whether a file or symlink equals the one in the main checkout, or is a symlink
// to it.
func sameAsMain(here, main string) bool {
	info, err := os.Lstat(here)
	if err != nil {
		return false
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(here)
		if err != nil {
			return false
		}
		other, err := os.Readlink(main)
		return target == main || err == nil && (other == target || filepath.IsAbs(other) && relativeTo(main, other) == target)
	}
	other, err := os.Lstat(main)
	if err != nil || !info.Mode().IsRegular() || !other.Mode().IsRegular() || info.Size() != other.Size() {
		return false
	}
	return sameContent(here, main)
}

func sameContent(a, b string) bool {
	first, err := os.Open(a)
	if err != nil {
		return false
	}
	defer first.Close()
	second, err := os.Open(b)
	if err != nil {
		return false
	}
	defer second.Close()
	var one, two [64 * 1024]byte
	for {
		n, errA := io.ReadFull(first, one[:])
		k, errB := io.ReadFull(second, two[:])
		if !bytes.Equal(one[:n], two[:k]) {
			return false
		}
		if errA != nil || errB != nil {
			return ended(errA) && ended(errB)
		}
	}
}

// ended reports whether an error of io.ReadFull means the end of the file.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
