package landing

import (
	"context"
	"maps"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/states"
)

// lost is work of an agent that is in a branch's history, and no more in its files: the user has reverted it, or another agent that
// began with it has taken it back and landed.
type lost struct {
	paths     []string
	tree      string       // what the branch has, with the work in these paths
	conflicts []string     // those of the paths in which it cannot be merged
	chain     states.Ahead // the work
}

// lostOf finds what a branch has lost of the work that led to a state in the branch's history. Three things are not lost: what
// somebody has changed since it landed (what git revert took out counts as lost where reverted is set), what the agent itself took
// back before the state now, and what it took back before a landing.
func (w work) lostOf(ctx context.Context, t target, state, now string, reverted bool) (l lost, err error) {
	begin := w.begin()
	if begin == "" || begin == state {
		return l, nil
	}
	chains, err := w.Repo.States().Ahead(ctx, begin, state)
	if err != nil {
		return l, err
	}
	l.chain = chains[0]
	own, err := w.Repo.States().Paths(ctx, l.chain)
	if err != nil || len(own) == 0 {
		return l, err
	}
	differ, err := w.Repo.Objects().ChangedPaths(ctx, t.tip, state)
	if len(differ) == 0 || err != nil {
		return l, err
	}
	differ = slices.DeleteFunc(differ, func(path string) bool { return !own[path] })
	since, err := w.Repo.Objects().ChangedPaths(ctx, begin, t.tip)
	if err != nil {
		return l, err
	}
	tip, err := w.workIn(ctx, t, t.tip, l.chain.Work())
	if err != nil {
		return l, err
	}
	later, had, others, err := w.landedBy(ctx, t, state, reverted)
	if err != nil {
		return l, err
	}
	var out revertedWork
	if reverted {
		if out, err = w.revertedWork(ctx, t, begin, state, l.chain); err != nil {
			return l, err
		}
	}
	for _, path := range app.Once(slices.Concat(differ, tip.lacks, tip.conflicts)) { // git's merge finds renamed ones
		lacks := slices.Contains(tip.lacks, path)
		asBefore := lacks && slices.Contains(differ, path) && (others || !slices.Contains(since, path))
		if asBefore || out.has(path, lacks || slices.Contains(tip.conflicts, path)) {
			l.paths = append(l.paths, path)
		}
	}
	if l.paths, err = w.stillIn(ctx, t, state, l.chain, l.paths, differ); err != nil {
		return l, err
	}
	if err := w.notLost(ctx, t, state, append([]string{now}, later...), had, out, &l); err != nil || len(l.paths) == 0 {
		return l, err
	}
	return l, w.mergeLost(ctx, state, tip, out, &l)
}

// stillIn leaves out paths in which the state and the branch do not differ, and the state lacks the work itself. Where the branch has
// renamed a file, the state has the work under the old name.
func (w work) stillIn(ctx context.Context, t target, state string, chain states.Ahead, paths, differ []string) ([]string, error) {
	alike := func(path string) bool { return !slices.Contains(differ, path) }
	if !slices.ContainsFunc(paths, alike) {
		return paths, nil
	}
	one, err := w.workIn(ctx, t, state, chain.Work())
	return slices.DeleteFunc(paths, func(path string) bool { return alike(path) && slices.Contains(one.lacks, path) }), err
}

// notLost leaves out what the agent has taken back in a later state, and what somebody has changed since a commit of the branch that had it.
func (w work) notLost(ctx context.Context, t target, state string, later, had []string, out revertedWork, l *lost) error {
	for i, commit := range slices.Concat(later, had) {
		if len(l.paths) == 0 || commit == state {
			continue
		}
		one, err := w.workIn(ctx, t, commit, l.chain.Work())
		if err != nil {
			return err
		}
		var paths []string
		for _, path := range l.paths {
			lacks, keep := slices.Contains(one.lacks, path), false
			if tookBack := i < len(later); tookBack || lacks {
				keep = tookBack != lacks
			} else if keep, err = w.newerThan(ctx, out.by[path], commit); err != nil {
				return err
			}
			if keep {
				paths = append(paths, path)
			}
		}
		l.paths = paths
	}
	return nil
}

