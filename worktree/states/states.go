// Package states keeps the chain of an agent's states, and asks git what of it a branch has.
//
// Each state is kept twice: as a snapshot, whose parent is HEAD, which is what the user sees, and as
// a twin, a hidden commit of the same tree whose first parent is the twin of the state before. What
// HEAD says is lost with a git commit --amend or a git reset --soft; a chain stays. A twin with a second
// parent has got that commit of another branch. Its tree is the merge of both, and no work of the
// agent. All other twins are work: what they change is what the agent's turns and the user's hand
// in the worktree changed. The chain begins with a commit of the user, or with a snapshot of what the
// user had not committed.
//
// A graft says that a commit of a branch stands for a state: a replacement (git-replace(1)) that has
// the twin as one more parent, below a place of its own, where the user's git does not look. With
// it, git merge-base, merge-tree and rev-list answer what has landed and what lands.
//
// Begin with Store; ahead.go says what a state has beyond a branch, lands.go brings it there.
package states

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"paw/worktree/objects"
	"paw/worktree/refs"
)

// GraftBase is the start of the refs of grafts; the id of a commit follows.
const GraftBase = "refs/paw/graft/"

// Store makes and reads chains in the object store of a repository.
type Store struct {
	objects *objects.Store // sees grafts
	plain   *objects.Store // sees the history as the user does
	refs    *refs.Store
}

// New returns the chains in an object store, with the refs of its repository.
func New(o *objects.Store, r *refs.Store) *Store {
	return &Store{o.Grafted(GraftBase), o, r}
}

// Objects returns the object store, in which git sees the grafts.
func (s *Store) Objects() *objects.Store { return s.objects }

// State is a state of an agent.
type State struct {
	Twin     string // the commit in the chain
	Snapshot string // the commit that the user sees
	Head     string // HEAD of the worktree at that time
	Log      int64  // size of the log of HEAD then, 0 if not known
}

// Taken describes a snapshot that continues a chain.
type Taken struct {
	Snapshot, Head string
	Name           string // names the state: "shop_api after turn 3"
	AdminDir       string // git directory of the worktree, whose log of HEAD is read; "" for none
	Dir            string // directory whose git attributes apply to merges

	reset bool // HEAD came here without a merge or a rebase

	// From returns the tips of the branches that the worktree may have got commits of.
	From func(context.Context) ([]string, error)
	// Others returns the twins of other agents' states by the commits that have them whole; nil for none.
	Others func(context.Context) (map[string]string, error)
}

// Subject begins the message of each twin. No other commit has one like it.
const Subject = "paw: state "

// partOf begins the subject of a commit that has a part of another one, the id of which follows whole.
const partOf, ofWhole = "part of state ", " of "

// Next returns the state after before: before itself if nothing has changed, else a new twin. What
// the worktree got meanwhile of the commits in t.From, tips of branches, becomes a state of its own
// in between. No ref is set, except for grafts.
func (s *Store) Next(ctx context.Context, before State, t Taken) (State, error) {
	if t.Snapshot == before.Snapshot && t.Head == before.Head {
		return before, nil
	}
	log, err := readHeadLog(t.AdminDir)
	if err != nil {
		return State{}, err
	}
	next := State{Twin: before.Twin, Snapshot: t.Snapshot, Head: t.Head, Log: log.size}
	if t.Head != before.Head && !log.since(before).onlyCommits(before.Head, t.Head) {
		if next.Twin, err = s.moved(ctx, before, t, log); err != nil {
			return State{}, err
		}
		if same, err := s.objects.SameTree(ctx, next.Twin, t.Snapshot); same || err != nil { // often nothing else has changed
			return next, err
		}
	}
	next.Twin, err = s.Twin(ctx, t.Snapshot+"^{tree}", t.Name, next.Twin)
	return next, err
}

// Twin makes a twin.
func (s *Store) Twin(ctx context.Context, tree, name string, parents ...string) (string, error) {
	return s.plain.Commit(ctx, objects.NewCommit{Tree: tree, Parents: parents, Message: Subject + name + "\n", Own: true})
}

// moved returns the state from which the worktree went on after HEAD was moved by something else than commits.
func (s *Store) moved(ctx context.Context, before State, t Taken, log headLog) (twin string, err error) {
	twin, forward := before.Twin, false
	if before.Head != "" {
		forward, err = s.plain.Contains(ctx, t.Head, before.Head)
	}
	if !forward && err == nil {
		twin, err = s.back(ctx, before, t)
	}
	if err != nil {
		return "", err
	}
	before.Twin = twin
	got, err := s.got(ctx, before, t, log)
	for _, one := range got {
		if err == nil {
			twin, err = s.join(ctx, twin, one, t)
		}
	}
	return twin, err
}

