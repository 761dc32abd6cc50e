package landing

import (
	"context"
	"maps"
	"slices"
)

// lookForLost finds the lost work of a state. Work that the state lacks too is not lost: the agent
// has taken it out.
func (a *asker) lookForLost(ctx context.Context, h *history, s *sides) error {
	if !slices.Contains(a.led.files, a.Record.TurnSession) {
		return nil
	}
	for _, one := range a.led.all {
		work, lost, err := a.lostOf(ctx, h, s, one)
		if err != nil || !lost {
			if err != nil {
				return err
			}
			continue
		}
		gone, err := a.led.without(ctx, one, s.state, nil)
		if err != nil {
			return err
		}
		if !gone {
			s.lost = append(s.lost, work)
		}
	}
	return nil
}

// lostOf returns the work of a landing that the branch has lost. For a landing of another agent it
// is only the work of this agent that came along.
func (a *asker) lostOf(ctx context.Context, h *history, s *sides, one *Stand) (lostWork, bool, error) {
	if a.mine(one) {
		to, shared := a.led.meeting(s.line, one)
		lost := shared && a.led.lostFor(to, one) && (one.Standing == Reverted || s.had()[to])
		return lostWork{one, []string{to.String()}, a.led.lives.line(to)}, lost, nil
	}
	if one.offered() || !one.stands() {
		return lostWork{}, false, nil
	}
	along, err := a.along(h, s, one)
	if err != nil || len(along) == 0 {
		return lostWork{}, false, err
	}
	err = a.led.lookFurther(ctx, one.TurnSession)
	return lostWork{one, along, s.line}, one.Standing == Reverted && !a.broughtSince(h, one, along), err
}

// along returns the newest nodes of this agent's work that led to the state and came along with a
// landing of another agent.
func (a *asker) along(h *history, s *sides, one *Stand) ([]string, error) {
	if len(h.made) == 0 {
		if err := a.lookForMade(h); err != nil {
			return nil, err
		}
	}
	landed, before, led := h.of(one.Commit), h.of(one.Before), h.of(s.state)
	along := map[string]bool{}
	for commit := range h.made[h.agent] {
		along[commit] = landed[commit] && led[commit] && !before[commit]
	}
	for _, p := range s.line {
		along[p.String()] = landed[p.String()] && !before[p.String()]
	}
	maps.DeleteFunc(along, func(_ string, is bool) bool { return !is })
	return h.newest(along), nil
}

// broughtSince reports whether a later landing has brought the nodes in along again.
func (a *asker) broughtSince(h *history, one *Stand, along []string) bool {
	return slices.ContainsFunc(a.led.all, func(by *Stand) bool {
		if !by.stands() || by.Standing == Reverted || by.Session != one.Session || !slices.Contains(by.Instead, one.ID) {
			return false
		}
		has := h.of(by.Commit)
		return !slices.ContainsFunc(along, func(node string) bool { return !has[node] })
	})
}

// bringAgain returns a tree of the branch into which all lost work was merged again, as it had
// landed.
func (a *asker) bringAgain(ctx context.Context, h *history, s *sides) (string, error) {
	tree := a.t.tip
	for _, one := range s.lost {
		if err := a.linkBefore(ctx, h, one.Stand); err != nil {
			return "", err
		}
		for _, to := range one.to {
			base, err := a.baseAt(ctx, h, one.Before, to, one.line)
			if err != nil {
				return "", err
			}
			if base == "" {
				return "", a.unrelated()
			}
			merged, err := a.Repo.Objects().MergeTrees(ctx, a.t.place(a.Repo), base, tree, h.commitOf(to))
			if err != nil {
				return "", err
			}
			if len(merged.Conflicts) > 0 {
				return "", a.cannotTell(landingWords(one.Stand), merged.Conflicts)
			}
			tree = merged.Tree
		}
	}
	return tree, nil
}
