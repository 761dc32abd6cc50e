package landing

import (
	"context"
	"slices"

	"paw/session"
	"paw/worktree/objects"
)

// blobsOf returns the changes that each landing brought, and the changes to the same paths since.
func (l *looker) blobsOf(ctx context.Context, some []int) (brought, since []map[string]objects.BlobChange, err error) {
	var pairs [][2]string
	for _, i := range some {
		pairs = append(pairs, [2]string{l.all[i].Before, l.all[i].After})
	}
	for _, i := range some {
		pairs = append(pairs, [2]string{l.all[i].After, l.tip})
	}
	all, err := l.m.Objects().BlobChanges(ctx, pairs)
	if err != nil {
		return nil, nil, err
	}
	return all[:len(some)], all[len(some):], nil
}

// fate says whether all the paths of a landing are as it brought them, or are as before it.
type fate struct{ whole, gone bool }

// fateOf compares the paths that a landing brought with their blobs at the tip. If certain is
// false, the files themselves have to be merged to tell.
func fateOf(brought, since map[string]objects.BlobChange) (f fate, certain bool) {
	f = fate{whole: true, gone: true}
	for path, change := range brought {
		now := change.To
		if later, changed := since[path]; changed {
			now = later.To
		}
		f.whole = f.whole && now == change.To
		f.gone = f.gone && now == change.From
		if now == change.To {
			certain = true
		}
	}
	return f, certain || f.gone || len(brought) == 0
}

// lookAtFiles finds out what the tip's files have of an agent's landings.
func (l *looker) lookAtFiles(ctx context.Context, turnSession string, facts []landingFacts) error {
	var own []int
	for i := range l.all {
		there := facts[i].inTip || facts[i].rewritten != ""
		if one := &l.all[i]; one.TurnSession == turnSession && one.Before != "" && (there && one.After != l.tip || !there && one.Phase != session.LandingOffered) {
			own = append(own, i)
		}
	}
	if len(own) == 0 {
		return nil
	}
	brought, since, err := l.blobsOf(ctx, own)
	if err != nil {
		return err
	}
	var lost []int
	for n, i := range own {
		f := &facts[i]
		fate, certain := fateOf(brought[n], since[n])
		if f.inTip || f.rewritten != "" {
			if fate.gone && certain {
				if certain, err = l.deleted(ctx, &l.all[i], brought[n]); err != nil {
					return err
				}
			}
			if f.lost, err = l.lostOf(ctx, facts, i, fate.gone && len(brought[n]) > 0, certain, lost); err != nil {
				return err
			}
			if f.lost {
				lost = append(lost, i)
			}
			continue
		}
		if f.elsewhere {
			continue
		}
		if f.whole = fate.whole && len(brought[n]) > 0; !f.whole && f.phase == session.LandingDone && !fate.gone {
			if f.whole, err = l.within(ctx, &l.all[i]); err != nil {
				return err
			}
		}
	}
	return l.lookWhoTookOut(ctx, lost, facts)
}

// deleted reports whether the paths that a landing added, and that the tip does not have, are
// certainly gone: a commit says so, or there are none. Otherwise the files may have other names.
func (l *looker) deleted(ctx context.Context, one *Stand, brought map[string]objects.BlobChange) (bool, error) {
	for _, change := range brought {
		if change.Added() {
			revert, err := l.revertOf(ctx, one)
			return revert != "", err
		}
	}
	return true, nil
}

// lostOf reports whether the tip's files have nothing of a landing in its history. gone is what the
// blobs alone say.
func (l *looker) lostOf(ctx context.Context, facts []landingFacts, i int, gone, certain bool, lost []int) (bool, error) {
	by, err := l.partlyBy(ctx, facts, i)
	switch {
	case err != nil:
		return false, err
	case by != nil:
		return l.withoutRest(ctx, &l.all[i], by)
	case certain:
		return gone, nil
	}
	return l.without(ctx, &l.all[i], l.tip, lost)
}

