package main

import (
	"strings"

	"paw/orchestrator/observe"
)

// relative is an agent at its place in the family.
type relative struct {
	*observe.AgentStatus
	depth int // 0 for one that no agent of the session has started
}

// families puts children behind their parents, else in the order they came. An agent whose parent has left is one that
// nobody has started; ancestors of themselves, which no paw writes, come last.
func families(agents []observe.AgentStatus) []relative {
	children, known := map[string][]*observe.AgentStatus{}, map[string]bool{}
	for i := range agents {
		known[agents[i].Record.Name] = true
	}
	for i := range agents {
		a := &agents[i]
		parent := a.Record.Parent
		if !known[parent] {
			parent = ""
		}
		children[parent] = append(children[parent], a)
	}
	ordered := make([]relative, 0, len(agents))
	placed := map[string]bool{}
	var place func(a *observe.AgentStatus, depth int)
	place = func(a *observe.AgentStatus, depth int) {
		if placed[a.Record.Name] {
			return
		}
		placed[a.Record.Name] = true
		ordered = append(ordered, relative{a, depth})
		for _, child := range children[a.Record.Name] {
			place(child, depth+1)
		}
	}
	for _, a := range children[""] {
		place(a, 0)
	}
	for i := range agents {
		place(&agents[i], 0)
	}
	return ordered
}

// label is the agent's name, behind a branch of the tree for a child.
func (r relative) label() string {
	if r.depth == 0 {
		return r.Record.Name
	}
	return strings.Repeat("  ", r.depth-1) + "└ " + r.Record.Name
}
