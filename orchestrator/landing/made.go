package landing

import (
	"maps"
	"strings"

	"paw/worktree"
)

// madeOn returns the commits that were made on a branch, by its reflog, and are still in its
// history; commits that it got by a merge or a move are not among them. ever also has commits that
// the branch has left since, as by an amend.
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
			continue // on top of the last commit
		case rebased && strings.Contains(tip.Why, "(finish)"):
			for one := tip.Commit; one != onto && len(h.parents[one]) > 0 && !h.inTip[one]; one = h.parents[one][0] {
				made[one], ever[one] = true, true
			}
		case by == "merge", by == "pull", strings.HasPrefix(tip.Why, updateLog):
			if from := h.parents[tip.Commit]; len(from) > 1 && from[0] == tip.Was && !strings.HasSuffix(tip.Why, fastForward) {
				made[tip.Commit], ever[tip.Commit] = true, true
			}
			continue
		default: // a move, perhaps back to an earlier commit
			made = maps.Clone(ever)
		}
		has := h.real.history(tip.Commit)
		maps.DeleteFunc(made, func(one string, _ bool) bool { return !has[one] })
	}
	return made, ever
}

// fastForward ends the lines of a reflog about moves to another branch's commit.
const fastForward = ": Fast-forward"