// WithTree returns the newest state of a chain that has the files of a commit, "" for none.
func (s *Store) WithTree(ctx context.Context, twin, commit string) (string, error) {
	tree, err := s.objects.TreeOf(ctx, commit)
	if err != nil {
		return "", err
	}
	out, err := s.plain.Home().Output(ctx, "rev-list", "--first-parent", fmt.Sprintf("--max-count=%d", mostLookedAt), "--no-commit-header", "--format=%H %T %ae %s", twin, "--")
	for text := range strings.Lines(out) {
		f := strings.Fields(text)
		if len(f) < 4 || f[2] != objects.Email || f[3] != "paw:" { // what the chain began with
			break
		}
		if f[1] == tree {
			return f[0], err
		}
	}
	return "", err
}

// back returns the state that the worktree has gone back to, where HEAD was moved back by hand: the newest one
// with the same files, or the one before it got a commit that HEAD does not have any more and of which the
// files have nothing.
func (s *Store) back(ctx context.Context, before State, t Taken) (string, error) {
	if before.Head != "" { // else it may have edited them to what they were
		if same, err := s.WithTree(ctx, before.Twin, t.Snapshot); same != "" || err != nil {
			return same, err
		}
	}
	chain, err := s.lines(ctx, s.plain, "--first-parent", fmt.Sprintf("--max-count=%d", mostLookedAt), before.Twin, "--")
	if err != nil {
		return "", err
	}
	twin := before.Twin
	for _, one := range chain {
		if !one.own {
			break
		}
		if len(one.parents) < 2 {
			continue
		}
		if has, err := s.plain.Contains(ctx, t.Head, one.parents[1]); has || err != nil {
			return twin, err
		}
		brought, err := s.objects.ChangedPaths(ctx, one.parents[0], one.id)
		if err != nil {
			return "", err
		}
		differ, err := s.objects.ChangedPaths(ctx, one.parents[0], t.Snapshot)
		if err != nil || slices.ContainsFunc(brought, func(path string) bool { return slices.Contains(differ, path) }) {
			return twin, err
		}
		twin = one.parents[0]
	}
	return twin, nil
}

// join makes the twin in which a state has got a commit. Paths in which the two conflict are as in
// the state that the worktree came to.
func (s *Store) join(ctx context.Context, before, got string, t Taken) (string, error) {
	merged, err := s.objects.MergeTree(ctx, t.Dir, before, got)
	if err != nil {
		return "", err
	}
	if len(merged.Conflicts) > 0 {
		if merged.Tree, err = s.objects.TreeWith(ctx, merged.Tree, t.Snapshot, merged.Conflicts); err != nil {
			return "", err
		}
	}
	return s.Twin(ctx, merged.Tree, t.Name+", got", before, got)
}

// got returns the commits of other branches that the worktree has got since a state, as far as its
// files bear them out: after a git reset --soft HEAD claims commits that no file has.
func (s *Store) got(ctx context.Context, before State, t Taken, log headLog) (got []string, err error) {
	since := log.since(before)
	t.reset = since.onlyResets()
	tips, err := t.From(ctx)
	if err != nil || len(tips) == 0 {
		return nil, err
	}
	reached, err := s.reached(ctx, before.Twin, since.visited(t.Head), tips, log.made())
	if err != nil {
		return nil, err
	}
	for _, one := range reached {
		taken, err := s.taken(ctx, before.Twin, one, t)
		if err != nil {
			return nil, err
		}
		if taken != "" {
			got = append(got, taken)
		}
	}
	other, err := s.merged(ctx, before.Twin, tips, t)
	if other != "" {
		got = append(got, other)
	}
	return got, err
}

// mostLookedAt limits the commits of a history that are looked at.
const mostLookedAt = 1000

// merged returns the newest state of another agent that HEAD has, and neither the state before nor another
// branch has the commit of, "" for none: the commit of an agent that has committed nothing is no work of it.
func (s *Store) merged(ctx context.Context, before string, tips []string, t Taken) (newest string, err error) {
	if t.Others == nil {
		return "", nil
	}
	others, err := t.Others(ctx)
	if err != nil || len(others) == 0 {
		return "", err
	}
	since, err := s.lines(ctx, s.plain, slices.Concat([]string{"--topo-order", fmt.Sprintf("--max-count=%d", mostLookedAt), t.Head, "--not", before}, tips, []string{"--"})...)
	for _, one := range since {
		twin := others[one.id]
		if twin == "" {
			continue
		}
		if has, err := s.objects.Contains(ctx, before, twin); has || err != nil {
			return "", err
		}
		taken, err := s.taken(ctx, before, twin, t)
		if taken == twin {
			return twin, err
		}
		return "", err
	}
	return "", err
}

// reached returns the newest commits of other branches in the histories of commits that HEAD was at, and
// that a state does not have. A commit that was made in the worktree itself, and then put on a branch, was
// not got, but what came before it may have been.
func (s *Store) reached(ctx context.Context, before string, heads, tips []string, made map[string]bool) ([]string, error) {
	var found, todo []string
	for _, head := range heads {
		bases, err := s.plain.MergeBases(ctx, head, tips...) // the newest that any of them has
		if err != nil {
			return nil, err
		}
		todo = append(todo, bases...)
	}
	seen := map[string]bool{}
	for len(todo) > 0 {
		one := todo[0]
		if todo = todo[1:]; seen[one] {
			continue
		}
		seen[one] = true
		if made[one] {
			its, err := s.lines(ctx, s.plain, "--no-walk", one)
			if err != nil || len(its) == 0 {
				return nil, err
			}
			todo = append(todo, its[0].parents...)
			continue
		}
		if has, err := s.objects.Contains(ctx, before, one); err != nil {
			return nil, err
		} else if !has {
			found = append(found, one)
		}
	}
	if len(found) < 2 {
		return found, nil
	}
	out, err := s.plain.Home().Output(ctx, append([]string{"merge-base", "--independent"}, found...)...)
	return strings.Fields(out), err
}

