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

// lostOf finds what reverts have taken out of a branch of an agent's work up to known, a state that the branch's history has: in the paths that
// reverts have changed, what the work brings when it is merged once more. What asked, a later state of the agent, has no more is not lost.
func (w work) lostOf(ctx context.Context, t target, known, asked string) (l lost, err error) {
	begin := w.begin()
	if begin == "" || begin == known {
		return l, nil
	}
	reverted, err := w.reverted(ctx, t, known)
	if len(reverted) == 0 || err != nil {
		return l, err
	}
	led, err := w.Repo.States().Ahead(ctx, begin, known)
	if err != nil {
		return l, err
	}
	l.steps = slices.DeleteFunc(led[0].Steps, func(step states.Step) bool { return step.Got != "" })
	tree, lacks, conflicts, err := w.again(ctx, t, t.tip, l.steps)
	if err != nil {
		return l, err
	}
	if len(conflicts) > 0 { // a step may conflict with what a later one has made of it
		whole := []states.Step{{From: begin, To: known}}
		_, _, still, err := w.again(ctx, t, t.tip, whole)
		if err != nil {
			return l, err
		}
		conflicts = slices.DeleteFunc(conflicts, func(path string) bool { return !slices.Contains(still, path) })
	}
	l.tree, l.paths = tree, app.Once(slices.Concat(lacks, conflicts))
	others, err := w.Repo.States().Beyond(ctx, reverted, known, l.paths, t.tip)
	if err != nil || len(others) == len(l.paths) {
		l.paths = nil
		return l, err
	}
	not := func(path string) bool { return slices.Contains(others, path) }
	for _, state := range []string{known, asked} {
		l.paths, conflicts = slices.DeleteFunc(l.paths, not), slices.DeleteFunc(conflicts, not)
		_, gone, _, err := w.again(ctx, t, state, l.steps)
		if err != nil {
			return l, err
		}
		not = func(path string) bool { return slices.Contains(gone, path) }
	}
	l.paths, l.conflicts = slices.DeleteFunc(l.paths, not), slices.DeleteFunc(conflicts, not)
	return l, err
}

// reverted returns the paths that commits of a branch have changed whose message says "This reverts commit", and those of landings that were
// undone and are in the branch's history all the same; not what the agent has landed again since, up to the known state.
func (w work) reverted(ctx context.Context, t target, known string) (map[string]bool, error) {
	all, err := w.landingsIn(t.branch)
	since, changes := w.begin(), [][2]string{}
	for _, one := range all {
		if err != nil || one.TurnSession != w.Record.TurnSession || !one.there(ctx, w.Repo.Objects()) || !one.undone() && !one.Again {
			continue
		}
		var in, all bool
		if in, err = w.Repo.Objects().Contains(ctx, t.tip, one.After); in && one.undone() {
			changes = append(changes, [2]string{one.Before, one.After})
		} else if in {
			if all, err = w.Repo.States().Objects().Contains(ctx, one.Twin, known); all {
				since, changes = one.After, nil
			}
		}
	}
	if err != nil {
		return nil, err
	}
	_, by, err := w.Repo.States().Mentioned(ctx, t.tip, since)
	for _, revert := range by {
		changes = append(changes, [2]string{revert + "^", revert})
	}
	paths := map[string]bool{}
	for _, change := range changes {
		if err != nil {
			return nil, err
		}
		var some []string
		some, err = w.Repo.Objects().ChangedPaths(ctx, change[0], change[1])
		for _, path := range some {
			paths[path] = true
		}
	}
	return paths, err
}

// again merges steps into a commit that may have them, each with its begin as the base. It returns the tree, with the commit's side of
// conflicts, and the paths that change and that conflict.
func (w work) again(ctx context.Context, t target, commit string, steps []states.Step) (tree string, changed, conflicts []string, err error) {
	tree = commit
	for _, step := range steps {
		merged, err := w.Repo.Objects().MergeTrees(ctx, t.place(w.Repo), step.From, tree, step.To)
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
