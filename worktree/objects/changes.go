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
	letter        string // git's letter for the change: A, D, M or T
}

// Gitlink reports whether the path is a submodule in one of the trees.
func (c Change) Gitlink() bool {
	return c.OldMode == ModeGitlink || c.Mode == ModeGitlink
}

// ChangesBetween lists the paths that differ between two trees, by name. ChangesBetween asks git
// once for the same two.
func (o *Store) ChangesBetween(ctx context.Context, from, to string) ([]Change, error) {
	return o.known.changesBetween(from, to, func() ([]Change, error) { return Between(ctx, o.Home(), from, to) })
}

// Between lists the paths that differ between two trees, by name.
func Between(ctx context.Context, repo git.Repo, from, to string) (all []Change, err error) {
	err = eachChange(ctx, repo, nil, nil, func(c Change) { all = append(all, c) }, git.Quietly("diff-tree"), from, to)
	return all, err
}

// eachChange runs a command of git that lists changes, of some commits or trees, and calls each for
// each differing path, and header, unless nil, for the ids that stand before the paths of a pair.
func eachChange(ctx context.Context, repo git.Repo, input []byte, header func(ids string), each func(Change), command []string, of ...string) error {
	out, err := repo.Input(ctx, input, slices.Concat(command, []string{
		"-r", "--raw", "-z", "--no-renames", "--no-abbrev", "-O/dev/null", "--ignore-submodules=none",
	}, of)...)
	if err != nil {
		return err
	}
	for fields := git.NulSeparated(out); len(fields) > 0; fields = fields[1:] {
		ids, raw, isRaw := strings.Cut(fields[0], ":")
		if ids = strings.TrimSpace(ids); ids != "" && header != nil {
			header(ids)
			if ids = ""; !isRaw {
				continue
			}
		}
		info := strings.Fields(raw) // old mode, new mode, old id, new id, letter
		if ids != "" || len(info) != 5 || len(fields) < 2 {
			return fmt.Errorf("git says %q, which is not understood", fields[0])
		}
		each(Change{
			Name: fields[1], OldMode: info[0], Mode: info[1], OldID: info[2], ID: info[3],
			letter: info[4], Added: info[4] == "A", Gone: info[4] == "D",
		})
		fields = fields[1:]
	}
	return nil
}

// EntriesIn returns the entries that paths have in some commits, where they differ from those in head,
// as pairs of a path and an entry.
func EntriesIn(ctx context.Context, repo git.Repo, head string, commits, paths []string) (map[[2]string]bool, error) {
	var input strings.Builder
	for _, commit := range commits {
		input.WriteString(head + " " + commit + "\n") // the second one stands for the parent
	}
	found := map[[2]string]bool{}
	err := eachChange(ctx, repo, []byte(input.String()), func(string) {}, func(c Change) { found[[2]string{c.Name, c.OldEntry()}] = true },
		[]string{"--literal-pathspecs", "diff-tree", "--stdin"}, append([]string{"--"}, paths...)...)
	return found, err
}

// Changes counts the files that differ between two commits.
type Changes struct {
	Files      int
	Submodules []string // the differing paths that are a submodule in one of the commits
}

// Changes returns the differences of each pair of commits, with two git processes for all pairs.
func (o *Store) Changes(ctx context.Context, pairs [][2]string) (map[[2]string]Changes, error) {
	input, between, err := o.byTrees(ctx, pairs)
	if err != nil {
		return nil, err
	}
	byTrees, at := map[string]Changes{}, ""
	if input != "" {
		err = eachChange(ctx, o.Home(), []byte(input), func(trees string) { at = trees }, func(change Change) {
			c := byTrees[at]
			c.Files++
			if change.Gitlink() {
				c.Submodules = append(c.Submodules, change.Name)
			}
			byTrees[at] = c
		}, []string{"diff-tree", "--stdin"})
	}
	counts := map[[2]string]Changes{}
	for _, pair := range pairs {
		counts[pair] = byTrees[between(pair)]
	}
	return counts, err
}

// Lines counts added and deleted lines.
type Lines struct{ Added, Deleted int }

// String returns "+1 -2", and "" for nil.
func (l *Lines) String() string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf("+%d -%d", l.Added, l.Deleted)
}

// Lines counts the lines that differ between two commits, as `git diff --stat` does, for each pair of
// commits, with two git processes for all pairs.
func (o *Store) Lines(ctx context.Context, pairs [][2]string) ([]Lines, error) {
	input, between, err := o.byTrees(ctx, pairs)
	if err != nil {
		return nil, err
	}
	counts := map[string]Lines{}
	if input != "" {
		err = numstat(ctx, o.Home(), input, counts)
	}
	var all []Lines
	for _, pair := range pairs {
		all = append(all, counts[between(pair)])
	}
	return all, err
}

