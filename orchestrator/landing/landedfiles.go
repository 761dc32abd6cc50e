package landing

import (
	"context"
	"maps"
	"slices"

	"paw/session"
	"paw/worktree/objects"
)

// blobsOf returns the changes that each landing brought, and the changes since, in lists that follow
// each other up to the tip. The changes of a landing that follows another at once are listed once,
// since there may be thousands.
func (l *ledger) blobsOf(ctx context.Context, some []*Stand) (brought []map[string]objects.BlobChange, since [][]map[string]objects.BlobChange, err error) {
	followed := func(n int) bool { return n+1 < len(some) && some[n+1].Before == some[n].After }
	var pairs [][2]string
	for _, one := range some {
		pairs = append(pairs, [2]string{one.Before, one.After})
	}
	for n, one := range some {
		if !followed(n) {
			pairs = append(pairs, [2]string{one.After, l.tip})
		}
	}
	all, err := l.m.Objects().BlobChanges(ctx, pairs)
	if err != nil {
		return nil, nil, err
	}
	since = make([][]map[string]objects.BlobChange, len(some))
	for n := range slices.Backward(some) {
		if followed(n) {
			since[n] = slices.Insert(slices.Clone(since[n+1]), 0, all[n+1])
		} else {
			since[n], all = all[len(all)-1:], all[:len(all)-1]
		}
	}
	return all, since, nil
}

// fate says whether all the paths of a landing are as it brought them, or are as before it.
type fate struct{ whole, gone bool }

// fateOf compares the paths that a landing brought with their blobs at the tip. If certain is
// false, the files themselves have to be merged to tell.
func fateOf(brought map[string]objects.BlobChange, since []map[string]objects.BlobChange) (f fate, certain bool) {
	f = fate{whole: true, gone: true}
	for path, change := range brought {
		now := change.To
		for _, changes := range since {
			if later, changed := changes[path]; changed {
				now = later.To
			}
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
func (l *ledger) lookAtFiles(ctx context.Context, turnSession string) error {
	own := slices.DeleteFunc(l.of(turnSession), func(one *Stand) bool {
		return one.Before == "" || one.there() && one.After == l.tip || !one.there() && one.offered()
	})
	if len(own) == 0 {
		return nil
	}
	brought, since, err := l.blobsOf(ctx, own)
	if err != nil {
		return err
	}
	var lost []*Stand
	for n, one := range own {
		switch {
		case one.there():
			if one.lost, err = l.lostOf(ctx, one, brought[n], since[n], lost); one.lost {
				lost = append(lost, one)
			}
		case !one.elsewhere && one.Phase == session.LandingDone:
			if fate, _ := fateOf(brought[n], since[n]); fate.whole && len(brought[n]) > 0 {
				one.whole = true
			} else if !fate.gone { // a merge of it again changes nothing
				one.whole, _, err = l.changesNothing(ctx, one.Before, l.tip, one.After)
			}
		}
		if err != nil {
			return err
		}
	}
	return l.lookWhoTookOut(ctx, lost)
}

// lostOf reports whether the tip's files have nothing of a landing in its history.
func (l *ledger) lostOf(ctx context.Context, one *Stand, brought map[string]objects.BlobChange, since []map[string]objects.BlobChange, lost []*Stand) (bool, error) {
	if by, err := l.partlyBy(ctx, one); err != nil {
		return false, err
	} else if by != nil {
		return l.withoutRest(ctx, one, by)
	}
	fate, certain := fateOf(brought, since)
	if fate.gone && slices.ContainsFunc(slices.Collect(maps.Values(brought)), objects.BlobChange.Added) { // files that the tip lacks may have other names there, unless a commit says that it takes them away
		revert, err := l.revertOf(ctx, one)
		if certain = revert != ""; err != nil {
			return false, err
		}
	}
	if certain {
		return fate.gone && len(brought) > 0, nil
	}
	return l.without(ctx, one, l.tip, lost)
}

// lookWhoTookOut finds lost landings that agents have taken out of their own state before a later
// landing.
func (l *ledger) lookWhoTookOut(ctx context.Context, lost []*Stand) error {
	var out []*Stand
	for _, one := range lost {
		next, err := l.nextOf(ctx, one, lost)
		if err == nil && next != nil {
			one.takenOut, err = l.without(ctx, one, next.State, out)
		}
		if err != nil {
			return err
		}
		if one.takenOut {
			out = append(out, one)
		}
	}
	return nil
}

// nextOf returns the last landing that went on from the state of a landing, that the tip has and
// has not lost, nil for none. It is by the same agent, or by one that started from there.
func (l *ledger) nextOf(ctx context.Context, one *Stand, lost []*Stand) (last *Stand, err error) {
	for _, by := range l.all {
		if by.Session != one.Session || by.ID <= one.ID || last != nil && by.ID < last.ID || !by.there() ||
			slices.Contains(lost, by) || !slices.Contains(l.lives.line(by.point()), one.point()) {
			continue
		}
		gone := false
		if by.TurnSession != one.TurnSession {
			if gone, err = l.without(ctx, by, l.tip, nil); err != nil {
				return nil, err
			}
		}
		if !gone {
			last = by
		}
	}
	return last, nil
}

// without reports whether the files of a commit have nothing of a landing: removing the landing
// from them changes nothing. On a conflict it removes the lost landings from the state before the
// landing, too.
func (l *ledger) without(ctx context.Context, one *Stand, commit string, lost []*Stand) (bool, error) {
	plain, collides, err := l.changesNothing(ctx, one.After, commit, one.Before)
	if err != nil || !collides || len(lost) == 0 {
		return plain, err
	}
	before := one.Before
	for _, other := range slices.Backward(lost) {
		merged, err := l.m.Objects().MergeTrees(ctx, l.place(l.m), other.After, before, other.Before)
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
func (l *ledger) partlyBy(ctx context.Context, one *Stand) (*Stand, error) {
	for _, by := range slices.Backward(l.all) {
		if by == one || !by.there() || !l.coversPart(by, one) {
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
func (l *ledger) withoutRest(ctx context.Context, one, by *Stand) (bool, error) {
	part, err := l.m.Objects().MergeTrees(ctx, l.place(l.m), one.State, one.After, by.State)
	if err != nil || len(part.Conflicts) > 0 {
		return false, err
	}
	if all, err := l.m.Objects().TreeOf(ctx, one.After); err != nil || all == part.Tree {
		return false, err
	}
	none, _, err := l.changesNothing(ctx, one.After, l.tip, part.Tree)
	return none, err
}

// changesNothing reports whether a merge leaves ours as it is, and whether it has conflicts.
func (l *ledger) changesNothing(ctx context.Context, base, ours, theirs string) (nothing, collides bool, err error) {
	merged, err := l.m.Objects().MergeTrees(ctx, l.place(l.m), base, ours, theirs)
	if err != nil || len(merged.Conflicts) > 0 {
		return false, err == nil, err
	}
	tree, err := l.m.Objects().TreeOf(ctx, ours)
	return tree == merged.Tree, false, err
}
