package landing

import (
	"context"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree/states"
)

// lost is work of an agent that is in a branch's history, and that a git revert has taken out of its files.
type lost struct {
	paths     []string
	conflicts []string      // those of the paths in which it cannot be brought again
	tree      string        // what the branch has, with the work in the other paths
	steps     []states.Step // the work
}

// lostOf finds what reverts have taken out of a branch of an agent's work up to known, a state that the branch's history has. What that state
// has no more itself is not lost, nor what a later one, asked, has no more.
func (w work) lostOf(ctx context.Context, t target, known, asked string) (l lost, err error) {
	reverts, led, err := w.reverts(ctx, t, known)
	if len(reverts) == 0 || err != nil {
		return l, err
	}
	own, err := w.Repo.States().Paths(ctx, led)
	if err != nil {
		return l, err
	}
	if l.tree, l.paths, l.conflicts, err = w.takeBack(ctx, t, t.tip, reverts); err != nil {
		return l, err
	}
	l.steps, l.paths = led.Steps, app.Once(append(l.paths, l.conflicts...))
	foreign, err := w.Repo.States().Beyond(ctx, own, known, l.paths, t.tip)
	if err != nil {
		return l, err
	}
	for _, state := range []string{known, asked} {
		_, lacks, _, err := w.takeBack(ctx, t, state, reverts)
		if err != nil {
			return l, err
		}
		no := func(path string) bool { return slices.Contains(lacks, path) || slices.Contains(foreign, path) }
		l.paths, l.conflicts = slices.DeleteFunc(l.paths, no), slices.DeleteFunc(l.conflicts, no)
	}
	return l, nil
}

// reverts returns what may have taken out of a branch what an agent did, as pairs of the files after that and before it, newest first: commits
// that revert some of it, unless the agent got that of others, and landings that were undone and are in the history of the branch all the
// same. led is the chain that led to state.
func (w work) reverts(ctx context.Context, t target, state string) (reverts [][2]string, led states.Ahead, err error) {
	begin := w.begin()
	if begin == "" {
		return nil, led, nil
	}
	named, by, err := w.Repo.States().Mentioned(ctx, t.tip, begin)
	if err != nil {
		return nil, led, err
	}
	all, err := w.landingsIn(t.branch)
	undone := slices.ContainsFunc(all, func(one *Stand) bool { return one.undone() && one.TurnSession == w.Record.TurnSession })
	if err != nil || len(by) == 0 && !undone {
		return nil, led, err
	}
	chains, err := w.Repo.States().Ahead(ctx, begin, state)
	if err != nil {
		return nil, led, err
	}
	led = chains[0]
	all = slices.DeleteFunc(all, func(one *Stand) bool { return !led.Has(one.Twin) || !one.there(ctx, w.Repo.Objects()) })
	var landed []string
	for _, one := range all {
		if one.tip, one.Commit = t.tip, named[one.short()]; one.As == string(Commits) {
			if err = one.remade(ctx, w.Repo.Objects()); err != nil {
				return nil, led, err
			}
		}
		landed = append(append(landed, one.After, one.Commit), one.Made...)
		if !one.undone() {
			continue
		}
		there, err := w.Repo.Objects().Contains(ctx, t.tip, one.After)
		if err != nil {
			return nil, led, err
		}
		if there {
			reverts = append(reverts, [2]string{one.Before, one.After})
		}
	}
	commits, err := w.revertsOf(ctx, t, by, led, landed)
	return append(commits, reverts...), led, err
}

