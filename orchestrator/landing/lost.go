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
	taken     []string     // paths in which an agent that began with it has taken it back and landed, or an undone landing came back without it
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
	own, err := w.Repo.States().Paths(ctx, l.chain)
	if err != nil || len(own) == 0 {
		return l, err
	}
	apart, err := w.Repo.Objects().ChangedPaths(ctx, t.tip, state)
	if err != nil || !slices.ContainsFunc(apart, func(path string) bool { return own[path] }) {
		return l, err
	}
	landed, later, back, err := w.landedFrom(ctx, t, l.chain.Steps[0].To, state)
	if err != nil {
		return l, err
	}
	without, reverted, err := w.withoutReverts(ctx, t, begin)
	if err != nil || len(reverted) == 0 && !back {
		return l, err
	}
	steps := stepsOf(l.chain.Steps) // each by itself: one that removes what another has added counts
	tip, err := w.workIn(ctx, t, t.tip, steps)
	if err != nil {
		return l, err
	}
	then, err := w.workIn(ctx, t, without, steps)
	if err != nil {
		return l, err
	}
	differ, err := w.Repo.Objects().ChangedPaths(ctx, without, state)
	if err != nil {
		return l, err
	}
	asState := func(path string) bool { return slices.Contains(reverted, path) && !slices.Contains(differ, path) }
	for _, path := range app.Once(slices.Concat(tip.lacks, tip.conflicts)) {
		lacks := slices.Contains(tip.lacks, path)
		switch there := !slices.Contains(then.lacks, path) && (lacks || !slices.Contains(then.conflicts, path)); {
		case asState(path) || slices.Contains(reverted, path) && there:
			l.reverted = append(l.reverted, path)
		case lacks && own[path] && back:
			l.taken = append(l.taken, path)
		}
	}
	if err := w.leaveLater(ctx, t, &l, append(later, state, asked), landed); err != nil || len(l.paths()) == 0 {
		return l, err
	}
	whole := slices.DeleteFunc(l.paths(), func(path string) bool { return !asState(path) })
	l.conflicts = slices.DeleteFunc(l.paths(), func(path string) bool { return asState(path) || !slices.Contains(tip.conflicts, path) })
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
		its, err := w.workIn(ctx, t, state, stepsOf(l.chain.Steps))
		if err != nil {
			return err
		}
		l.leaveOut(func(path string) bool { return slices.Contains(its.lacks, path) })
	}
	for _, one := range landed {
		if len(l.paths()) == 0 {
			return nil
		}
		steps := l.chain.Steps
		if last := slices.IndexFunc(steps, func(step states.Step) bool { return step.To == one.Twin }); last >= 0 {
			steps = steps[:last+1]
		}
		its, err := w.workIn(ctx, t, one.After, stepsOf(steps))
		if err != nil {
			return err
		}
		brought, err := w.Repo.States().Paths(ctx, states.Ahead{Steps: steps})
		if err != nil {
			return err
		}
		_, reverted, err := w.withoutReverts(ctx, t, one.After)
		if err != nil {
			return err
		}
		l.leaveOut(func(path string) bool {
			return brought[path] && !slices.Contains(its.lacks, path) && !slices.Contains(reverted, path)
		})
	}
	return nil
}

// landedFrom returns the landings in a branch of an agent and of those that began with a state of it, the first one or a later one. later are
// the states of the agent that landed and came from the given one. back says that one of the others, or the undoing of a landing that is in
// the branch all the same, may have taken work back.
func (w work) landedFrom(ctx context.Context, t target, first, state string) (landed []session.Landing, later []string, back bool, err error) {
	twins := strings.TrimSuffix(turn.LandedPattern, "after") + "twin"
	began, err := states.Containing(ctx, w.Repo.Objects(), first, twins)
	if err != nil {
		return nil, nil, false, err
	}
	led, err := states.Containing(ctx, w.Repo.Objects(), state, twins)
	if err != nil {
		return nil, nil, false, err
	}
	all, err := w.landingsIn(t.branch)
	for _, one := range all {
		own, ref := one.TurnSession == w.Record.TurnSession, turn.LandedRef(one.TurnSession, one.ID, "twin")
		switch {
		case err != nil || !own && !slices.Contains(began, ref) || !one.there(ctx, w.Repo.Objects()):
		case one.undone() && own && !back:
			back, err = w.Repo.Objects().Contains(ctx, t.tip, one.After)
		case one.undone():
		default:
			if landed, back = append(landed, one.Landing), back || !own; own && slices.Contains(led, ref) {
				later = append(later, one.Twin)
			}
		}
	}
	return landed, later, back, err
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

// bringAgain merges what a branch has lost of the work that led to a known state into its tip once more, and returns a commit of that, ""
// for none. again are the ends of the turns that come so.
func (w work) bringAgain(ctx context.Context, t target, known, state string) (onto string, again []string, err error) {
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
