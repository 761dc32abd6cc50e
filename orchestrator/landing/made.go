package landing

import (
	"maps"
	"strings"

	"paw/worktree"
)

// madeOn returns the commits that, by its log, were made on a branch itself and are in its history still: not those that it got by a merge, or that
// it moved to. ever are also those that it has left since, as by an amend.
func (h *history) madeOn(tips []worktree.PastTip) (made, ever map[string]bool) {
	made, ever = map[string]bool{}, map[string]bool{}
	for _, tip := range tips {
		by, _, _ := strings.Cut(tip.Why, " ")
		by = strings.TrimSuffix(by, ":")
		_, onto, rebased := strings.Cut(tip.Why, " onto ")
		switch {
		case strings.HasPrefix(tip.Why, "commit (amend)"):
			made[tip.Commit], ever[tip.Commit] = true, true
		case by == "commit", by == "cherry-pick", by == "revert", by == "am":
			made[tip.Commit], ever[tip.Commit] = true, true
			continue // on top of what was there
		case rebased && strings.Contains(tip.Why, "(finish)"):
			for one := tip.Commit; one != onto && len(h.parents[one]) > 0 && !h.inTip[one]; one = h.parents[one][0] {
				made[one], ever[one] = true, true
			}
		case by == "merge", by == "pull", strings.HasPrefix(tip.Why, updateLog):
			if from := h.parents[tip.Commit]; len(from) > 1 && from[0] == tip.Was && !strings.HasSuffix(tip.Why, fastForward) {
				made[tip.Commit], ever[tip.Commit] = true, true
			}
			continue
		default: // to where it was before, or to anywhere
			made = maps.Clone(ever)
		}
		has := h.real.history(tip.Commit)
		maps.DeleteFunc(made, func(one string, _ bool) bool { return !has[one] })
	}
	return made, ever
}

// fastForward ends what the log says of a branch that moved to where another one was.
const fastForward = ": Fast-forward"