// landedBy finds the landings of a branch that had what a state has, of the agent itself and of others that were started from the state:
// the states of the agent's own that followed, and the commits that were not reverted, or with reverted not set, all. others says that
// somebody else has landed it.
func (w work) landedBy(ctx context.Context, t target, state string, reverted bool) (later, had []string, others bool, err error) {
	led, err := states.Containing(ctx, w.Repo.Objects(), state, strings.TrimSuffix(turn.LandedPattern, "after")+"twin")
	if err != nil {
		return nil, nil, false, err
	}
	all, err := w.standings(ctx, t)
	for _, one := range all {
		own, after := one.TurnSession == w.Record.TurnSession, slices.Contains(led, turn.LandedRef(one.TurnSession, one.ID, "twin"))
		if !one.stands() || !own && !after || !one.there(ctx, w.Repo.Objects()) {
			continue
		}
		if own && after {
			later = append(later, one.Twin)
		}
		if out := one.Standing == Reverted || one.Revert != ""; !out || !reverted {
			had, others = append(had, one.After), others || !own
		}
	}
	return later, had, others, err
}

// mergeLost makes the tree with the work in the lost paths: as the state has them, if the branch without its reverts has the same, else
// as git merges it.
func (w work) mergeLost(ctx context.Context, state string, tip workIn, out revertedWork, l *lost) (err error) {
	l.tree = tip.tree
	var asWas []string
	for _, path := range l.paths {
		switch {
		case out.same(path):
			asWas = append(asWas, path)
		case slices.Contains(tip.conflicts, path):
			l.conflicts = append(l.conflicts, path)
		}
	}
	if len(asWas) > 0 {
		l.tree, err = w.Repo.Objects().TreeWith(ctx, l.tree, state, asWas)
	}
	return err
}

// workIn says how a commit takes work that is merged into it once more.
type workIn struct {
	tree      string   // with the commit's side of conflicts
	lacks     []string // paths that change
	conflicts []string // paths that conflict
}

func (w work) workIn(ctx context.Context, t target, commit string, pairs [][2]string) (one workIn, err error) {
	if one.tree, one.conflicts, err = w.mergeOnto(ctx, t, commit, pairs); err != nil {
		return one, err
	}
	one.lacks, err = w.Repo.Objects().ChangedPaths(ctx, commit, one.tree)
	return one, err
}

// revertedWork is what a branch would have of some work without the commits that say they revert another one.
type revertedWork struct {
	by     map[string][]string // these commits, by the paths that they change
	work   workIn              // how the branch takes the work then
	differ []string            // paths that are not as in the state of the work then
	steps  []string            // paths in which the branch lacks a single step of the work now, which a later one may have taken back
}

// same reports whether the branch would have a path as the state of the work.
func (r revertedWork) same(path string) bool {
	return len(r.by[path]) > 0 && !slices.Contains(r.differ, path) && slices.Contains(r.steps, path)
}

// has reports whether the branch, which may lack the work in a path, would have it.
func (r revertedWork) has(path string, lacks bool) bool {
	return r.same(path) || lacks && len(r.by[path]) > 0 && !slices.Contains(r.work.lacks, path) && !slices.Contains(r.work.conflicts, path)
}

func (w work) revertedWork(ctx context.Context, t target, since, state string, chain states.Ahead) (r revertedWork, err error) {
	_, by, err := w.Repo.States().Mentioned(ctx, t.tip, since)
	if len(by) == 0 || err != nil {
		return r, err
	}
	history, err := w.Repo.Objects().HistorySince(ctx, t.tip, since)
	if err != nil {
		return r, err
	}
	r.by = map[string][]string{}
	reverts := slices.Collect(maps.Values(by))
	tree := t.tip
	for _, one := range slices.Backward(history) {
		if !slices.Contains(reverts, one.ID) || len(one.Parents) == 0 {
			continue
		}
		without, _, err := w.mergeOnto(ctx, t, tree, [][2]string{{one.ID, one.Parents[0]}})
		if err != nil {
			return r, err
		}
		paths, err := w.Repo.Objects().ChangedPaths(ctx, tree, without)
		if err != nil {
			return r, err
		}
		for _, path := range paths {
			r.by[path] = append(r.by[path], one.ID)
		}
		tree = without
	}
	if r.differ, err = w.Repo.Objects().ChangedPaths(ctx, tree, state); err != nil {
		return r, err
	}
	var steps [][2]string
	for _, step := range chain.Steps {
		if step.Got == "" {
			steps = append(steps, [2]string{step.From, step.To})
		}
	}
	now, err := w.workIn(ctx, t, t.tip, steps)
	if err != nil {
		return r, err
	}
	r.steps = now.lacks
	r.work, err = w.workIn(ctx, t, tree, chain.Work())
	return r, err
}

