package landing

import (
	"maps"
	"strings"

	"paw/worktree/refs"
)

// updateLog begins the reflog's lines about updates.
const updateLog = "paw update"

// madeOn returns the commits that were made on a branch, by its reflog, and are still in its
// history; commits that it got by a merge or a move are not among them. ever also has commits that
// the branch has left since, as by an amend.
func (h *history) madeOn(tips []refs.PastTip) (made, ever map[string]bool) {
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

// updates returns the commits that paw update made on the agent's branch.
func (a *asker) updates() (map[string]bool, error) {
	tips, err := a.m.Refs().PastTips(a.agent.Branch)
	made := map[string]bool{}
	for _, tip := range tips {
		made[tip.Commit] = made[tip.Commit] || strings.HasPrefix(tip.Why, updateLog)
	}
	return made, err
}

// lookForMade finds the commits that each agent made. Commits of the agent it started from count
// too, as far as it began with them.
func (a *asker) lookForMade(h *history) error {
	alone := map[string]map[string]bool{}
	for turnSession, life := range a.led.lives {
		var tips []refs.PastTip
		if life.branch != "" {
			var err error
			if tips, err = a.m.Refs().PastTips(life.branch); err != nil {
				return err
			}
		}
		alone[turnSession], _ = h.madeOn(tips)
	}
	for turnSession, life := range a.led.lives {
		h.made[turnSession] = maps.Clone(alone[turnSession])
		began := h.real.history(life.start)
		for _, p := range a.led.lives.line(life.now) {
			for one := range alone[p.turnSession] {
				if p.turnSession != turnSession && began[one] {
					h.made[turnSession][one] = true
				}
			}
		}
	}
	return nil
}

// linkMade links the node of a landed state to the newest commits of its agent, if the state has
// them only through commits that the branch has left.
func (h *history) linkMade(node string, one *Stand) {
	has := h.real.history(one.State)
	for commit := range h.gone {
		if has[commit] {
			made := maps.Clone(h.made[one.TurnSession])
			maps.DeleteFunc(made, func(one string, _ bool) bool { return !has[one] })
			for _, commit := range h.newest(made) {
				h.link(h.landed, node, commit)
			}
			return
		}
	}
}

func (a *asker) lookForEver(h *history, kin map[string]bool) error {
	h.ever = map[string]map[string]bool{}
	for turnSession := range kin {
		branch := a.led.lives[turnSession].branch
		if branch == "" {
			continue
		}
		tips, err := a.m.Refs().PastTips(branch)
		if err != nil {
			return err
		}
		_, h.ever[turnSession] = h.madeOn(tips)
	}
	return nil
}
