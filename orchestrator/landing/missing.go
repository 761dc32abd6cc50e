package landing

import (
	"cmp"
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

// missing returns the paths of a state's own work of which a branch lacks something that it knows, and that no landing had: an
// agent that was started from it has taken that back and landed, or the user has reverted what was merged by hand. chain has
// the work.
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
	if paths, err = asBefore(ctx, w, t, state, own); err == nil && len(paths) == 0 {
		paths, err = partly(ctx, w, t, state, chain, own)
	}
	return paths, chain, err
}

// asBefore returns the paths that a state has changed and that a branch has, and had in each landing of the agent, as they were
// before that work. What the branch has under another name is not among them.
func asBefore(ctx context.Context, w work, t target, state string, own map[string]bool) (paths []string, err error) {
	begin := w.begin()
	pairs := [][2]string{{begin, state}, {begin, t.tip}}
	for _, one := range ownLandings(w, t.branch) {
		if w.Repo.Objects().Has(ctx, one.After) {
			pairs = append(pairs, [2]string{begin, one.After})
		}
	}
	changes, err := w.Repo.Objects().BlobChanges(ctx, pairs)
	if err != nil {
		return nil, err
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
	return paths, nil
}

// partly returns the paths where merging the work into the branch would still change something, and where merging it into each
// landing that standFor returns would, too. A path that one of those landings had whole is left out: if the branch differs there
// now, the user has changed it since.
func partly(ctx context.Context, w work, t target, state string, chain states.Ahead, own map[string]bool) (paths []string, err error) {
	tips, err := standFor(ctx, w, t, state)
	if err != nil || len(tips) == 0 {
		return nil, err
	}
	paths = slices.Sorted(maps.Keys(own))
	for _, tip := range append([]string{t.tip}, tips...) {
		tree, _, err := applied(ctx, w, t, chain, tip)
		if err != nil {
			return nil, err
		}
		differ, err := w.Repo.Objects().ChangedPaths(ctx, tip, tree)
		if err != nil {
			return nil, err
		}
		if paths = slices.DeleteFunc(paths, func(path string) bool { return !slices.Contains(differ, path) }); len(paths) == 0 {
			break
		}
	}
	return paths, nil
}

// standFor returns the commits of the landings because of which git says that a branch has a state: of other agents that were
// started from the state, and of the agent itself. It returns none if no other agent has landed.
func standFor(ctx context.Context, w work, t target, state string) (commits []string, err error) {
	after := strings.TrimSuffix(turn.LandedPattern, "after")
	led, err := states.Containing(ctx, w.Repo.Objects(), state, after+"twin")
	if err != nil || len(led) == 0 {
		return nil, err
	}
	all, err := w.standings(ctx, t)
	others := false
	for _, one := range all {
		own := one.TurnSession == w.Record.TurnSession
		if one.stands() && (own || slices.Contains(led, turn.LandedRef(one.TurnSession, one.ID, "twin"))) {
			others = others || !own
			commits = append(commits, cmp.Or(one.Commit, one.After))
		}
	}
	if !others || err != nil {
		return nil, err
	}
	return slices.DeleteFunc(commits, func(commit string) bool { return !w.Repo.Objects().Has(ctx, commit) }), nil
}

// applied merges the work of a chain into a commit, each part with its own begin as the base. Where that conflicts the tree has
// the commit's side.
func applied(ctx context.Context, w work, t target, chain states.Ahead, onto string) (tree string, conflicts []string, err error) {
	tree = onto
	for _, pair := range chain.Work() {
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
	return errs.New(errs.Refused, "%s: nothing new to land; %s lacks its work in %s", w.name(), t.branch, few(paths, namedPaths)).Hint("%s", again)
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
		l.App.Notef("%s: %s lacks its work in %s; %s brings it again", l.name(), l.branch, few(paths, namedPaths), l.line(app.With("again")))
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
	tree, conflicts, err := applied(ctx, w, t, chain, t.tip)
	if err != nil {
		return "", err
	}
	if len(conflicts) > 0 {
		return "", errs.New(errs.Conflict, "%s: its work cannot be brought again, it conflicts with %s: %s", w.name(), t.branch, few(conflicts, namedPaths)).
			Hint("%s", w.conflictLine(t.branch))
	}
	return w.Repo.States().Twin(ctx, tree+"^{tree}", w.Record.TurnSession+" again", t.tip)
}