// newerThan reports whether one of some commits is not in the history of another one.
func (w work) newerThan(ctx context.Context, some []string, than string) (bool, error) {
	for _, one := range some {
		if has, err := w.Repo.Objects().Contains(ctx, than, one); !has || err != nil {
			return !has, err
		}
	}
	return false, nil
}

// mergeOnto merges pairs of commits into a commit, each with its first one as the base. Where that conflicts the tree has the commit's
// side.
func (w work) mergeOnto(ctx context.Context, t target, onto string, pairs [][2]string) (tree string, conflicts []string, err error) {
	tree = onto
	for _, pair := range pairs {
		merged, err := w.Repo.Objects().MergeTrees(ctx, t.place(w.Repo), pair[0], tree, pair[1])
		if err != nil {
			return "", nil, err
		}
		if len(merged.Conflicts) > 0 {
			conflicts = append(conflicts, merged.Conflicts...)
			if merged.Tree, err = w.Repo.Objects().TreeWith(ctx, merged.Tree, tree, merged.Conflicts); err != nil {
				return "", nil, err
			}
		}
		tree = merged.Tree
	}
	return tree, conflicts, nil
}

// hasMade reports whether a landing is one of the agent in a branch.
func (w work) hasMade(one session.Landing, branch string) bool {
	return one.TurnSession == w.Record.TurnSession && one.Target == branch && one.Phase == session.LandingDone
}

// lacks says what a branch has lost, "" for nothing.
func (l lost) lacks(t target) string {
	if len(l.paths) == 0 {
		return ""
	}
	return t.branch + " lacks its work in " + few(l.paths, namedPaths)
}

// refuseLost refuses to say that a branch has all of a state's work, or to take out of the agent's worktree, what lostOf finds.
func (w work) refuseLost(ctx context.Context, t target, state, now string, reverted bool, again string) error {
	gone, err := w.lostOf(ctx, t, state, now, reverted)
	if lacks := gone.lacks(t); lacks != "" && err == nil {
		return errs.New(errs.Refused, "%s: nothing new to land; %s", w.name(), lacks).Hint("%s", again)
	}
	return err
}

// bringAgain merges what a branch has lost of the work that led to a state into its tip once more, and returns a commit of that, "" for
// none. again are the ends of the turns that come so.
func (w work) bringAgain(ctx context.Context, t target, state string) (onto string, again []string, err error) {
	ahead, err := w.Repo.States().Ahead(ctx, t.tip, state)
	if err != nil {
		return "", nil, err
	}
	known := state
	if steps := ahead[0].Steps; len(steps) > 0 { // what it does not know lands anyway
		known = steps[0].From
	}
	gone, err := w.lostOf(ctx, t, known, state, true)
	if err != nil || len(gone.paths) == 0 {
		return "", nil, err
	}
	if len(gone.conflicts) > 0 {
		return "", nil, errs.New(errs.Conflict, "%s: its work cannot be brought again, it conflicts with %s: %s", w.name(), t.branch, few(gone.conflicts, namedPaths)).
			Hint("%s", w.conflictLine(t.branch))
	}
	if again, err = w.changing(ctx, gone.chain.Steps, gone.paths); err != nil {
		return "", nil, err
	}
	tree, err := w.Repo.Objects().TreeWith(ctx, t.tip, gone.tree, gone.paths)
	if err != nil {
		return "", nil, err
	}
	onto, err = w.Repo.States().Twin(ctx, tree, w.Record.TurnSession+" again", t.tip)
	return onto, again, err
}

// changing returns the twins of the steps that are work in some paths.
func (w work) changing(ctx context.Context, steps []states.Step, paths []string) (twins []string, err error) {
	steps = slices.DeleteFunc(slices.Clone(steps), func(step states.Step) bool { return step.Got != "" })
	var pairs [][2]string
	for _, step := range steps {
		pairs = append(pairs, [2]string{step.From, step.To})
	}
	changes, err := w.Repo.Objects().PathsOf(ctx, pairs)
	for i, step := range steps {
		if err == nil && slices.ContainsFunc(paths, func(path string) bool { return changes[i][path] }) {
			twins = append(twins, step.To)
		}
	}
	return twins, err
}
