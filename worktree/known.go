package worktree

import (
	"slices"
	"strings"
	"sync"
)

// known remembers of objects, by their whole ids, what never changes, so that git is asked once in a command. Nil remembers nothing.
type known struct {
	mutex   sync.Mutex
	trees   map[string]string      // of commits
	changes map[[2]string][]change // between two trees, or commits of which the tree is not known
	before  map[[2]string]bool     // commits that came before another one
}

// Remembering is m for one command: what its copies find out about objects, they need not ask git for again.
func (m Manager) Remembering() Manager {
	m.known = &known{trees: map[string]string{}, changes: map[[2]string][]change{}, before: map[[2]string]bool{}}
	return m
}

// treeOf is the tree of a commit, "" where that is not known.
func (k *known) treeOf(commit string) string {
	if k == nil {
		return ""
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.trees[commit]
}

// isTreeOf notes the tree of a commit; tree may have git's suffix for the tree of something.
func (k *known) isTreeOf(commit, tree string) {
	bare := strings.TrimSuffix(tree, "^{tree}")
	if bare != tree && k.treeOf(bare) != "" {
		bare = k.treeOf(bare)
	} else if bare != tree {
		return
	}
	if k == nil || !isOID(commit) || !isOID(bare) {
		return
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.trees[commit] = bare
}

// changesBetween returns what differs between two commits or trees, or asks once.
func (k *known) changesBetween(from, to string, ask func() ([]change, error)) ([]change, error) {
	if k == nil || !isOID(from) || !isOID(to) {
		return ask()
	}
	pair := [2]string{from, to}
	for i, one := range pair {
		if tree := k.treeOf(one); tree != "" {
			pair[i] = tree
		}
	}
	k.mutex.Lock()
	all, found := k.changes[pair]
	k.mutex.Unlock()
	if found {
		return slices.Clone(all), nil
	}
	all, err := ask()
	if err == nil {
		k.mutex.Lock()
		k.changes[pair] = slices.Clone(all)
		k.mutex.Unlock()
	}
	return all, err
}

// isBefore reports whether a commit is known to come before another one.
func (k *known) isBefore(commit, tip string) bool {
	if k == nil {
		return false
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.before[[2]string{commit, tip}]
}

// cameBefore notes that a commit comes before another one.
func (k *known) cameBefore(commit, tip string) {
	if k == nil || !isOID(commit) || !isOID(tip) {
		return
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.before[[2]string{commit, tip}] = true
}
