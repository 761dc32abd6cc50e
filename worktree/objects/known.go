package objects

import (
	"slices"
	"strings"
	"sync"

	"paw/worktree/gitdir"
)

// known caches unchanging facts about objects, by their full ids, so that one command asks git only
// once. A nil known caches nothing.
type known struct {
	mutex   sync.Mutex
	trees   map[string]string      // commit -> tree
	changes map[[2]string][]Change // changes between two trees, or between commits whose tree is unknown
	before  map[[2]string]bool     // pairs {ancestor, descendant}
}

// Remembering returns o with a cache of facts about objects, for one command.
func (o Store) Remembering() Store {
	o.known = &known{trees: map[string]string{}, changes: map[[2]string][]Change{}, before: map[[2]string]bool{}}
	return o
}

// RememberTree stores the tree of a commit.
func (o Store) RememberTree(commit, tree string) { o.known.isTreeOf(commit, tree) }

// KnowsBefore reports whether commit is known to be an ancestor of tip.
func (o Store) KnowsBefore(commit, tip string) bool { return o.known.isBefore(commit, tip) }

// treeOf returns the tree of a commit, "" if unknown.
func (k *known) treeOf(commit string) string {
	if k == nil {
		return ""
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.trees[commit]
}

// isTreeOf stores the tree of a commit; tree may have the suffix ^{tree}.
func (k *known) isTreeOf(commit, tree string) {
	bare := strings.TrimSuffix(tree, "^{tree}")
	if bare != tree && k.treeOf(bare) != "" {
		bare = k.treeOf(bare)
	} else if bare != tree {
		return
	}
	if k == nil || !gitdir.IsOID(commit) || !gitdir.IsOID(bare) {
		return
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.trees[commit] = bare
}

// changesBetween returns the changes between two commits or trees, calling ask at most once for
// each pair.
func (k *known) changesBetween(from, to string, ask func() ([]Change, error)) ([]Change, error) {
	if k == nil || !gitdir.IsOID(from) || !gitdir.IsOID(to) {
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

func (k *known) isBefore(commit, tip string) bool {
	if k == nil {
		return false
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.before[[2]string{commit, tip}]
}

func (k *known) cameBefore(commit, tip string) {
	if k == nil || !gitdir.IsOID(commit) || !gitdir.IsOID(tip) {
		return
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.before[[2]string{commit, tip}] = true
}