// lookWhoTookOut finds lost landings that agents have taken out of their own state before a later
// landing.
func (l *looker) lookWhoTookOut(ctx context.Context, lost []int, facts []landingFacts) error {
	var out []int
	for _, i := range lost {
		k, err := l.nextOf(ctx, i, lost, facts)
		if err != nil || k < 0 {
			if err != nil {
				return err
			}
			continue
		}
		if facts[i].takenOut, err = l.without(ctx, &l.all[i], l.all[k].State, out); err != nil {
			return err
		}
		if facts[i].takenOut {
			out = append(out, i)
		}
	}
	return nil
}

// nextOf returns the last landing that went on from the state of landing i, that the tip has and
// has not lost, -1 for none. It is by the same agent, or by one that started from there.
func (l *looker) nextOf(ctx context.Context, i int, lost []int, facts []landingFacts) (int, error) {
	last := -1
	for k := range l.all {
		one, by := &l.all[i], &l.all[k]
		if by.Session != one.Session || by.ID <= one.ID || last >= 0 && by.ID < l.all[last].ID || !facts[k].inTip && facts[k].rewritten == "" ||
			slices.Contains(lost, k) || !slices.Contains(l.lives.line(by.point()), one.point()) {
			continue
		}
		if by.TurnSession != one.TurnSession {
			if gone, err := l.without(ctx, by, l.tip, nil); err != nil || gone {
				if err != nil {
					return -1, err
				}
				continue
			}
		}
		last = k
	}
	return last, nil
}

// without reports whether the files of a commit have nothing of a landing: removing the landing
// from them changes nothing. On a conflict it removes the lost landings from the state before the
// landing, too.
func (l *looker) without(ctx context.Context, one *Stand, commit string, lost []int) (bool, error) {
	plain, collides, err := l.changesNothing(ctx, one.After, commit, one.Before)
	if err != nil || !collides || len(lost) == 0 {
		return plain, err
	}
	before := one.Before
	for _, i := range slices.Backward(lost) {
		merged, err := l.m.Objects().MergeTrees(ctx, l.dir, l.all[i].After, before, l.all[i].Before)
		if err != nil {
			return false, err
		}
		if len(merged.Conflicts) == 0 {
			before = merged.Tree
		}
	}
	none, _, err := l.changesNothing(ctx, one.After, commit, before)
	return none, err
}

// partlyBy returns the last landing of the tip that brought a part of a landing's work again, nil
// for none.
func (l *looker) partlyBy(ctx context.Context, facts []landingFacts, i int) (*Stand, error) {
	for k := range slices.Backward(l.all) {
		by := &l.all[k]
		if k == i || !facts[k].inTip && facts[k].rewritten == "" || !l.coversPart(by, &l.all[i]) {
			continue
		}
		if lost, err := l.without(ctx, by, l.tip, nil); err != nil || !lost {
			return by, err
		}
	}
	return nil, nil
}

// withoutRest reports whether the tip's files have nothing of a landing except what a later landing
// has brought again.
func (l *looker) withoutRest(ctx context.Context, one, by *Stand) (bool, error) {
	part, err := l.m.Objects().MergeTrees(ctx, l.dir, one.State, one.After, by.State)
	if err != nil || len(part.Conflicts) > 0 {
		return false, err
	}
	if all, err := l.m.Objects().TreeOf(ctx, one.After); err != nil || all == part.Tree {
		return false, err
	}
	none, _, err := l.changesNothing(ctx, one.After, l.tip, part.Tree)
	return none, err
}

// within reports whether the tip's files have all of a landing: merging it again changes nothing.
func (l *looker) within(ctx context.Context, one *Stand) (bool, error) {
	all, _, err := l.changesNothing(ctx, one.Before, l.tip, one.After)
	return all, err
}

// changesNothing reports whether a merge leaves ours as it is, and whether it has conflicts.
func (l *looker) changesNothing(ctx context.Context, base, ours, theirs string) (nothing, collides bool, err error) {
	merged, err := l.m.Objects().MergeTrees(ctx, l.dir, base, ours, theirs)
	if err != nil || len(merged.Conflicts) > 0 {
		return false, err == nil, err
	}
	tree, err := l.m.Objects().TreeOf(ctx, ours)
	return tree == merged.Tree, false, err
}
