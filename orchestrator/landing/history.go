package landing

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"paw/orchestrator/errs"
	"paw/session/turn"
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

// region is the part of git's history that some commits came from, back to one that all of them came from.
type region struct {
	tips    []string
	root    string // "" where there is none
	parents map[string][]string
}

// lookAtRegion gathers what the branch and some commits came from.
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

// looked are the commits that a look at a state is about.
func (a *asker) looked(one state) []string {
	if a.handed == "" {
		return []string{one.commit}
	}
	return []string{one.commit, a.handed}
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

// cutOff returns the commits behind the root that states on the way to one came from by another way than through the root, and so what the agent made
// and what it got that the branch has left. What two of them have in common may be there.
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

// historyIn is the history of a region, as git has it but for updates: what an update brought is all that the agent had from the branch then.
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

// updates returns the commits by which paw update brought the branch into that of the agent.
func (a *asker) updates() (map[string]bool, error) {
	tips, err := a.m.Refs().PastTips(a.agent.Branch)
	made := map[string]bool{}
	for _, tip := range tips {
		made[tip.Commit] = made[tip.Commit] || strings.HasPrefix(tip.Why, updateLog)
	}
	return made, err
}

// kinOf returns the turn sessions of the agents whose states led to one, and of those that went on from them.
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

// commitsOf returns the commits of the states of some agents, as far as refs tell.
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
