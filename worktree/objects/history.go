package objects

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// IgnoredFiles returns the files of the worktree at path that git ignores.
func (o *Store) IgnoredFiles(ctx context.Context, path string) (map[string]bool, error) {
	out, err := git.In(path).Output(ctx, git.Quietly("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--full-name")...)
	ignored := map[string]bool{}
	for _, name := range git.NulSeparated(out) {
		ignored[name] = true
	}
	return ignored, err
}

// TreeWith returns a commit's tree with some paths taken from another commit.
func (o *Store) TreeWith(ctx context.Context, commit, from string, paths []string) (string, error) {
	if len(paths) == 0 { // git would list all
		return o.TreeOf(ctx, commit)
	}
	var entries strings.Builder
	wanted := make(map[string]bool, len(paths))
	for _, path := range paths {
		wanted[path] = true
		entries.WriteString("0 " + strings.Repeat("0", len(commit)) + "\t" + path + "\x00")
	}
	if len(paths) > mostArguments {
		paths = nil
	}
	there, err := o.Home().Output(ctx, append([]string{"--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", from, "--"}, paths...)...)
	if err != nil {
		return "", err
	}
	for _, entry := range git.NulSeparated(there) {
		if _, path, _ := strings.Cut(entry, "\t"); wanted[path] {
			entries.WriteString(entry + "\x00")
		}
	}
	return o.TreeOfEntries(ctx, commit, []byte(entries.String()))
}

// mostArguments limits the paths in one command line, which the system limits in bytes.
const mostArguments = 500

// TreeOfEntries returns a commit's tree with changed entries, in the format of git update-index
// --index-info.
func (o *Store) TreeOfEntries(ctx context.Context, commit string, entries []byte) (string, error) {
	dir, err := os.MkdirTemp("", "paw")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	repo := o.Home().WithEnv("GIT_INDEX_FILE=" + filepath.Join(dir, "index"))
	if err := repo.Run(ctx, "read-tree", commit); err != nil {
		return "", err
	}
	if _, err := repo.Input(ctx, entries, "update-index", "--replace", "-z", "--index-info"); err != nil {
		return "", err
	}
	return repo.Line(ctx, "write-tree")
}

// mergeBase returns what git merge-base prints for these arguments: nothing for unrelated histories.
func (o *Store) mergeBase(ctx context.Context, args ...string) ([]string, error) {
	out, err := o.Home().Output(ctx, append([]string{"merge-base"}, args...)...)
	if git.ExitCode(err) == 1 {
		return nil, nil
	}
	return strings.Fields(out), err
}

// MergeBase returns a common ancestor of two commits, "" for none.
func (o *Store) MergeBase(ctx context.Context, one, other string) (string, error) {
	base, err := o.mergeBase(ctx, one, other)
	return strings.Join(base, ""), err
}

// MergeBases returns the best common ancestors of a commit and of all others taken together; none
// if the histories are unrelated. None of them is an ancestor of another.
func (o *Store) MergeBases(ctx context.Context, one string, others ...string) ([]string, error) {
	return o.mergeBase(ctx, append([]string{"--all", one}, others...)...)
}

// Contains reports whether commit is tip or an ancestor of it, both by id. A commit that no longer
// exists is none.
func (o *Store) Contains(ctx context.Context, tip, commit string) (bool, error) {
	if tip == commit || o.known.isBefore(commit, tip) {
		return true, nil
	}
	err := o.Home().Run(ctx, "merge-base", "--is-ancestor", commit, tip)
	switch code := git.ExitCode(err); {
	case code == 1, code == 128 && Vanished(err):
		return false, nil
	case err != nil:
		return false, err
	}
	o.known.cameBefore(commit, tip)
	return true, nil
}

// ErrPruned says that git has removed a snapshot that no ref kept.
var ErrPruned = errors.New("the last snapshot is gone")

// Vanished reports whether git missed an object that existed a moment ago.
func Vanished(err error) bool {
	if errors.Is(err, ErrPruned) {
		return true
	}
	var failed *git.Error
	if !errors.As(err, &failed) {
		return false
	}
	return slices.ContainsFunc([]string{
		"nonexistent object", "invalid object", "not a valid object", "unable to read", "bad object", "missing blob", "missing tree",
		"error building trees", "Not a valid object name", "Not a valid commit name", "does not point to a valid object", "could not parse", "unable to parse",
	}, failed.Said)
}

// known caches unchanging facts about objects, by their full ids, so that one command asks git only
// once. A nil known caches nothing.
type known struct {
	*facts
	before sync.Map // pairs [2]string{ancestor, descendant}
}

// facts hold in any history.
type facts struct {
	trees   sync.Map // commit -> tree
	changes sync.Map // [2]string -> []Change between two trees, or between commits whose tree is unknown
}

// Remembering returns o with a cache of facts about objects, for one command.
func (o *Store) Remembering() *Store {
	remembering := *o
	remembering.known = &known{facts: &facts{}}
	return &remembering
}

// KnowsBefore reports whether commit is known to be an ancestor of tip.
func (o *Store) KnowsBefore(commit, tip string) bool { return o.known.isBefore(commit, tip) }

// treeOf returns the tree of a commit, "" if unknown.
func (k *known) treeOf(commit string) string {
	if k == nil {
		return ""
	}
	tree, _ := k.trees.Load(commit)
	id, _ := tree.(string)
	return id
}

// isTreeOf stores the tree of a commit; tree may have the suffix ^{tree}.
func (k *known) isTreeOf(commit, tree string) {
	if of, named := strings.CutSuffix(tree, "^{tree}"); named {
		tree = k.treeOf(of)
	}
	if k != nil && gitdir.IsOID(commit) && gitdir.IsOID(tree) {
		k.trees.Store(commit, tree)
	}
}

// changesBetween returns the changes between two commits or trees, calling ask at most once for
// each pair.
func (k *known) changesBetween(from, to string, ask func() ([]Change, error)) ([]Change, error) {
	if k == nil || !gitdir.IsOID(from) || !gitdir.IsOID(to) {
		return ask()
	}
	pair := [2]string{cmp.Or(k.treeOf(from), from), cmp.Or(k.treeOf(to), to)}
	if all, found := k.changes.Load(pair); found {
		return slices.Clone(all.([]Change)), nil
	}
	all, err := ask()
	if err == nil {
		k.changes.Store(pair, slices.Clone(all))
	}
	return all, err
}

func (k *known) isBefore(commit, tip string) bool {
	if k == nil {
		return false
	}
	_, is := k.before.Load([2]string{commit, tip})
	return is
}

func (k *known) cameBefore(commit, tip string) {
	if k != nil && gitdir.IsOID(commit) && gitdir.IsOID(tip) {
		k.before.Store([2]string{commit, tip}, true)
	}
}
