package landing

import (
	"context"
	"maps"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree/states"
)

// missing returns the paths that a state's own work has changed and that a branch has, and had in each landing of the agent, as they
// were before that work: an agent that was started from it has taken them back and landed, or the user has reverted
// what was merged by hand. What the branch has under another name is not missing. chain has the work.
func missing(ctx context.Context, w work, t target, state string) (paths []string, chain states.Ahead, err error) {
	begin := w.begin()
	if begin == "" || begin == state {
		return nil, chain, nil
	}
	chains, err := w.Repo.States().Ahead(ctx, begin, state)
	if err != nil {
		return nil, chain, err
	}
	chain = chains[0]
	own, err := w.Repo.States().Paths(ctx, chain)
	if err != nil || len(own) == 0 {
		return nil, chain, err
	}
	pairs := [][2]string{{begin, state}, {begin, t.tip}}
	for _, one := range ownLandings(w, t.branch) {
		if w.Repo.Objects().Has(ctx, one.After) {
			pairs = append(pairs, [2]string{begin, one.After})
		}
	}
	changes, err := w.Repo.Objects().BlobChanges(ctx, pairs)
	if err != nil {
		return nil, chain, err
	}
	moved, there := map[string]bool{}, map[string]bool{}
	for _, in := range changes[1:] {
		for path, change := range in {
			moved[path], there[change.To] = true, !change.Deleted()
		}
	}
	for _, path := range slices.Sorted(maps.Keys(own)) {
		if change, changed := changes[0][path]; changed && !moved[path] && !there[change.To] {
			paths = append(paths, path)
		}
	}
	return paths, chain, nil
}

// ownLandings returns the landings of the agent in a branch.
func ownLandings(w work, branch string) (own []session.Landing) {
	for _, one := range w.Session.Landings {
		if one.TurnSession == w.Record.TurnSession && one.Target == branch && one.Phase == session.LandingDone {
			own = append(own, one)
		}
	}
	return own
}

// refuseMissing refuses an agent of whose work the branch knows, but has some files as before it: these would not land, and an update
// would take them out of the worktree.
func (w work) refuseMissing(ctx context.Context, t target, state, again string) error {
	paths, _, err := missing(ctx, w, t, state)
	if err != nil || len(paths) == 0 {
		return err
	}
	return errs.New(errs.Refused, "%s: nothing new to land; %s has %s as before its work", w.name(), t.branch, few(paths, namedPaths)).Hint("%s", again)
}

// refuseLoss refuses an update that would take work out of the agent's worktree, see refuseMissing.
func refuseLoss(ctx context.Context, w work, t target, l *lands, state string) error {
	if !l.None() && len(l.Steps) > 0 {
		state = l.Steps[0].From // the newest that the branch knows
	}
	return w.refuseMissing(ctx, t, state, errs.Line("paw land %s --again", w.name()))
}

// noteMissing notes what of the agent's earlier work does not land with the rest, see refuseMissing. What comes right behind a landing
// of the agent needs no look.
func (l *landing) noteMissing(ctx context.Context) error {
	steps := l.lands.Steps
	if l.options.Again || len(steps) == 0 || steps[0].From == l.begin() ||
		slices.ContainsFunc(ownLandings(l.work, l.branch), func(one session.Landing) bool { return one.Twin == steps[0].From }) {
		return nil
	}
	paths, _, err := missing(ctx, l.work, l.target, steps[0].From)
	if len(paths) > 0 {
		l.App.Notef("%s: %s has %s as before its work; %s brings it again", l.name(), l.branch, few(paths, namedPaths), l.line(app.With("again")))
	}
	return err
}

// bringMissing merges the work that the branch knows into its tip once more where missing finds some, and returns a commit of
// that, "" for none.
func bringMissing(ctx context.Context, w work, t target, state string) (onto string, err error) {
	ahead, err := w.Repo.States().Ahead(ctx, t.tip, state)
	if err != nil {
		return "", err
	}
	if steps := ahead[0].Steps; len(steps) > 0 { // what it does not know lands anyway
		state = steps[0].From
	}
	paths, chain, err := missing(ctx, w, t, state)
	if err != nil || len(paths) == 0 {
		return "", err
	}
	tree := t.tip
	for _, pair := range chain.Work() {
		merged, err := w.Repo.Objects().MergeTrees(ctx, t.place(w.Repo), pair[0], tree, pair[1])
		if err != nil {
			return "", err
		}
		if len(merged.Conflicts) > 0 {
			return "", errs.New(errs.Conflict, "%s: its work cannot be brought again, it conflicts with %s: %s", w.name(), t.branch, few(merged.Conflicts, namedPaths)).
				Hint("%s", w.conflictLine(t.branch))
		}
		tree = merged.Tree
	}
	return w.Repo.States().Twin(ctx, tree+"^{tree}", w.Record.TurnSession+" again", t.tip)
}
