package objects

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// PatchIDs returns the patch ids of commits against their first parents, by commit. Merges and
// empty commits have none.
func (o *Store) PatchIDs(ctx context.Context, commits []string) (map[string]string, error) {
	ids := map[string]string{}
	if len(commits) == 0 {
		return ids, nil
	}
	patches, err := o.Home().Input(ctx, []byte(strings.Join(commits, "\n")+"\n"), "diff-tree", "--stdin", "-p", "-r", "-O/dev/null", "--no-ext-diff", "--no-textconv", "--no-renames")
	if err != nil {
		return nil, err
	}
	out, err := o.Home().Input(ctx, []byte(patches), "patch-id", "--stable")
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) == 2 {
			ids[fields[1]] = fields[0]
		}
	}
	return ids, err
}

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
	there, err := o.Home().Output(ctx, append([]string{"--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", from, "--"}, paths...)...)
	if err != nil {
		return "", err
	}
	var entries strings.Builder
	for _, path := range paths {
		entries.WriteString("0 " + strings.Repeat("0", len(commit)) + "\t" + path + "\x00")
	}
	return o.TreeOfEntries(ctx, commit, []byte(entries.String()+there))
}

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

// Had returns the paths at which a snapshot differs from base, the commit it was taken on, and
// which some commit on the first-parent line from base to tip has set to the snapshot's content.
func (o *Store) Had(ctx context.Context, base, tip, snapshot string) ([]string, error) {
	taken, err := o.ChangesBetween(ctx, base, snapshot)
	if err != nil {
		return nil, err
	}
	wanted := map[string]string{}
	for _, c := range taken {
		wanted[c.Name] = c.Entry()
	}
	var had []string
	err = eachChange(ctx, o.Home(), nil, nil, func(c Change) {
		if entry, is := wanted[c.Name]; is && entry == c.Entry() {
			had = append(had, c.Name)
			delete(wanted, c.Name)
		}
	}, git.Quietly("log", "--first-parent", "--diff-merges=first-parent", "--format="), base+".."+tip)
	return had, err
}

// Ancestry returns a common ancestor of all tips, "" for none, and the parents of tips and others
// and of all their ancestors, except those that the common ancestor has, too. Commits missing in
// the object store are left out. One git process is enough if guess is an ancestor of all tips.
func (o *Store) Ancestry(ctx context.Context, guess string, tips, others []string) (root string, parents map[string][]string, err error) {
	all := slices.Concat(tips, others)
	if Stored(o.Repository.CommonDir, guess) {
		parents, err := o.parentsOf(ctx, all, guess)
		if err != nil {
			return "", nil, err
		}
		if root := newestCommon(parents, guess, tips); root != "" {
			behind := Ancestors(parents, root)
			maps.DeleteFunc(parents, func(commit string, _ []string) bool { return behind[commit] })
			return root, parents, nil
		}
	}
	if root = tips[0]; len(tips) > 1 {
		if root, err = o.CommonBase(ctx, tips...); err != nil {
			return "", nil, err
		}
	}
	parents, err = o.parentsOf(ctx, all, root)
	return root, parents, err
}

// newestCommon returns the newest common ancestor of all tips; "" unless bottom, whose ancestors
// parents does not have, is a common ancestor, and if there are several newest ones.
func newestCommon(parents map[string][]string, bottom string, tips []string) string {
	var both map[string]bool
	for _, tip := range tips {
		has := Ancestors(parents, tip)
		if !has[bottom] {
			return ""
		}
		if both == nil {
			both = has
		}
		maps.DeleteFunc(both, func(commit string, _ bool) bool { return !has[commit] })
	}
	newest := Newest(parents, both)
	if len(newest) != 1 {
		return ""
	}
	return newest[0]
}

// Newest returns those of some commits that are the parent of none of them.
func Newest(parents map[string][]string, commits map[string]bool) []string {
	newest := maps.Clone(commits)
	for commit := range commits {
		for _, parent := range parents[commit] {
			delete(newest, parent)
		}
	}
	return slices.Sorted(maps.Keys(newest))
}

