package landing

import (
	"context"
	"slices"
)

// lostWork is what led to a state of the agent and landed once, and what the branch has lost below something that stands: by a revert, or by a
// rebase that left it out. It lands again when that is asked for.
type lostWork struct {
	*Stand
	to point // the state up to which the work of the landing led to that of the agent
}

// lookForLost finds the lost work of a state. What the state has nothing of either, the agent has taken out.
func (a *asker) lookForLost(ctx context.Context, h *history, s *sides) error {
	if !slices.Contains(a.led.files, a.agent.TurnSession) {
		return nil
	}
	had := h.of(s.tip)
	for i := range a.led.all {
		one := &a.led.all[i]
		to, shared := a.led.meeting(s.line, one)
		if !shared || !a.mine(one) || !a.led.lostFor(to, one) || one.Standing != Reverted && !had[to.String()] {
			continue
		}
		gone, err := a.led.looker.without(ctx, one, s.state, nil)
		if err != nil {
			return err
		}
		if !gone {
			s.lost = append(s.lost, lostWork{one, to})
		}
	}
	return nil
}

// bringAgain returns the tree of the branch with all lost work as it landed, which lands then with the rest.
func (a *asker) bringAgain(ctx context.Context, h *history, s *sides) (string, error) {
	tree := a.t.tip
	for _, one := range s.lost {
		base, err := a.baseAt(ctx, h, one.Before, one.to.String(), a.led.lives.line(one.to))
		if err != nil {
			return "", err
		}
		if base == "" {
			return "", a.unrelated()
		}
		merged, err := a.m.Objects().MergeTrees(ctx, a.t.place(a.m), base, tree, h.commitOf(one.to.String()))
		if err != nil {
			return "", err
		}
		if len(merged.Conflicts) > 0 {
			return "", a.cannotTell(landingWords(one.Stand), merged.Conflicts)
		}
		tree = merged.Tree
	}
	return tree, nil
}

// instead returns the numbers of the landings whose work comes with a state: that are brought again, that the branch does not have, or whose
// files alone it has.
func (a *asker) instead(s *sides) (ids []int) {
	if s.h == nil {
		return nil
	}
	had := s.h.of(s.tip)
	for i := range a.led.all {
		one := &a.led.all[i]
		to, shared := a.led.meeting(s.line, one)
		switch {
		case !shared || one.TurnSession != a.agent.TurnSession || one.offered() || one.Standing == Elsewhere:
		case one.ByFiles, !one.stands() && !had[to.String()], a.again && s.hasLost(one):
			ids = append(ids, one.ID)
		}
	}
	return ids
}

func (s *sides) hasLost(one *Stand) bool {
	for _, lost := range s.lost {
		if lost.Stand == one {
			return true
		}
	}
	return false
}
