package landing

import (
	"context"
	"maps"
	"slices"

	"paw/session/turn"
)

// lookAtHistory builds the history of the branch and a state.
func (a *asker) lookAtHistory(ctx context.Context, one state) (*history, error) {
	kin := a.kinOf(one)
	lives, err := a.commitsOf(ctx, kin)
	if err != nil {
		return nil, err
	}
	r := a.region
	if r == nil {
		if r, err = a.lookAtRegion(ctx, kin, lives, a.looked(one)...); err != nil {
			return nil, err
		}
	}
	h, err := a.historyIn(r)
	if err != nil {
		return nil, err
	}
	for commits := a.looked(one); ; {
		cut := h.cutOff(a, one, lives)
		if len(cut) == 0 {
			break
		}
		commits = append(commits, cut...)
		if r, err = a.lookAtRegion(ctx, kin, lives, commits...); err != nil {
			return nil, err
		}
		if h, err = a.historyIn(r); err != nil {
			return nil, err
		}
	}
	if err := a.lookForEver(h, kin); err != nil {
		return nil, err
	}
	h.linkStates(a, lives)
	h.linkLandings(a)
	return h, nil
}

// lookAtRegion reads the region of the branch and some commits.
func (a *asker) lookAtRegion(ctx context.Context, kin map[string]bool, lives map[point]string, commits ...string) (r *region, err error) {
	r = &region{tips: append([]string{a.t.tip}, commits...)}
	for _, one := range a.led.all {
		if kin[one.TurnSession] && one.Standing != InForce && a.led.looker.refs[turn.LandedRef(one.TurnSession, one.ID, "before")] == one.Before {
			r.tips = append(r.tips, one.Before)
		}
	}
	others := slices.Clone(a.led.past)
	for _, one := range a.led.all {
		others = append(others, one.After, one.State, one.Commit)
	}
	r.root, r.parents, err = a.m.Objects().Ancestry(ctx, a.agent.BaseCommit, r.tips, slices.AppendSeq(others, maps.Values(lives)))
	return r, err
}

// looked returns the commits that a question about a state needs.
func (a *asker) looked(one state) []string {
	if a.handed == "" {
		return []string{one.commit}
	}
	return []string{one.commit, a.handed}
}

// cutOff returns commits older than the root from which states reached the present one by another
// way than through the root: the region is too small, because such states may have them in common.
func (h *history) cutOff(a *asker, one state, lives map[point]string) (cut []string) {
	if h.root == "" {
		return nil
	}
	asked := slices.AppendSeq(h.leftOf(one.commit), maps.Keys(h.made[h.agent]))
	for _, p := range a.lineOf(one) {
		asked = append(asked, lives[p])
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
	return uniq(cut)
}

// historyIn builds the history of a region. It differs from git's at updates: what an update
// brought counts as all that the agent then had from the branch.
func (a *asker) historyIn(r *region) (*history, error) {
	h := &history{
		real: graph{}, parents: r.parents, from: graph{}, landed: graph{}, same: graph{}, tip: a.t.tip, root: r.root, commits: map[string]string{},
		agent: a.agent.TurnSession, whose: map[string]string{},
	}
	for commit, from := range r.parents {
		h.real[commit] = slices.DeleteFunc(slices.Clone(from), func(one string) bool { return r.parents[one] == nil && one != h.root })
	}
	for _, commit := range r.tips {
		if h.root != "" && commit != h.root {
			h.real.link(commit, h.root)
		}
	}
	h.inTip = h.real.history(h.tip)
	updates, err := a.updates()
	if err != nil {
		return nil, err
	}
	if err := a.lookForLeft(h); err != nil {
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
	refs, err := a.m.Refs().List(ctx, prefixes...)
	if err != nil {
		return nil, err
	}
	for turnSession := range kin {
		life := a.led.lives[turnSession]
		for p := range life.points() {
			switch {
			case p.turnSession != turnSession:
			case p.turn > 0:
				if commits[p] = refs[turn.TurnRef(turnSession, p.turn)]; commits[p] == "" {
					commits[p] = refs[turn.HeadRef(turnSession, p.turn)]
				}
			case p.landing == 0:
				commits[p] = life.start
			}
		}
	}
	for i := range a.led.all {
		if one := &a.led.all[i]; kin[one.TurnSession] {
			commits[one.point()] = one.State
		}
	}
	return commits, nil
}

// linkStates adds the states of agents: each came from its commit and from the state before it.
func (h *history) linkStates(a *asker, commits map[point]string) {
	for p, commit := range commits {
		if commit != "" && (h.real[commit] != nil || commit == h.root) {
			h.commits[p.String()] = commit
		}
	}
	for p := range commits {
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
	for i := range a.led.all {
		one := &a.led.all[i]
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