// Ancestors returns commits and those of their ancestors that parents has or names.
func Ancestors(parents map[string][]string, commits ...string) map[string]bool {
	return ancestors(func(commit string) []string { return parents[commit] }, commits)
}

func ancestors(parents func(commit string) []string, commits []string) map[string]bool {
	seen := map[string]bool{}
	for todo := slices.Clone(commits); len(todo) > 0; {
		next := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; !seen[next] {
			seen[next] = true
			todo = append(todo, parents(next)...)
		}
	}
	return seen
}

// CommonBase returns a common ancestor of all commits, "" for none.
func (o *Store) CommonBase(ctx context.Context, commits ...string) (string, error) {
	base, err := o.mergeBase(ctx, append([]string{"--octopus"}, commits...)...)
	return strings.Join(base, ""), err
}

// mergeBase returns what git merge-base prints for these arguments: nothing for unrelated histories.
func (o *Store) mergeBase(ctx context.Context, args ...string) ([]string, error) {
	out, err := o.Home().Output(ctx, append([]string{"merge-base"}, args...)...)
	if git.ExitCode(err) == 1 {
		return nil, nil
	}
	return strings.Fields(out), err
}

// parentsOf returns the parents of the commits and of all their ancestors, except those that one of
// without has, too; "" there stands for none. Commits missing in the object store are left out. A
// remembering store asks git only about commits that it was not asked for.
func (o *Store) parentsOf(ctx context.Context, commits []string, without ...string) (map[string][]string, error) {
	log := &log{}
	if o.known != nil {
		log = &o.known.log
	}
	log.Lock()
	defer log.Unlock()
	if below := strings.Join(without, "\n^"); log.below != below || log.parents == nil {
		log.below, log.parents, log.asked = below, map[string][]string{}, map[string]bool{}
	}
	ask := slices.DeleteFunc(slices.Clone(commits), func(one string) bool { return !gitdir.IsOID(one) || log.asked[one] || log.parents[one] != nil })
	if len(ask) > 0 {
		input := strings.Join(ask, "\n") + "\n"
		if log.below != "" {
			input += "^" + log.below + "\n"
		}
		out, err := o.Home().Input(ctx, []byte(input), "rev-list", "--parents", "--ignore-missing", "--stdin")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			ids := strings.Fields(line)
			log.parents[ids[0]] = ids[1:]
		}
		for _, commit := range ask {
			log.asked[commit] = true
		}
	}
	parents := map[string][]string{}
	for commit := range Ancestors(log.parents, commits...) {
		if from := log.parents[commit]; from != nil {
			parents[commit] = from
		}
	}
	return parents, nil
}

// log is the part of git's history that parentsOf has read.
type log struct {
	sync.Mutex
	below   string // commits whose ancestors are left out
	parents map[string][]string
	asked   map[string]bool // commits that git was asked for, also those that it left out
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
	there, err := o.ContainsExisting(ctx, tip, commit)
	if git.ExitCode(err) == 128 && Vanished(err) {
		return false, nil
	}
	return there, err
}

// ContainsExisting is Contains for commits that must exist; a missing commit is an error.
func (o *Store) ContainsExisting(ctx context.Context, tip, commit string) (bool, error) {
	if tip == commit || o.known.isBefore(commit, tip) {
		return true, nil
	}
	err := o.Home().Run(ctx, "merge-base", "--is-ancestor", commit, tip)
	if git.ExitCode(err) == 1 {
		return false, nil
	}
	if err == nil {
		o.known.cameBefore(commit, tip)
	}
	return err == nil, err
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
		"error building trees", "Not a valid object name", "Not a valid commit name", "does not point to a valid object", "could not parse",
	}, failed.Said)
}

// known caches unchanging facts about objects, by their full ids, so that one command asks git only
// once. A nil known caches nothing.
type known struct {
	trees   sync.Map // commit -> tree
	changes sync.Map // [2]string -> []Change between two trees, or between commits whose tree is unknown
	before  sync.Map // pairs [2]string{ancestor, descendant}
	log     log
}

// Remembering returns o with a cache of facts about objects, for one command.
func (o *Store) Remembering() *Store {
	remembering := *o
	remembering.known = &known{}
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