// numstat counts the lines that differ between the two trees in each line of the input, by that line.
func numstat(ctx context.Context, repo git.Repo, input string, counts map[string]Lines) error {
	out, err := repo.Input(ctx, []byte(input), "diff-tree", "--stdin", "-r", "--numstat", "--find-renames", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=none", "-O/dev/null")
	at := ""
	for line := range strings.Lines(out) {
		f := strings.Split(line, "\t") // added, deleted, path
		if len(f) < 3 {
			at = strings.TrimSpace(line)
			continue
		}
		added, _ := strconv.Atoi(f[0]) // "-" for a binary file
		deleted, _ := strconv.Atoi(f[1])
		counts[at] = Lines{counts[at].Added + added, counts[at].Deleted + deleted}
	}
	return err
}

// Trees returns the trees of commits. It asks git once for those that are not known.
func (o *Store) Trees(ctx context.Context, commits ...string) (map[string]string, error) {
	trees, asked, asks := map[string]string{}, []string{}, ""
	for _, commit := range commits {
		if _, there := trees[commit]; there {
			continue
		}
		if trees[commit] = o.known.treeOf(commit); trees[commit] == "" {
			asked, asks = append(asked, commit), asks+commit+"^{tree}\n"
		}
	}
	if asks == "" {
		return trees, nil
	}
	out, err := o.Home().Input(ctx, []byte(asks), "cat-file", "--batch-check=%(objectname)")
	for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
		if i < len(asked) && gitdir.IsOID(line) {
			trees[asked[i]] = line
			o.known.isTreeOf(asked[i], line)
		}
	}
	return trees, err
}

// byTrees returns the input of git diff-tree for pairs of commits, each by its two trees, which between names, and
// none with the same tree twice.
func (o *Store) byTrees(ctx context.Context, pairs [][2]string) (input string, between func(pair [2]string) string, err error) {
	var commits []string
	for _, pair := range pairs {
		commits = append(commits, pair[:]...)
	}
	trees, err := o.Trees(ctx, commits...)
	if err != nil {
		return "", nil, err
	}
	between = func(pair [2]string) string { return trees[pair[0]] + " " + trees[pair[1]] }
	var lines []string
	for _, pair := range pairs {
		if trees[pair[0]] != trees[pair[1]] {
			lines = append(lines, between(pair)+"\n")
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), ""), between, nil
}

// PathsOf returns, for each pair of commits, the paths at which they differ, with one git process.
func (o *Store) PathsOf(ctx context.Context, pairs [][2]string) ([]map[string]bool, error) {
	all := make([]map[string]bool, len(pairs))
	if len(pairs) == 0 {
		return all, nil
	}
	var input strings.Builder
	for _, pair := range pairs {
		input.WriteString(pair[1] + " " + pair[0] + "\n") // git takes the second one for the parent of the first
	}
	told := 0
	err := eachChange(ctx, o.Home(), []byte(input.String()), func(commit string) {
		if told < len(pairs) && commit == pairs[told][1] { // before the changes of each pair
			all[told] = map[string]bool{}
			told++
		}
	}, func(c Change) {
		if told > 0 {
			all[told-1][c.Name] = true
		}
	}, []string{"diff-tree", "--stdin", "--always"})
	if err == nil && told != len(pairs) {
		err = fmt.Errorf("git diff-tree tells of %d pairs of commits, not of %d", told, len(pairs))
	}
	return all, err
}

// ChangedPaths returns the paths at which two commits differ, in git's order.
func (o *Store) ChangedPaths(ctx context.Context, from, to string) ([]string, error) {
	return o.pathsWhere(ctx, from, to, func(Change) bool { return true })
}

// ChangedIn returns the paths that differ between two commits, of those that patterns of git match.
func (o *Store) ChangedIn(ctx context.Context, from, to string, patterns []string) ([]string, error) {
	out, err := o.Home().Output(ctx, slices.Concat(git.Quietly("diff-tree", "-r", "-z", "--no-renames", "--name-only", from, to, "--"), patterns)...)
	return git.NulSeparated(out), err
}

// FilesIn returns the files of a commit that patterns of git match.
func (o *Store) FilesIn(ctx context.Context, commit string, patterns ...string) ([]string, error) {
	none, err := o.Home().Line(ctx, "hash-object", "-t", "tree", "--stdin") // the empty tree
	if err != nil {
		return nil, err
	}
	return o.ChangedIn(ctx, none, commit, patterns)
}

