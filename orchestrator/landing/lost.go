package landing

import (
	"context"
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

// lostOf finds what a branch has lost of an agent's work up to state, an earlier state of the agent that is in the branch's history. now is
// its newest state. With reverted, what a commit took out counts as lost if its message says "This reverts commit", as those of git
// revert do. Not lost is what another commit has changed after the work landed, and what the agent itself has taken back in its worktree.
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
	differ = slices.DeleteFunc(differ, func(path string) bool { return !own[path] })
	if len(differ) == 0 || err != nil {
		return l, err
	}
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
		if out, err = w.withoutReverts(ctx, t, begin, state, l.chain); err != nil {
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
	if err := l.leaveOutAlike(ctx, w, t, state, differ); err != nil {
		return l, err
	}
	if err := l.leaveOut(ctx, w, t, state, append([]string{now}, later...), had, out); err != nil || len(l.paths) == 0 {
		return l, err
	}
	return l, l.merge(ctx, w, state, tip, out)
}

// leaveOutAlike leaves out paths in which the state and the branch do not differ, and the state lacks the work itself. Where the branch
// has renamed a file, the state has the work under the old name.
func (l *lost) leaveOutAlike(ctx context.Context, w work, t target, state string, differ []string) error {
	alike := func(path string) bool { return !slices.Contains(differ, path) }
	if !slices.ContainsFunc(l.paths, alike) {
		return nil
	}
	one, err := w.workIn(ctx, t, state, l.chain.Work())
	l.paths = slices.DeleteFunc(l.paths, func(path string) bool { return alike(path) && slices.Contains(one.lacks, path) })
	return err
}

// leaveOut leaves out paths in which a later state of the agent lacks the work, since the agent has taken it back, and those in which
// a landing in had brought the work to the branch, and no newer revert has taken it out: another commit has changed them since.
func (l *lost) leaveOut(ctx context.Context, w work, t target, state string, later, had []string, out revertedWork) error {
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
			lacks := slices.Contains(one.lacks, path)
			keep := lacks != (i < len(later))
			if i >= len(later) && !lacks {
				if keep, err = newer(ctx, w.Repo.Objects(), out.by[path], commit); err != nil {
					return err
				}
			}
			if keep {
				paths = append(paths, path)
			}
		}
		l.paths = paths
	}
	return nil
}

// landedBy looks at the landings that a branch has of the agent, and of other agents that were started from this state. later are the
// agent's states that landed and followed this one. had are the commits of the landings, without those that were reverted if reverted is set.
// others reports whether one of them is of another agent.
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

// merge makes the tree with the work in the lost paths: as the state has them, if the branch without its reverts has the same, else
// as git merges it.
func (l *lost) merge(ctx context.Context, w work, state string, tip workIn, out revertedWork) (err error) {
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
