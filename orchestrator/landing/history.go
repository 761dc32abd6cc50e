package landing

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"paw/orchestrator/errs"
	"paw/worktree"
)

// state is a state of an agent that is asked about.
type state struct {
	commit string
	at     *point // place of the state in the agent's life; nil for a commit that is known by its own history only
}

// history is the history of a branch and of agents' states in which each landing counts as a merge:
// what a landing made of a branch came from the state that landed, and each state of an agent came
// from the state before it. The common base of two nodes follows from the graph alone.
type history struct {
	from    graph             // ancestors of commits and states
	landed  graph             // states that landed, by the commit of the branch that brought them
	same    graph             // commits of a landing before somebody amended or rebased it, by the rewritten commit
	real    graph             // git's own ancestors within the region; longer paths to the root are one edge
	parents graph             // git's own parents
	tip     string            // tip of the branch
	inTip   map[string]bool   // the tip and its ancestors
	root    string            // common ancestor of tip and states; the graph has nothing older
	commits map[string]string // commits of nodes that are states
	agent   string            // turn session of the agent that is asked about
	gone    map[string]bool   // commits that the branch once had and lacks now, as after a reset
	left    map[string]bool   // gone, without commits that the agent made

	made  map[string]map[string]bool // commits that each agent made, by turn session; empty if gone is empty
	ever  map[string]map[string]bool // like made, with commits that the agent's branch has left; only for agents related to the one asked about
	whose map[string]string          // turn sessions of nodes that are states
}

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

// lookForEver fills in ever for the agents in kin.
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

// link adds that a node came from another one, unless the other came from it.
func (h *history) link(edges graph, node, from string) {
	if from != "" && node != from && !h.of(from)[node] {
		edges.link(node, from)
	}
}

// of returns all that nodes contain: their ancestors and, through landings, the states that landed.
// Commits that an agent had got from the branch, and that the branch has left, do not count as
// landed with the agent's state.
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

// common returns the newest nodes that both nodes contain, as git merge-base --all.
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

// nearest returns the first state of a line that a commit came from, "" for none. A commit that
// lacks something the state had from the branch did not come from that state: the agent's branch
// was reset. Commits that the agent made itself do not count, because it may have amended them.
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

// nodeOf returns the node of the state that landed.
func (h *history) nodeOf(a *asker, one *Stand) string {
	if node := h.nearest(a.led.lives.line(one.point()), one.State); node != "" {
		return node
	}
	return one.State
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

func (h *history) commitOf(node string) string {
	if commit := h.commits[node]; commit != "" {
		return commit
	}
	return node
}

// baseOf returns one commit that contains several nodes, "" for none. It merges them, as git does
// with several merge bases, and leaves out a later node that conflicts.
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

// baseBetween returns one commit with what two nodes have in common, "" for none. If the graph has
// nothing in common, git is asked.
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

// unrelated returns the error for a state without a common ancestor with the branch.
func (a *asker) unrelated() error {
	if a.session.Host != "" {
		return notAClone(a.name(), a.t)
	}
	return errs.New(errs.Refused, "%s: has no history in common with %s", a.name(), a.t.branch).Hint("git log %s", errs.Quote(a.agent.Branch))
}