// DeletedPaths returns the paths that from has and to does not have, in git's order.
func (o *Store) DeletedPaths(ctx context.Context, from, to string) ([]string, error) {
	return o.pathsWhere(ctx, from, to, func(c Change) bool { return c.Gone })
}

func (o *Store) pathsWhere(ctx context.Context, from, to string, is func(Change) bool) (paths []string, err error) {
	changes, err := o.ChangesBetween(ctx, from, to)
	for _, c := range changes {
		if is(c) {
			paths = append(paths, c.Name)
		}
	}
	return paths, err
}

// Renames returns the files that git takes for renamed between two commits, the new name by the old
// one.
func (o *Store) Renames(ctx context.Context, from, to string) (map[string]string, error) {
	out, err := o.Home().Output(ctx, git.Quietly("diff-tree", "-r", "-z", "--find-renames", "--diff-filter=R", "--name-status", from, to)...)
	fields, renamed := git.NulSeparated(out), map[string]string{}
	for ; len(fields) > 2; fields = fields[3:] {
		renamed[fields[1]] = fields[2]
	}
	return renamed, err
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

// DiffFormat says how changes are written: in place of a patch the summary of `git diff --stat`; in
// color, which is for reading only; with the words From and To in front of the paths, "" for git's
// a and b.
type DiffFormat struct {
	Form     string // how git shows it: "stat", "numstat", "name-only"; "" for a patch
	Color    bool
	From, To string

	list bool // each file, for FileChanges
}

// Diff writes the changes between two commits as a patch for `git apply` that gives exactly the
// other tree, with binary content, modes, symlinks and renames. The user's diff settings, external
// programs and text conversions are ignored. Names are as they are, and not in numbers, as far as git apply takes them.
func (o *Store) Diff(ctx context.Context, path, from, to string, format DiffFormat, out io.Writer, paths ...string) error {
	if _, err := gitdir.Linked(path, o.Repository.CommonDir, ""); err != nil {
		return err
	}
	args := []string{
		"-c", "diff.suppressBlankEmpty=false", "-c", "core.quotePath=false", "diff-tree", "-r", "--find-renames", "--no-ext-diff", "--no-textconv",
		"--submodule=short", "--ignore-submodules=none", "-O/dev/null", "--no-relative", "--color=" + map[bool]string{true: "always", false: "never"}[format.Color],
	}
	switch {
	case format.list:
		args = append(args, "--raw", "--numstat", "-z")
	case format.Form != "":
		args = append(args, "--"+format.Form)
	default:
		args = append(args, "--patch", "--binary", "--full-index", "--unified=3", "--inter-hunk-context=0",
			"--src-prefix="+cmp.Or(format.From, "a")+"/", "--dst-prefix="+cmp.Or(format.To, "b")+"/", "--ws-error-highlight=none")
	}
	return o.Quarantined(git.In(path)).Stream(ctx, nil, out, append(append(args, "--end-of-options", from, to, "--"), paths...)...)
}

// FileChange is a file that differs between two commits, with the lines that were added and deleted.
type FileChange struct {
	Path           string
	From           string // name before a rename, else ""
	Status         string // git's letter: A, D, M, R or T
	Added, Deleted int
	Binary         bool // it has no lines
}

// FileChanges lists the files that differ between two commits, as Diff shows them.
func (o *Store) FileChanges(ctx context.Context, path, from, to string, paths ...string) (files []FileChange, err error) {
	var out strings.Builder
	if err := o.Diff(ctx, path, from, to, DiffFormat{list: true}, &out, paths...); err != nil {
		return nil, err
	}
	fields := git.NulSeparated(out.String())
	for len(fields) > 2 && strings.HasPrefix(fields[0], ":") { // first each file with its modes, ids and letter
		one := FileChange{Path: fields[1], Status: fields[0][strings.LastIndexByte(fields[0], ' ')+1:][:1]}
		if fields = fields[2:]; one.Status == "R" {
			one.From, one.Path, fields = one.Path, fields[0], fields[1:]
		}
		files = append(files, one)
	}
	for i := range files { // then each with its lines, in the same order
		if len(fields) == 0 {
			return nil, fmt.Errorf("git diff-tree does not count the lines of %s", files[i].Path)
		}
		added, rest, _ := strings.Cut(fields[0], "\t")
		deleted, _, _ := strings.Cut(rest, "\t")
		if fields = fields[1:]; files[i].From != "" {
			fields = fields[min(2, len(fields)):] // both names
		}
		files[i].Binary = added == "-"
		files[i].Added, _ = strconv.Atoi(added)
		files[i].Deleted, _ = strconv.Atoi(deleted)
	}
	return files, nil
}
