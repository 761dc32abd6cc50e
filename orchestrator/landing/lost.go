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

// lost is work of an agent that is in a branch's history, and no more in its files.
type lost struct {
	reverted  []string     // paths in which a revert took it out
	taken     []string     // paths in which another agent that began with it has taken it back and landed, or that are as they were before it
	tree      string       // what the branch has, with the work in these paths
	conflicts []string     // those of the paths in which it cannot be merged
	chain     states.Ahead // the work
}

func (l *lost) paths() []string { return slices.Concat(l.reverted, l.taken) }

// leaveOut leaves out paths.
func (l *lost) leaveOut(which func(path string) bool) {
	l.reverted, l.taken = slices.DeleteFunc(l.reverted, which), slices.DeleteFunc(l.taken, which)
}

// lostOf finds what a branch has lost of an agent's work up to state, an earlier state of the agent that is in the branch's history.
// Not lost is what another commit has changed since it landed, and what a later state of the agent, such as the one that is asked about,
// has no more.
func (w work) lostOf(ctx context.Context, t target, state, asked string) (l lost, err error) {
	begin := w.begin()
	if begin == "" || begin == state {
		return l, nil
	}
	chains, err := w.Repo.States().Ahead(ctx, begin, state)
	if err != nil {
		return l, err
	}
	l.chain = chains[0]
	tip, err := w.workIn(ctx, t, t.tip, stepsOf(l.chain)) // each step by itself: one that removes what another has added counts
	if err != nil || len(tip.lacks)+len(tip.conflicts) == 0 {
		return l, err
	}
	since, err := w.Repo.Objects().ChangedPaths(ctx, begin, t.tip)
	if err != nil {
		return l, err
	}
	own, err := w.Repo.States().Paths(ctx, l.chain)
	if err != nil {
		return l, err
	}
	landed, later, others, err := w.landedFrom(ctx, t, state)
	if err != nil {
		return l, err
	}
	back, reverted, err := w.withoutReverts(ctx, t, begin)
	if err != nil {
		return l, err
	}
	then, err := w.workIn(ctx, t, back, l.chain.Work())
	if err != nil {
		return l, err
	}
	differ, err := w.Repo.Objects().ChangedPaths(ctx, back, state)
	if err != nil {
		return l, err
	}
	asState := func(path string) bool { return slices.Contains(reverted, path) && !slices.Contains(differ, path) } // without the reverts
	for _, path := range app.Once(slices.Concat(tip.lacks, tip.conflicts)) {
		switch {
		case asState(path) || slices.Contains(reverted, path) && then.has(path):
			l.reverted = append(l.reverted, path)
		case slices.Contains(tip.lacks, path) && own[path] && (others || !slices.Contains(since, path)):
			l.taken = append(l.taken, path)
		}
	}
	if err := w.leaveLater(ctx, t, &l, append(later, state, asked), landed); err != nil || len(l.paths()) == 0 {
		return l, err
	}
	var whole []string
	for _, path := range l.paths() {
		switch {
		case asState(path):
			whole = append(whole, path)
		case slices.Contains(tip.conflicts, path):
			l.conflicts = append(l.conflicts, path)
		}
	}
	l.tree, err = w.Repo.Objects().TreeWith(ctx, tip.tree, state, whole)
	return l, err
}

// leaveLater leaves out what the agent has taken back itself, or has got no more, and what a landing has brought to the branch and no
// revert since has taken out of it: another commit has changed that.
func (w work) leaveLater(ctx context.Context, t target, l *lost, later []string, landed []session.Landing) error {
	for _, state := range app.Once(later) {
		if len(l.paths()) == 0 {
			return nil
		}
		its, err := w.workIn(ctx, t, state, l.chain.Work())
		if err != nil {
			return err
		}
		l.leaveOut(func(path string) bool { return slices.Contains(its.lacks, path) })
	}
	for _, one := range landed {
		if len(l.paths()) == 0 || !w.Repo.Objects().Has(ctx, one.After) {
			continue
		}
		its, err := w.workIn(ctx, t, one.After, l.chain.Work())
		if err != nil {
			return err
		}
		_, reverted, err := w.withoutReverts(ctx, t, one.After)
		if err != nil {
			return err
		}
		l.leaveOut(func(path string) bool { return !slices.Contains(its.lacks, path) && !slices.Contains(reverted, path) })
	}
	return nil
}

// landedFrom returns the landings in a branch of an agent and of those that began with a state of it; others says that there is one of
// these. later are the states of the agent that landed and came from that one.
func (w work) landedFrom(ctx context.Context, t target, state string) (landed []session.Landing, later []string, others bool, err error) {
	led, err := states.Containing(ctx, w.Repo.Objects(), state, strings.TrimSuffix(turn.LandedPattern, "after")+"twin")
	if err != nil {
		return nil, nil, false, err
	}
	all, err := w.landingsIn(t.branch)
	for _, one := range all {
		own, from := one.TurnSession == w.Record.TurnSession, slices.Contains(led, turn.LandedRef(one.TurnSession, one.ID, "twin"))
		if one.Phase != session.LandingDone || !own && !from {
			continue
		}
		if landed, others = append(landed, one.Landing), others || !own; own && from {
			later = append(later, one.Twin)
		}
	}
	return landed, later, others, err
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
	gone, err := w.lostOf(ctx, t, known, state)
	if err != nil || len(gone.paths()) == 0 {
		return "", nil, err
	}
	if len(gone.conflicts) > 0 {
		return "", nil, errs.New(errs.Conflict, "%s: its work cannot be brought again, it conflicts with %s: %s", w.name(), t.branch, few(gone.conflicts, namedPaths)).
			Hint("%s", w.conflictLine(t.branch))
	}
	if again, err = w.changing(ctx, gone.chain.Steps, gone.paths()); err != nil {
		return "", nil, err
	}
	tree, err := w.Repo.Objects().TreeWith(ctx, t.tip, gone.tree, gone.paths())
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
