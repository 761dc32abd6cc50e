package landing

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"paw/session/turn"
	"paw/worktree/refs"
)

// lookAtHistory builds the history of the branch and a state.
func (a *asker) lookAtHistory(ctx context.Context, one state) (*history, error) {
	kin := a.kinOf(one)
	states, err := a.commitsOf(ctx, kin)
	if err != nil {
		return nil, err
	}
	for tips := append(a.looked(one), a.led.tip); ; {
		h, err := a.historyOf(ctx, one, kin, states, tips)
		if err != nil {
			return nil, err
		}
		cut := h.cutOff(a, one)
		if len(cut) == 0 {
			h.linkStates(a, kin)
			h.linkLandings(a)
			return h, nil
		}
		tips = append(tips, cut...)
	}
}

// needs returns the commits that a question about a state needs besides those of landings.
func (a *asker) needs(ctx context.Context, one state) []string {
	states, _ := a.commitsOf(ctx, a.kinOf(one)) // lookAtHistory meets the error again
	return slices.AppendSeq(a.looked(one), maps.Values(states))
}

// looked returns the commits that a question about a state needs.
func (a *asker) looked(one state) []string {
	commits := []string{cmp.Or(one.head, one.commit)}
	if a.handed != "" {
		commits = append(commits, a.handed)
	}
	return commits
}

