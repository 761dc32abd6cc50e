package landing

import (
	"maps"
	"slices"
)

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
	return g.newest(both)
}

// newest returns the nodes of a whole history that no other node of it came from.
func (g graph) newest(history map[string]bool) []string {
	best := maps.Clone(history)
	for node := range history {
		for _, from := range g[node] {
			delete(best, from)
		}
	}
	return slices.Sorted(maps.Keys(best))
}
