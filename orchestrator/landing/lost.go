package landing

import (
	"context"
	"slices"

	"paw/session"
	"paw/worktree/states"
)

// lost is work of an agent that is in a branch's history, and that a git revert has taken out of its files.
type lost struct {
	paths []string
	tree  string        // what the branch has, with the work in these paths
	steps []states.Step // the work
}

// lostOf finds the work of an agent that git revert has taken out of a branch. known is the newest state of the agent that the history of the branch
// has, asked the same or a later one. The steps that led to known are merged into the branch once more: work is lost where that brings
// something back in a path that a revert has changed, and both states still have it.
func (w work) lostOf(ctx context.Context, t target, known, asked string) (l lost, err error) {
	begin := w.Record.Base()
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
	l.steps = led[0].Steps
	if l.tree, l.paths, _, err = w.again(ctx, t, t.tip, l.steps); err != nil {
		return l, err
	}
	not, err := w.Repo.States().Beyond(ctx, reverted, known, l.paths, t.tip)
	for _, state := range []string{known, asked} {
		l.paths = slices.DeleteFunc(l.paths, func(path string) bool { return slices.Contains(not, path) })
		if len(l.paths) == 0 || err != nil {
			return l, err
		}
		_, not, _, err = w.again(ctx, t, state, l.steps)
	}
	l.paths = slices.DeleteFunc(l.paths, func(path string) bool { return slices.Contains(not, path) })
	return l, err
}

// reverted returns the paths that were changed in a branch by commits whose message says "This reverts commit". To these it adds the paths of
// landings that were undone and have come back into the history, as by a merge of another branch, and of turns that were taken out. It begins after the last landing with
// --again that has the known state.
func (w work) reverted(ctx context.Context, t target, known string) (map[string]bool, error) {
	all, err := w.landingsIn(t.branch)
	since, changes := w.Record.Base(), [][2]string{}
	for _, one := range all {
		if err != nil || one.TurnSession != w.Record.TurnSession || !one.there(ctx, w.Repo.Objects()) || !one.undone() && !one.Again && one.Without == 0 {
			continue
		}
		var in, all bool
		if in, err = w.Repo.Objects().Contains(ctx, t.tip, one.After); in && (one.undone() || one.Without > 0) {
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

// again merges the steps that are work into a commit that may have them, each with its begin as the base. It returns the tree, with the commit's side of
// conflicts, and the paths that change and that conflict.
func (w work) again(ctx context.Context, t target, commit string, steps []states.Step) (tree string, changed, conflicts []string, err error) {
	tree = commit
	for _, step := range steps {
		if step.Got != "" {
			continue
		}
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