// cutOff returns commits older than the root from which states reached the present one by another
// way than through the root: the region is too small, because such states may have them in common.
func (h *history) cutOff(a *asker, one state) (cut []string) {
	if h.root == "" {
		return nil
	}
	asked := slices.AppendSeq(h.leftOf(one.commit), maps.Keys(h.made[h.agent]))
	for _, p := range a.lineOf(one) {
		asked = append(asked, h.states[p])
	}
	after := h.real.after(h.root)
	asked = slices.DeleteFunc(asked, func(commit string) bool { return after[commit] })
	for commit := range h.real.history(asked...) {
		for _, from := range h.parents[commit] {
			if h.parents[from] == nil && from != h.root {
				cut = append(cut, from)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(cut)))
}

// historyOf builds the history between some commits and a common ancestor. It differs from git's at
// updates: what an update brought counts as all that the agent then had from the branch.
func (a *asker) historyOf(ctx context.Context, one state, kin map[string]bool, states map[point]string, tips []string) (*history, error) {
	h := &history{
		states: states, real: graph{}, from: graph{}, landed: graph{}, same: graph{}, tip: a.led.tip, commits: map[string]string{},
		agent: a.Record.TurnSession, whose: map[string]string{}, made: map[string]map[string]bool{}, ever: map[string]map[string]bool{},
	}
	others := slices.AppendSeq(slices.Clone(a.led.past), maps.Values(states))
	for _, one := range a.led.all {
		others = append(others, one.After, one.State, one.Commit)
		if kin[one.TurnSession] && one.Standing != InForce && a.led.keepsBefore(one) {
			tips = append(slices.Clip(tips), one.Before)
		}
	}
	var err error
	if h.root, h.parents, err = a.Repo.Objects().Ancestry(ctx, a.led.base, tips, others); err != nil {
		return nil, err
	}
	if one.head != "" && one.head != one.commit && h.parents[one.commit] == nil {
		h.parents[one.commit] = []string{one.head}
	}
	for commit, from := range h.parents {
		h.real[commit] = slices.DeleteFunc(slices.Clone(from), func(one string) bool { return h.parents[one] == nil && one != h.root })
	}
	for _, commit := range tips {
		if h.root != "" && commit != h.root {
			h.real.link(commit, h.root)
		}
	}
	h.inTip = h.real.history(h.tip)
	updates, err := a.updates()
	if err != nil {
		return nil, err
	}
	if err := a.lookForLeft(h, kin); err != nil {
		return nil, err
	}
	for commit, from := range h.real {
		h.from[commit] = slices.Clone(from)
		if own := h.parents[commit]; updates[commit] && len(own) > 1 && !h.inTip[commit] && !h.left[commit] {
			h.from[commit] = slices.DeleteFunc(h.from[commit], func(one string) bool { return one == own[0] })
			h.landed.link(commit, own[0])
		}
	}
	return h, nil
}

// kinOf returns the turn sessions of the agents whose states led to a state, and of agents that
// went on from these.
func (a *asker) kinOf(one state) map[string]bool {
	kin := map[string]bool{}
	for _, p := range a.lineOf(one) {
		kin[p.turnSession] = true
	}
	for _, one := range a.led.all {
		line := a.led.lives.line(one.point())
		if slices.ContainsFunc(line, func(p point) bool { return kin[p.turnSession] }) {
			for _, p := range line {
				kin[p.turnSession] = true
			}
		}
	}
	return kin
}

// commitsOf returns the commits of the states of some agents, if refs or records have them.
func (a *asker) commitsOf(ctx context.Context, kin map[string]bool) (map[point]string, error) {
	var prefixes []string
	for turnSession := range kin {
		if a.led.lives[turnSession].parent == nil {
			continue
		}
		prefixes = append(prefixes, turn.RefPrefix(turnSession))
	}
	commits := map[point]string{}
	if len(prefixes) == 0 {
		return commits, nil
	}
	refs, err := a.Repo.Refs().List(ctx, prefixes...)
	if err != nil {
		return nil, err
	}
	for turnSession := range kin {
		life := a.led.lives[turnSession]
		commits[point{turnSession: turnSession}] = life.start
		for n := 1; n <= life.last; n++ {
			commits[point{turnSession: turnSession, turn: n}] = cmp.Or(refs[turn.TurnRef(turnSession, n)], refs[turn.HeadRef(turnSession, n)])
		}
	}
	for _, one := range a.led.all {
		if kin[one.TurnSession] {
			commits[one.point()] = one.State
		}
	}
	return commits, nil
}

// linkStates adds the states of agents: each came from its commit and from the state before it.
func (h *history) linkStates(a *asker, kin map[string]bool) {
	for p, commit := range h.states {
		if kin[p.turnSession] && commit != "" && (h.real[commit] != nil || commit == h.root) {
			h.commits[p.String()] = commit
		}
	}
	for p := range h.states {
		if h.commits[p.String()] == "" {
			continue
		}
		h.from.link(p.String(), h.commits[p.String()])
		h.whose[p.String()] = p.turnSession
		if before := h.nearest(a.led.lives.line(p)[1:], h.commits[p.String()]); before != "" {
			h.landed.link(p.String(), before)
		}
	}
}

// linkLandings adds landings: what a landing made of a branch, and what that was rewritten to, came
// from the state that landed.
func (h *history) linkLandings(a *asker) {
	for _, one := range a.led.all {
		node := h.nodeOf(a, one)
		if node == "" {
			continue
		}
		if h.whose[node] == "" {
			h.whose[node] = one.TurnSession
		}
		h.linkMade(node, one)
		if one.Commit != one.After && h.real[one.Commit] != nil && h.real[one.After] != nil && !h.real.history(one.After)[one.Commit] {
			h.same.link(one.Commit, one.After)
		}
		for _, commit := range []string{one.After, one.Commit} {
			switch {
			case commit == "":
			case h.real[commit] != nil:
				h.link(h.landed, commit, node)
			case one.stands() && commit == one.Commit && h.root != "":
				h.link(h.landed, h.root, node)
			}
		}
	}
}

// updateLog begins the reflog's lines about updates.
const updateLog = "paw update"

// madeOn returns the commits that were made on a branch, by its reflog, and are still in its
// history; commits that it got by a merge or a move are not among them. ever also has commits that
// the branch has left since, as by an amend.
func (h *history) madeOn(tips []refs.PastTip) (made, ever map[string]bool) {
	made, ever = map[string]bool{}, map[string]bool{}
	for _, tip := range tips {
		by, _, _ := strings.Cut(tip.Why, " ")
		_, onto, rebased := strings.Cut(tip.Why, " onto ")
		switch by = strings.TrimSuffix(by, ":"); {
		case by == "commit", by == "cherry-pick", by == "revert", by == "am":
			made[tip.Commit], ever[tip.Commit] = true, true
			if !strings.HasPrefix(tip.Why, "commit (amend)") { // on top of the last commit
				continue
			}
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
	tips, err := a.Repo.Refs().PastTips(a.Record.Branch)
	made := map[string]bool{}
	for _, tip := range tips {
		made[tip.Commit] = made[tip.Commit] || strings.HasPrefix(tip.Why, updateLog)
	}
	return made, err
}

// lookForMade finds the commits that the agents of some turn sessions ever made, and with all those
// that each agent made. Commits of the agent it started from count too, as far as it began with them.
func (a *asker) lookForMade(h *history, kin map[string]bool, all bool) error {
	alone := map[string]map[string]bool{}
	for turnSession, life := range a.led.lives {
		if !all && !kin[turnSession] {
			continue
		}
		tips, err := a.Repo.Refs().PastTips(life.branch)
		if err != nil {
			return err
		}
		alone[turnSession], h.ever[turnSession] = h.madeOn(tips)
	}
	if !all {
		return nil
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
