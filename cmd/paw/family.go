package main

import (
	"strings"

	"paw/orchestrator/fleet"
)

// relative is an agent at its place in the family.
type relative struct {
	fleet.AgentStatus
	depth int // 0 for one that no agent of the session has started
}

// families puts children behind their parents, else in the order they came. An agent whose parent has left is one that
// nobody has started; ancestors of themselves, which no paw writes, come last.
func families(agents []fleet.AgentStatus) []relative {
	children, known := map[string][]fleet.AgentStatus{}, map[string]bool{}
	for _, a := range agents {
		known[a.Record.Agent] = true
	}
	for _, a := range agents {
		parent := a.Record.Parent
		if !known[parent] {
			parent = ""
		}
		children[parent] = append(children[parent], a)
	}
	var ordered []relative
	placed := map[string]bool{}
	var place func(a fleet.AgentStatus, depth int)
	place = func(a fleet.AgentStatus, depth int) {
		if placed[a.Record.Agent] {
			return
		}
		placed[a.Record.Agent] = true
		ordered = append(ordered, relative{a, depth})
		for _, child := range children[a.Record.Agent] {
			place(child, depth+1)
		}
	}
	for _, a := range children[""] {
		place(a, 0)
	}
	for _, a := range agents {
		place(a, 0)
	}
	return ordered
}

// label is the agent's name, behind a branch of the tree for a child.
func (r relative) label() string {
	if r.depth == 0 {
		return r.Record.Agent
	}
	return strings.Repeat("  ", r.depth-1) + "└ " + r.Record.Agent
}
