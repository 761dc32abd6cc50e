package landing

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"paw/orchestrator/errs"
	"paw/worktree"
)

// state is a state of an agent that is looked at.
type state struct {
	commit string
	at     *point // where in the life of the agent it stands, nil for a commit that has nothing of that life but its own history
}

// history is what a branch and states of agents came from, as if each landing had been a merge: what a landing made of a branch came from
// the state that landed, and each state of an agent from the one before it. What two of them have in common is then a matter of the graph alone.
type history struct {
	from    graph             // commits and states of agents
	landed  graph             // commits of branches, by the states that landed with them
	same    graph             // commits of branches, by what they were before somebody amended or rebased them
	real    graph             // git's own, with ways to the root that are longer there
	parents graph             // git's own
	tip     string            // commit
	inTip   map[string]bool   // commits that the tip comes after, and the tip
	root    string            // commit that the tip and all states came from; what came before it is not in the graph
	commits map[string]string // of the nodes that are states of agents
	agent   string            // turn session of the agent that is asked for
	gone    map[string]bool   // commits that the branch has left
	left    map[string]bool   // those that the agent has not made

	made  map[string]map[string]bool // commits that each agent made, by its turn session; empty where nothing is gone
	ever  map[string]map[string]bool // those that it made, and has left since, too; of agents whose states led to the one that is asked for
	whose map[string]string          // turn sessions of the agents whose states nodes are
}

// lookAtHistory gathers what the branch and a state came from.
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

// lookForEver finds the commits that some agents ever made.
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

// link adds that a node came from another one, unless that one came from it.
func (h *history) link(edges graph, node, from string) {
	if from != "" && node != from && !h.of(from)[node] {
		edges.link(node, from)
	}
}

// of returns all that some nodes have: what they came from and, where something landed, what the state came from that landed. What its agent had got
// and the branch has left did not land with it.
func (h *history) of(nodes ...string) map[string]bool {
	type step struct{ node, agent string }
	own, seen := h.from.history(nodes...), map[step]bool{}
	has := maps.Clone(own)
	var todo []step
	landed := func(node, agent string) {
		for _, from := range h.landed[node] {
			todo = append(todo, step{from, cmp.Or(h.whose[from], agent)})
		}
	}
	for node := range own {
		landed(node, cmp.Or(h.whose[node], h.agent))
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; own[at.node] || seen[at] || h.gone[at.node] && !h.made[at.agent][at.node] {
			continue
		}
		seen[at], has[at.node] = true, true
		for _, from := range h.from[at.node] {
			todo = append(todo, step{from, at.agent})
		}
		landed(at.node, at.agent)
	}
	var same []string
	for node := range has {
		same = append(same, h.same[node]...)
	}
	for _, node := range same {
		has[node] = true
	}
	return has
}

// common returns what two nodes both have, without what another one of it has: git merge-base --all.
func (h *history) common(one, other string) (best []string) {
	both, others := h.of(one), h.of(other)
	maps.DeleteFunc(both, func(node string, _ bool) bool { return !others[node] })
	for len(both) > 0 {
		var before []string
		for node := range both {
			before = append(append(before, h.from[node]...), h.landed[node]...)
		}
		older := h.of(before...)
		newest := slices.DeleteFunc(slices.Sorted(maps.Keys(both)), func(node string) bool { return older[node] })
		if len(newest) == 0 {
			newest = slices.Sorted(maps.Keys(both))[:1]
		}
		has := h.of(newest...)
		maps.DeleteFunc(both, func(node string, _ bool) bool { return has[node] })
		best = append(best, newest...)
	}
	slices.Sort(best)
	return best
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

// nearest returns the first state of a line whose commit is known and that a commit came from, "" for none. A commit without what the state had of
// the branch did not come from it, whatever the record says: somebody has moved the agent's branch back, as by git reset. What the agent made
// itself it may have made anew, as by an amend, after it came into the branch by a merge.
func (h *history) nearest(line []point, commit string) string {
	var has map[string]bool
	for _, p := range line {
		had := h.commits[p.String()]
		switch {
		case had == "":
			continue
		case had == commit:
			return p.String()
		case has == nil:
			has = h.real.history(commit)
		}
		back := false
		for one := range h.real.history(had) {
			back = back || h.inTip[one] && !has[one] && !h.ever[p.turnSession][one]
		}
		if !back {
			return p.String()
		}
	}
	return ""
}

// nodeOf returns the state that landed.
func (h *history) nodeOf(a *asker, one *Stand) string {
	if node := h.nearest(a.led.lives.line(one.point()), one.State); node != "" {
		return node
	}
	return one.State
}

// linkLandings adds what landings made of branches, and what that was rewritten to: each came from the state that landed.
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

// commitOf returns the commit of a node.
func (h *history) commitOf(node string) string {
	if commit := h.commits[node]; commit != "" {
		return commit
	}
	return node
}

// baseOf returns one commit with what some nodes have, "" for none: of several, all of them together, where a later one that contradicts is
// left out. git merges several merge bases the same way.
func (a *asker) baseOf(ctx context.Context, h *history, nodes []string) (string, error) {
	if len(nodes) == 0 {
		return "", nil
	}
	base, made := h.commitOf(nodes[0]), nodes[0]
	for _, next := range nodes[1:] {
		if h.commitOf(next) == base {
			continue
		}
		before, err := a.baseBetween(ctx, h, made, next)
		if err != nil || before == "" {
			if err != nil {
				return "", err
			}
			continue
		}
		merged, err := a.m.Objects().MergeTrees(ctx, a.t.place(a.m), before, base, h.commitOf(next))
		if err != nil {
			return "", err
		}
		if len(merged.Conflicts) > 0 {
			continue
		}
		commit, err := a.m.Objects().Commit(ctx, worktree.NewCommit{Tree: merged.Tree, Parents: []string{base, h.commitOf(next)}, Message: "paw: what both have\n", Own: true})
		if err != nil {
			return "", err
		}
		both := "base " + commit
		h.commits[both] = commit
		h.from[both] = []string{made, next}
		base, made = commit, both
	}
	return base, nil
}

// baseBetween returns one commit with what two nodes both have, "" for none. What came before all that the graph has, git knows.
func (a *asker) baseBetween(ctx context.Context, h *history, one, other string) (string, error) {
	both := h.common(one, other)
	if len(both) == 0 {
		var err error
		if both, err = a.m.Objects().MergeBases(ctx, h.commitOf(one), h.commitOf(other)); err != nil {
			return "", err
		}
	}
	return a.baseOf(ctx, h, both)
}

// unrelated refuses a state that has nothing in common with a branch.
func (a *asker) unrelated() error {
	if a.session.Host != "" {
		return notAClone(a.name(), a.t)
	}
	return errs.New(errs.Refused, "%s: has no history in common with %s", a.name(), a.t.branch).Hint("git log %s", errs.Quote(a.agent.Branch))
}
