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
	Made     string // the newest twin that has exactly the files of a commit that was made in the worktree, "" if not known
}

// Taken describes a snapshot that continues a chain.
type Taken struct {
	Snapshot, Head string
	Name           string // names the state: "shop_api after turn 3"
	AdminDir       string // git directory of the worktree, whose log of HEAD is read; "" for none
	Dir            string // directory whose git attributes apply to merges

	// From returns the tips of the branches that the worktree may have got commits of.
	From func(context.Context) ([]string, error)
	// Others returns the twins of other agents' states by the commits that have them whole; nil for none.
	Others func(context.Context) (map[string]string, error)
}

// Subject begins the message of each twin. No other commit has one like it.
const Subject = "paw: state "

// madeAs is followed by the id of the commit that was made in the worktree and has the files of a state. After partly it
// has not all of them; the last parent is the twin of what was committed.
const madeAs, partly = ", commit ", ", partly"

// partOf begins the subject of a commit that has a part of another one, the id of which follows whole.
const partOf, ofWhole = "part of state ", " of "

// instead is followed by the id of a state of which a twin has the work and nothing of what a branch has left.
const instead = " instead of "

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
	next := State{Twin: before.Twin, Snapshot: t.Snapshot, Head: t.Head, Log: log.size, Made: before.made()}
	if t.Head != before.Head && !log.since(before.Head, before.Log).onlyCommits(before.Head, t.Head) {
		if next.Twin, err = s.moved(ctx, before, t, log); err != nil {
			return State{}, err
		}
		if same, err := s.objects.SameTree(ctx, next.Twin, t.Snapshot); same && !log.made()[t.Head] || err != nil { // often nothing else has changed
			return next, err
		}
	}
	if t.Head == before.Head || !log.made()[t.Head] {
		next.Twin, err = s.Twin(ctx, t.Snapshot+"^{tree}", t.Name, next.Twin)
		return next, err
	}
	from := next.Twin
	if next.Twin == before.Twin && t.Snapshot != t.Head {
		if from, err = s.committed(ctx, before, t); err != nil {
			return State{}, err
		}
	}
	next.Made, err = s.Twin(ctx, t.Head+"^{tree}", t.Name+madeAs+t.Head, from)
	if err != nil || t.Snapshot == t.Head {
		next.Twin = next.Made
		return next, err
	}
	next.Twin, err = s.Twin(ctx, t.Snapshot+"^{tree}", t.Name+partly+madeAs+t.Head, next.Twin, next.Made) // the user's git may merge what is committed alone
	return next, err
}

// committed returns the state that HEAD follows, where the worktree has more: the one before, if HEAD has all of it, else what was committed of
// it. After a git reset --soft the HEAD before may have more than that.
func (s *Store) committed(ctx context.Context, before State, t Taken) (string, error) {
	was := before.made()
	if was == "" && before.Head != "" {
		if has, err := s.objects.Contains(ctx, before.Twin, before.Head); err != nil {
			return "", err
		} else if has {
			was = before.Head
		}
	}
	if was == "" || was == before.Twin {
		return before.Twin, nil
	}
	all, err := s.objects.MergeTrees(ctx, t.Dir, was, t.Head, before.Twin)
	if err != nil || len(all.Conflicts) > 0 {
		return was, err
	}
	if same, err := s.objects.SameTree(ctx, all.Tree, t.Head); !same || err != nil {
		return was, err
	}
	return before.Twin, nil
}

// made returns State.Made, also of a state in which all is committed.
func (s State) made() string {
	if s.Made == "" && s.Snapshot == s.Head {
		return s.Twin
	}
	return s.Made
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
		if begin, err := s.rewritten(ctx, before, t); begin != "" || err != nil {
			return begin, err
		}
		twin, err = s.back(ctx, before, t)
	}
	if err != nil {
		return "", err
	}
	return s.got(ctx, twin, log.since(before.Head, before.Log), log.made(), t)
}

// rewritten returns the commit with which a chain begins anew, where HEAD has a history that nothing of the chain is in, and
// that a branch of t.From has, too: the history of both was rewritten. It is the state before where no file came with HEAD, and "" for
// any other move.
func (s *Store) rewritten(ctx context.Context, before State, t Taken) (string, error) {
	if before.Head == "" || t.From == nil {
		return "", nil
	}
	if base, err := s.plain.MergeBase(ctx, t.Head, before.Twin); base != "" || err != nil && !objects.Vanished(err) {
		return "", err
	}
	tips, err := t.From(ctx)
	anew := ""
	for i := 0; i < len(tips) && anew == "" && err == nil; i++ {
		anew, err = s.plain.MergeBase(ctx, t.Head, tips[i])
	}
	if anew == "" || err != nil {
		return "", err
	}
	chain, err := s.chain(ctx, before.Twin)
	if err != nil || len(chain) == 0 {
		return "", err
	}
	brought, err := s.objects.ChangedPaths(ctx, chain[len(chain)-1].id, anew)
	if err != nil || len(brought) == 0 {
		return anew, err
	}
	changed, err := s.objects.ChangedPaths(ctx, before.Twin, t.Snapshot)
	if slices.ContainsFunc(brought, func(path string) bool { return slices.Contains(changed, path) }) {
		return anew, err
	}
	return before.Twin, err
}

// WithTree returns the newest state of a chain that has the files of a commit, "" for none.
func (s *Store) WithTree(ctx context.Context, twin, commit string) (string, error) {
	tree, err := s.objects.TreeOf(ctx, commit)
	if err != nil {
		return "", err
	}
	chain, err := s.chain(ctx, twin)
	return withTree(chain, tree), err
}

