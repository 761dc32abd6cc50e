package landing

import (
	"context"
	"paw/orchestrator/turns"
	"slices"
)

// reverted returns the reverted landings of a branch that led to a state, or that the state led to, oldest
// first, if the state has something of them that the branch has lost.
func (w work) reverted(ctx context.Context, t target, twin string) ([]*Stand, error) {
	all, err := w.landingsIn(t.branch)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	if first := all[0].Before; w.Repo.Objects().Has(ctx, first) && !slices.ContainsFunc(all, (*Stand).undone) { // mostly no commit says that it reverts one
		if _, reverts, err := w.Repo.States().Mentioned(ctx, t.tip, first); err != nil || len(reverts) == 0 {
			return nil, err
		}
	}
	if all, err = w.standings(ctx, t); err != nil {
		return nil, err
	}
	var some []*Stand
	for _, one := range all {
		if one.Standing != Reverted && (one.Standing != InForce || one.Revert == "") { // some of its commits may be reverted
			continue
		}
		if !one.there(ctx, w.Repo.Objects()) || !w.Repo.Objects().Has(ctx, one.Twin) {
			continue
		}
		if one.brings, err = w.older(ctx, one, twin); err != nil {
			return nil, err
		}
		if one.brings == "" {
			continue
		}
		if one.Revert != "" { // an agent that has got the revert does without, if it has no file of the landing
			got, err := w.Repo.States().Objects().Contains(ctx, twin, one.Revert)
			if got && err == nil {
				got, err = one.hasOf(ctx, w.Repo.Objects(), twin)
				got = !got
			}
			if err != nil {
				return nil, err
			} else if got {
				continue
			}
		}
		for _, later := range all {
			if later.TurnSession == one.TurnSession && later.ID > one.ID && later.Standing == InForce {
				one.since = append(one.since, turns.NumbersIn(later.Turns)...)
			}
		}
		lacks, err := w.lacks(ctx, t, one, twin)
		if err != nil {
			return nil, err
		}
		if lacks {
			some = append(some, one)
		}
	}
	return some, nil
}

// older compares the state that a landing brought with another state. If one of them came from the other, it returns
// the earlier one, else "". What came by way of the branch, as with another agent's landing, does not count.
func (w work) older(ctx context.Context, one *Stand, state string) (string, error) {
	chains := w.Repo.Objects()
	if one.TurnSession == w.Record.TurnSession {
		chains = w.Repo.States().Objects()
	}
	for _, pair := range [][2]string{{one.Twin, state}, {state, one.Twin}} {
		if led, err := chains.Contains(ctx, pair[1], pair[0]); led || err != nil {
			return pair[0], err
		}
	}
	return "", nil
}

// lacks reports whether a tip has a file as it was before a landing, or lines of one, and a state does not.
func (w work) lacks(ctx context.Context, t target, one *Stand, state string) (bool, error) {
	all, err := w.Repo.Objects().BlobChanges(ctx, [][2]string{{one.Before, one.After}, {one.Before, state}, {one.Before, t.tip}})
	if err != nil {
		return false, err
	}
	changed := false
	for path := range all[0] {
		_, here := all[1][path]
		_, there := all[2][path]
		if here && !there {
			return true, nil
		}
		changed = changed || here
	}
	if !changed {
		return false, nil
	}
	merged, err := mergeAgain(ctx, w, t, one, t.tip)
	if err != nil || len(merged.Conflicts) > 0 {
		return false, err
	}
	same, err := w.Repo.Objects().SameTree(ctx, t.tip, merged.Tree)
	return !same, err
}
