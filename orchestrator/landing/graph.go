package landing

import (
	"maps"
	"slices"
)

// graph is a history: what each commit, and each state of an agent, came from. The keys are ids of commits and names of states.
type graph map[string][]string

// link adds that a node came from another one.
func (g graph) link(node, from string) {
	if !slices.Contains(g[node], from) {
		g[node] = append(slices.Clip(g[node]), from)
	}
}

// history returns some nodes and all that they came from.
func (g graph) history(of ...string) map[string]bool {
	seen := map[string]bool{}
	for todo := slices.Clone(of); len(todo) > 0; {
		node := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; !seen[node] {
			seen[node] = true
			todo = append(todo, g[node]...)
		}
	}
	return seen
}

// after returns a node and all that came from it.
func (g graph) after(node string) map[string]bool {
	next := graph{}
	for one, before := range g {
		for _, from := range before {
			next[from] = append(next[from], one)
		}
	}
	return next.history(node)
}

// common returns what two nodes both have in their histories, without what came before another one of it: git merge-base --all.
func (g graph) common(one, other string) []string {
	both, others := g.history(one), g.history(other)
	maps.DeleteFunc(both, func(node string, _ bool) bool { return !others[node] })
	return g.newest(both)
}

// newest returns those of a whole history that nothing else of it came from.
func (g graph) newest(history map[string]bool) []string {
	best := maps.Clone(history)
	for node := range history {
		for _, from := range g[node] {
			delete(best, from)
		}
	}
	return slices.Sorted(maps.Keys(best))
}
