package landing

import (
	"context"
	"maps"
	"slices"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree/states"
)

// missing returns the paths that a state's own work has changed and that a target has as they were before that work: an agent that was
// started from it has taken them back and landed, or the user has reverted what was merged by hand. What the target has under another name
// is not missing. chain has the work.
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
	changes, err := w.Repo.Objects().BlobChanges(ctx, [][2]string{{begin, state}, {begin, t.tip}})
	if err != nil {
		return nil, chain, err
	}
	there := map[string]bool{}
	for _, change := range changes[1] {
		there[change.To] = true
	}
	for _, path := range slices.Sorted(maps.Keys(own)) {
		change, changed := changes[0][path]
		if _, moved := changes[1][path]; changed && !moved && !there[change.To] {
			paths = append(paths, path)
		}
	}
	return paths, chain, nil
}

// landedItself reports whether a landing of the agent is in the record: what a branch lacks of that, its history has.
func landedItself(w work, branch string) bool {
	return slices.ContainsFunc(w.Session.Landings, func(one session.Landing) bool {
		return one.TurnSession == w.Record.TurnSession && one.Target == branch
	})
}

// refuseMissing refuses an agent whose work has never landed, and which the branch knows and has without some files: nothing of those
// would land, and an update would take them out of the worktree.
func (w work) refuseMissing(ctx context.Context, t target, state, again string) error {
	if landedItself(w, t.branch) {
		return nil
	}
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

// noteMissing notes what of the agent's earlier work does not land with the rest, see refuseMissing.
func (l *landing) noteMissing(ctx context.Context) error {
	steps := l.lands.Steps
	if l.options.Again || len(steps) == 0 || steps[0].From == l.begin() || landedItself(l.work, l.branch) {
		return nil
	}
	paths, _, err := missing(ctx, l.work, l.target, steps[0].From)
	if len(paths) > 0 {
		l.App.Notef("%s: %s has %s as before its work; %s brings it again", l.name(), l.branch, few(paths, namedPaths), l.againLine())
	}
	return err
}

// bringMissing merges work of a state into the tip once more that the branch knows and has not, and returns a commit of that, "" for none.
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