func withTree(chain []line, tree string) string {
	for _, one := range chain {
		if one.tree == tree {
			return one.id
		}
		if !one.own { // what the chain began with
			break
		}
	}
	return ""
}

// chain lists the newest states that led to a twin, and what they began with.
func (s *Store) chain(ctx context.Context, twin string) ([]line, error) {
	return s.lines(ctx, s.plain, "--first-parent", fmt.Sprintf("--max-count=%d", mostLookedAt), twin, "--")
}

// back returns the state that the worktree has gone back to, where HEAD was moved back by hand: the newest one
// with the same files, or the one before it got a commit that HEAD does not have any more and of which the
// files have nothing.
func (s *Store) back(ctx context.Context, before State, t Taken) (string, error) {
	chain, err := s.chain(ctx, before.Twin)
	if err != nil {
		return "", err
	}
	if same, err := s.wentBack(ctx, chain, before, t); same != "" || err != nil {
		return same, err
	}
	twin := before.Twin
	for _, one := range chain {
		from, got := "", one.id // the commit that the chain begins with
		if one.partly {
			one.parents = one.parents[:len(one.parents)-1]
		}
		switch {
		case one.own && len(one.parents) < 2:
			continue
		case one.own:
			from, got = one.parents[0], one.parents[1]
		}
		if has, err := s.plain.Contains(ctx, t.Head, got); has || err != nil {
			return twin, err
		}
		if !one.own {
			if from, err = s.plain.MergeBase(ctx, t.Head, got); err != nil || from == "" {
				return twin, err
			}
		}
		brought, err := s.objects.ChangedPaths(ctx, from, one.id)
		if err != nil {
			return "", err
		}
		without, err := s.objects.MergeTrees(ctx, t.Dir, one.id, t.Snapshot, from)
		if err != nil {
			return "", err
		}
		kept, err := s.objects.ChangedPaths(ctx, t.Snapshot, without.Tree)
		if err != nil || len(kept) > 0 || len(without.Conflicts) > 0 {
			return twin, err
		}
		if len(brought) > 0 { // else no file says whether it went
			twin = from
		}
		if !one.own {
			break
		}
	}
	return twin, nil
}

// wentBack returns where the chain goes on after a move of HEAD to one of its ancestors that moved the files, too, as git reset --hard does:
// at the newest state with the same files, or at HEAD itself, if the chain has got that commit of another branch and no file is left of what
// the state before had changed in it. It is "" for other moves, as by git reset --soft, which moves no file.
func (s *Store) wentBack(ctx context.Context, chain []line, before State, t Taken) (string, error) {
	if before.Head == "" {
		return "", nil
	}
	if behind, err := s.plain.Contains(ctx, before.Head, t.Head); !behind || err != nil {
		return "", err
	}
	tree, err := s.objects.TreeOf(ctx, t.Snapshot)
	if same := withTree(chain, tree); same != "" || err != nil {
		return same, err
	}
	if !slices.ContainsFunc(chain, func(one line) bool { return one.own && len(one.parents) > 1 && one.parents[1] == t.Head }) {
		return "", nil
	}
	besides, err := s.objects.ChangedPaths(ctx, before.Twin, t.Head)
	if err != nil {
		return "", err
	}
	differ, err := s.objects.ChangedPaths(ctx, t.Snapshot, t.Head)
	if err != nil || slices.ContainsFunc(besides, func(path string) bool { return slices.Contains(differ, path) }) {
		return "", err
	}
	return t.Head, nil
}

// mostLookedAt limits the commits of a history that are looked at.
const mostLookedAt = 1000

// lineFormat makes git print a line for each commit.
const lineFormat = "--format=%m%x00%H%x00%T%x00%P%x00%ae%x00%s"

// lines lists commits as git rev-list does.
func (s *Store) lines(ctx context.Context, o *objects.Store, args ...string) (all []line, err error) {
	out, err := o.Home().Output(ctx, slices.Concat([]string{"rev-list", "--no-commit-header", lineFormat}, args)...)
	for text := range strings.Lines(out) {
		if f := strings.Split(strings.TrimSuffix(text, "\n"), "\x00"); len(f) == 6 {
			parents := strings.Fields(f[3])
			o.Know(f[1], f[2], parents...)
			one := line{id: f[1], tree: f[2], parents: parents, subject: f[5], own: f[4] == objects.Email && strings.HasPrefix(f[5], "paw: "), beyond: f[0] == "-"}
			if name, is := strings.CutPrefix(f[5], Subject); is && one.own {
				one.by, _, _ = strings.Cut(name, " ")
				_, one.of, _ = strings.Cut(name, instead)
			}
			if name, commit, is := strings.Cut(f[5], madeAs); is && one.own {
				one.commit, one.partly = commit, strings.HasSuffix(name, partly)
			}
			if name, is := strings.CutPrefix(f[5], partOf); is && f[4] == objects.Email {
				_, one.of, _ = strings.Cut(name, ofWhole)
			}
			all = append(all, one)
		}
	}
	return all, err
}

// line is a commit of a history.
type line struct {
	id      string
	tree    string
	parents []string
	subject string
	own     bool   // paw made it: a twin, or a snapshot with which a chain begins
	by      string // of a twin, the first word of its name
	commit  string // of a twin, the commit that was made in the worktree and has its files; "" for none
	partly  bool   // the commit has not all of them, and the last parent is its twin
	of      string // the commit, or the state, of which this one has a part, "" for none
	beyond  bool   // it is only listed because it is a parent of others, with --boundary
}