// revertsOf returns the commits of a branch that revert what an agent may have done, with their parents, newest first. landed are commits that brought
// work of the agent; of others it may have done what nothing has that it got.
func (w work) revertsOf(ctx context.Context, t target, by map[string]string, led states.Ahead, landed []string) (reverts [][2]string, err error) {
	if len(by) == 0 {
		return nil, nil
	}
	own, err := w.made()
	if err != nil {
		return nil, err
	}
	for _, one := range landed {
		own[one] = true
	}
	history, err := w.Repo.Objects().HistorySince(ctx, t.tip, w.begin())
	for _, one := range history {
		if one.Merges() && own[one.Parents[1]] {
			own[one.ID] = true
		}
		if len(reverts) > 0 && slices.Contains(landed, one.ID) { // it may have brought all again
			_, lacks, conflicts, err := w.takeBack(ctx, t, one.ID, reverts)
			if err != nil {
				return nil, err
			}
			if len(lacks)+len(conflicts) == 0 {
				reverts = nil
			}
		}
		for reverted, revert := range by {
			if revert != one.ID {
				continue
			}
			pair := [2]string{one.ID, one.Parents[0]}
			if brought := own[reverted]; !brought {
				if brought, err = w.isNew(ctx, t, led, pair); err != nil {
					return nil, err
				}
				if !brought {
					continue
				}
			}
			reverts = append([][2]string{pair}, reverts...)
			break
		}
	}
	return reverts, err
}

// isNew reports whether what a revert has taken out is in nothing that the agent began with or got.
func (w work) isNew(ctx context.Context, t target, led states.Ahead, revert [2]string) (bool, error) {
	changed, err := w.Repo.Objects().ChangedPaths(ctx, revert[0], revert[1])
	had := []string{w.begin()}
	for _, step := range led.Steps {
		if step.Got != "" {
			had = append(had, step.Got)
		}
	}
	for _, commit := range had {
		if err != nil {
			return false, err
		}
		var lacks, conflicts []string
		_, lacks, conflicts, err = w.takeBack(ctx, t, commit, [][2]string{revert})
		if slices.ContainsFunc(changed, func(path string) bool { return !slices.Contains(lacks, path) && !slices.Contains(conflicts, path) }) {
			return false, err
		}
	}
	return true, err
}

// takeBack brings what was taken out back into a commit. It returns the tree, with the commit's side of conflicts, and the paths that change and
// that conflict.
func (w work) takeBack(ctx context.Context, t target, commit string, reverts [][2]string) (tree string, changed, conflicts []string, err error) {
	tree = commit
	for _, one := range reverts {
		merged, err := w.Repo.Objects().MergeTrees(ctx, t.place(w.Repo), one[0], tree, one[1])
		if err != nil {
			return "", nil, nil, err
		}
		if len(merged.Conflicts) > 0 {
			conflicts = append(conflicts, merged.Conflicts...)
			if merged.Tree, err = w.Repo.Objects().TreeWith(ctx, merged.Tree, tree, merged.Conflicts); err != nil {
				return "", nil, nil, err
			}
		}
		tree = merged.Tree
	}
	changed, err = w.Repo.Objects().ChangedPaths(ctx, commit, tree)
	return tree, changed, conflicts, err
}

// hasMade reports whether a landing is one of the agent in a branch.
func (w work) hasMade(one session.Landing, branch string) bool {
	return one.TurnSession == w.Record.TurnSession && one.Target == branch && one.Phase == session.LandingDone
}

// lacks says what a branch has lost in some paths, "" for none.
func (t target) lacks(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return t.branch + " lacks its work in " + few(paths, namedPaths)
}

// bringAgain brings back what reverts have taken out of a branch of the work that led to a known state. It returns a commit of that, "" for
// none, and the ends of the turns that come so.
func (w work) bringAgain(ctx context.Context, t target, known, state string) (onto string, again []string, err error) {
	gone, err := w.lostOf(ctx, t, known, state)
	if err != nil || len(gone.paths) == 0 {
		return "", nil, err
	}
	if len(gone.conflicts) > 0 {
		return "", nil, errs.New(errs.Conflict, "%s: its work cannot be brought again, it conflicts with %s: %s", w.name(), t.branch, few(gone.conflicts, namedPaths)).
			Hint("%s", w.conflictLine(t.branch))
	}
	if again, err = w.changing(ctx, gone.steps, gone.paths); err != nil {
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
