package landing

import (
	"context"
	"slices"
	"strings"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/states"
)

// lost is work of an agent that is in a branch's history, and no more in its files: the user has reverted it, or another agent that
// began with it has taken it back and landed.
type lost struct {
	paths     []string
	conflicts []string     // other paths, where it is not known
	tree      string       // what the branch has, with the work merged into it once more
	chain     states.Ahead // the work
	merges    [][2]string  // what is merged for that, each with its own begin
	had       []string     // commits of the branch that landed what the state has, and were not reverted
	later     []string     // states that followed
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
	l.chain, l.later = chains[0], []string{now}
	own, err := w.Repo.States().Paths(ctx, l.chain)
	if err != nil || len(own) == 0 {
		return l, err
	}
	differ, err := w.Repo.Objects().ChangedPaths(ctx, t.tip, state)
	differ = slices.DeleteFunc(differ, func(path string) bool { return !own[path] })
	if len(differ) == 0 || err != nil {
		return l, err
	}
	if err := w.landedBy(ctx, t, state, reverted, &l); err != nil {
		return l, err
	}
	if len(l.merges) == 0 { // only what is as before the work
		changed, err := w.Repo.Objects().ChangedPaths(ctx, begin, t.tip)
		if err != nil {
			return l, err
		}
		differ = slices.DeleteFunc(differ, func(path string) bool { return slices.Contains(changed, path) })
		l.merges = l.chain.Work()
	}
	for i, commit := range slices.Concat([]string{t.tip}, l.later, l.had) {
		if i > 0 && len(l.paths) == 0 || commit == state {
			continue
		}
		tree, conflicts, err := w.mergeOnto(ctx, t, commit, l.merges)
		if err != nil {
			return l, err
		}
		lacks, err := w.Repo.Objects().ChangedPaths(ctx, commit, tree)
		if err != nil {
			return l, err
		}
		if i == 0 {
			l.paths, l.conflicts, l.tree = differ, conflicts, tree
		}
		tookBack := i > 0 && i <= len(l.later)
		l.paths = slices.DeleteFunc(l.paths, func(path string) bool { return slices.Contains(lacks, path) == tookBack })
	}
	return l, nil
}

// landedBy finds the landings of a branch that had what a state has: of the agent itself, and of others that were started from the state.
// With reverted, those that were reverted have to be merged once more.
func (w work) landedBy(ctx context.Context, t target, state string, reverted bool, l *lost) error {
	led, err := states.Containing(ctx, w.Repo.Objects(), state, strings.TrimSuffix(turn.LandedPattern, "after")+"twin")
	if err != nil {
		return err
	}
	all, err := w.standings(ctx, t)
	if err != nil {
		return err
	}
	whole := false
	for _, one := range all {
		own, after := one.TurnSession == w.Record.TurnSession, slices.Contains(led, turn.LandedRef(one.TurnSession, one.ID, "twin"))
		if !one.stands() || !own && !after || !one.there(ctx, w.Repo.Objects()) {
			continue
		}
		if own && after {
			l.later = append(l.later, one.Twin)
		}
		if out := one.Standing == Reverted || one.Revert != ""; !out || !reverted {
			l.had, whole = append(l.had, one.After), whole || !own
			continue
		}
		if one.Twin != state && after { // it brought more than the state
			whole = true
			continue
		}
		brings, err := w.Repo.States().Objects().Contains(ctx, state, one.Twin)
		if brings && err == nil && one.Revert != "" { // an agent that has got the revert does without, if it has no file of the landing
			if brings, err = w.Repo.States().Objects().Contains(ctx, state, one.Revert); brings && err == nil {
				brings, err = one.hasOf(ctx, w.Repo.Objects(), state)
			} else {
				brings = true
			}
		}
		if err != nil {
			return err
		}
		if brings {
			l.merges = append(l.merges, [2]string{one.Before, one.After})
		}
	}
	if whole {
		l.merges = append(l.merges, l.chain.Work()...)
	}
	return nil
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
