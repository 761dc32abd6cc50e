package landing

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"paw/orchestrator/errs"
	"paw/worktree/objects"
)

// history is the history of a branch and of agents' states in which each landing counts as a merge:
// what a landing made of a branch came from the state that landed, and each state of an agent came
// from the state before it. The common base of two nodes follows from the graph alone.
type history struct {
	root    string            // common ancestor of all that is asked about, behind which nothing is known; "" for none
	parents graph             // git's own parents
	states  map[point]string  // commits of states of agents
	from    graph             // ancestors of commits and states
	landed  graph             // states that landed, by the commit of the branch that brought them
	same    graph             // commits of a landing before somebody amended or rebased it, by the rewritten commit
	real    graph             // git's own ancestors within the region; longer paths to the root are one edge
	tip     string            // tip of the branch
	inTip   map[string]bool   // the tip and its ancestors
	commits map[string]string // commits of nodes that are states
	agent   string            // turn session of the agent that is asked about
	gone    map[string]bool   // commits that the branch once had and lacks now, as after a reset
	left    map[string]bool   // gone, without commits that the agent made

	made  map[string]map[string]bool // commits that each agent made, by turn session; empty if gone is empty
	ever  map[string]map[string]bool // commits that each agent itself made, also those that its branch has left; if gone is empty, only for agents related to the one asked about
	whose map[string]string          // turn sessions of nodes that are states
}

// link adds that a node came from another one, unless the other came from it.
func (h *history) link(edges graph, node, from string) {
	if from != "" && node != from && !h.of(from)[node] {
		edges.link(node, from)
	}
}

// of returns all that nodes contain: their ancestors and, through landings, the states that landed.
// Commits that an agent had got from the branch, before the branch was moved back behind them, do
// not count as landed with the agent's state.
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

func (h *history) commitOf(node string) string {
	if commit := h.commits[node]; commit != "" {
		return commit
	}
	return node
}

// all returns nodes with all their ancestors, also through landings.
func (h *history) all(nodes ...string) map[string]bool {
	has := map[string]bool{}
	for todo := slices.Clone(nodes); len(todo) > 0; {
		node := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; !has[node] {
			has[node] = true
			todo = append(append(todo, h.from[node]...), h.landed[node]...)
		}
	}
	return has
}

// newest returns the nodes of some that no other node of some came from.
func (h *history) newest(some map[string]bool) (best []string) {
	rest := maps.Clone(some)
	for _, node := range slices.Sorted(maps.Keys(some)) {
		if !rest[node] {
			continue
		}
		for before := range h.all(node) {
			if before != node {
				delete(rest, before)
			}
		}
	}
	return slices.Sorted(maps.Keys(rest))
}

// lacking returns the agent's newest work that is in nodes and not in tip.
func (h *history) lacking(tip string, nodes []string, line []point) []string {
	had, all := h.of(tip), h.all(nodes...)
	lacks := map[string]bool{}
	for _, p := range line {
		if node := p.String(); h.commits[node] != "" && all[node] && !had[node] {
			lacks[node] = true
		}
	}
	for one := range h.made[h.agent] {
		if all[one] && !had[one] {
			lacks[one] = true
		}
	}
	return h.newest(lacks)
}

// graph is a history: for each node the nodes it came from. Nodes are ids of commits and names of
// agents' states.
type graph map[string][]string

// link adds that a node came from another one.
func (g graph) link(node, from string) {
	if !slices.Contains(g[node], from) {
		g[node] = append(slices.Clip(g[node]), from)
	}
}

// history returns nodes with all their ancestors.
func (g graph) history(of ...string) map[string]bool {
	return objects.Ancestors(g, of...)
}

// after returns a node with all its descendants.
func (g graph) after(node string) map[string]bool {
	next := graph{}
	for one, before := range g {
		for _, from := range before {
			next[from] = append(next[from], one)
		}
	}
	return next.history(node)
}

// common returns the newest nodes in both histories, as git merge-base --all.
func (g graph) common(one, other string) []string {
	both, others := g.history(one), g.history(other)
	maps.DeleteFunc(both, func(node string, _ bool) bool { return !others[node] })
	return objects.Newest(g, both)
}

// asker finds what a branch and an agent's states have in common.
type asker struct {
	work
	led *ledger

	again  bool // lost work lands, too
	line   []point
	handed string // commit of the uncommitted changes the agent began with that the branch has by now; "" for none
}

// newAsker returns an asker for a branch whose landings are known.
func newAsker(w work, led *ledger, again bool) *asker {
	return &asker{work: w, led: led, again: again, line: led.lives.line(led.lives[w.Record.TurnSession].now)}
}

// mine reports whether a landing is by the agent, or by an agent whose work it goes on with.
func (a *asker) mine(one *Stand) bool {
	return one.TurnSession == a.Record.TurnSession || slices.Contains(a.line, one.point())
}

// point returns the point at the end of a turn, or for 0 the point that the present state came
// from.
func (a *asker) point(turn int) point {
	if turn > 0 {
		return point{turnSession: a.Record.TurnSession, turn: turn}
	}
	return a.led.lives[a.Record.TurnSession].now
}

// lineOf returns the turns whose work a state of an agent contains.
func (a *asker) lineOf(one state) []point {
	if one.at == nil {
		return nil
	}
	return a.led.lives.line(*one.at)
}

// at returns a state at the end of a turn, or for 0 the present one.
func (a *asker) at(commit string, turn int) state {
	p := a.point(turn)
	return state{commit: commit, at: &p}
}

// hasLanded reports whether git's own history is not enough: something has landed, or was handed
// over, or the branch has left commits.
func (a *asker) hasLanded() bool { return len(a.led.all)+len(a.led.past) > 0 || a.handed != "" }

// state is a state of an agent that is asked about.
type state struct {
	commit string
	head   string // the only parent of the commit, or the commit itself; "" if unknown
	at     *point // place of the state in the agent's life; nil for a commit that is known by its own history only
}

// unrelated returns the error for a state without a common ancestor with the branch.
func (a *asker) unrelated() error {
	if a.Session.Host != "" {
		return notAClone(a.name(), a.led.branch)
	}
	return errs.New(errs.Refused, "%s: has no history in common with %s", a.name(), a.led.branch).Hint("git log %s", errs.Quote(a.Record.Branch))
}

// notAClone returns the error for work of another machine without a common commit with the branch.
func notAClone(name, branch string) error {
	host, _, _ := strings.Cut(name, ":")
	return errs.New(errs.Refused, "%s: no common commit with %s: is it a clone of this repository?", name, branch).Hint("paw host doctor %s", host)
}