// taken returns what of a commit was got, path by path. Of the paths that a merge of the commit into
// the state before would change, those that are as they were before were not taken, unless a merge or a rebase
// has resolved a conflict so. The result is the commit itself if all were taken, "" for none, else a commit that has those that were taken alone.
func (s *Store) taken(ctx context.Context, before, commit string, t Taken) (string, error) {
	merged, err := s.objects.MergeTree(ctx, t.Dir, before, commit)
	if err != nil {
		return "", err
	}
	brought, err := s.objects.ChangedPaths(ctx, before, merged.Tree)
	if err != nil {
		return "", err
	}
	changed, err := s.objects.ChangedPaths(ctx, before, t.Snapshot)
	if err != nil {
		return "", err
	}
	lacks, err := s.lacks(ctx, before, merged.Tree, t)
	if err != nil {
		return "", err
	}
	resolved, err := s.resolved(ctx, merged.Conflicts, commit, t)
	if err != nil {
		return "", err
	}
	var left []string
	for _, path := range slices.Compact(slices.Sorted(slices.Values(append(brought, merged.Conflicts...)))) {
		if slices.Contains(resolved, path) {
			continue
		}
		if !slices.Contains(changed, path) || slices.Contains(lacks, path) {
			left = append(left, path)
		}
	}
	switch {
	case len(left) == 0:
		return commit, nil
	case s.objects.IsReader(): // a graft would have to be kept
		return "", nil
	}
	for _, path := range brought {
		if !slices.Contains(left, path) {
			return s.part(ctx, before, commit, left, t)
		}
	}
	return "", nil
}

// lacks returns the paths in which the worktree does not have, beside what it has changed itself, what a
// merge would have brought into the state before. Where both have changed the same lines, only a merge or a
// rebase can have brought it.
func (s *Store) lacks(ctx context.Context, before, merged string, t Taken) ([]string, error) {
	both, err := s.objects.MergeTrees(ctx, t.Dir, before, t.Snapshot, merged)
	if err != nil {
		return nil, err
	}
	paths, err := s.objects.ChangedPaths(ctx, t.Snapshot, both.Tree)
	return slices.DeleteFunc(paths, func(path string) bool { return !t.reset && slices.Contains(both.Conflicts, path) }), err
}

// resolved returns the conflicts that a merge or a rebase may have resolved to what the worktree had before: none
// where HEAD does not have the commit, as after one that was given up.
func (s *Store) resolved(ctx context.Context, conflicts []string, commit string, t Taken) ([]string, error) {
	if len(conflicts) == 0 || t.reset {
		return nil, nil
	}
	has, err := s.plain.Contains(ctx, t.Head, commit)
	if !has {
		return nil, err
	}
	return conflicts, err
}

// part makes a commit that has a commit's paths but those in left, which are as they were before the
// commit and the state parted. The commit is grafted onto it, and so has it.
func (s *Store) part(ctx context.Context, before, commit string, left []string, t Taken) (string, error) {
	base, err := s.objects.MergeBase(ctx, before, commit)
	if err != nil || base == "" {
		return "", err
	}
	tree, err := s.objects.TreeWith(ctx, commit, base, left)
	if err != nil {
		return "", err
	}
	part, err := s.plain.Commit(ctx, objects.NewCommit{Tree: tree, Parents: []string{base}, Message: partOf + t.Name + ofWhole + commit + "\n", Own: true})
	if err != nil {
		return "", err
	}
	parents, err := s.graftable(ctx, commit, part)
	if parents == nil || err != nil {
		return part, err
	}
	return part, s.GraftOnto(ctx, commit, append(parents, part)...) // last: its lines are those of the others
}

// lineFormat makes git print a line for each commit.
const lineFormat = "--format=%H%x00%P%x00%ae%x00%s"

// lines lists commits as git rev-list does.
func (s *Store) lines(ctx context.Context, o *objects.Store, args ...string) (all []line, err error) {
	out, err := o.Home().Output(ctx, slices.Concat([]string{"rev-list", "--no-commit-header", lineFormat}, args)...)
	for text := range strings.Lines(out) {
		if f := strings.Split(strings.TrimSuffix(text, "\n"), "\x00"); len(f) == 4 {
			all = append(all, line{f[0], strings.Fields(f[1]), f[2] == objects.Email && strings.HasPrefix(f[3], "paw: ")})
		}
	}
	return all, err
}

// line is a commit of a history.
type line struct {
	id      string
	parents []string
	own     bool // paw made it: a twin, or a snapshot with which a chain begins
}
