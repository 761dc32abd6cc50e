package records

import "slices"

// BranchNode is one record of a conversation that its CLI keeps as a tree: after a rewind the next record follows an
// older one.
type BranchNode struct {
	ID, Parent string
	Prompt     bool // the user wrote it; the first one has no parent
}

// LastBranch gives the records that lead to the one at index leaf, the first one first, as indexes into nodes, which are
// in the order of their file. Records need not stand behind their parents there. One whose parent is not known, such as
// one behind a torn line, follows the one before it.
//
// What hangs off the branch without a prompt belongs to it: results of tools that ran at the same time, or an answer that
// a crash cut off. A prompt begins what a rewind has taken back.
func LastBranch(nodes []BranchNode, leaf int) []int {
	parents := parentsOf(nodes)
	on := make([]bool, len(nodes))
	var path []int
	for i := leaf; i >= 0 && !on[i]; i = parents[i] {
		on[i] = true
		path = append(path, i)
	}
	children := make([][]int, len(nodes))
	for i, parent := range parents {
		if parent >= 0 && !on[i] && !nodes[i].Prompt {
			children[parent] = append(children[parent], i)
		}
	}
	var order []int
	for _, i := range slices.Backward(path) {
		// Depth first, children in their order.
		for stack := []int{i}; len(stack) > 0; {
			next := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			order = append(order, next)
			for _, child := range slices.Backward(children[next]) {
				stack = append(stack, child)
			}
			children[next] = nil
		}
	}
	return order
}

// parentsOf gives the index of each record's parent, -1 for none.
func parentsOf(nodes []BranchNode) []int {
	at := map[string]int{}
	for i, n := range nodes {
		at[n.ID] = i
	}
	parents := make([]int, len(nodes))
	for i, n := range nodes {
		parent, known := at[n.Parent]
		switch {
		case n.Parent == "" && n.Prompt:
			parents[i] = -1
		case known:
			parents[i] = parent
		default:
			parents[i] = i - 1
		}
	}
	return parents
}
