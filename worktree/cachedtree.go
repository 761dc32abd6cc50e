package worktree

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// cachedTree is what an index knows of the tree object of one directory; with it
// git need not hash the directories in which nothing has changed.
type cachedTree struct {
	name  string
	count int // entries below; -1 when the tree is not known
	id    []byte
	below []*cachedTree
}

// parseCachedTrees reads the TREE extension of gitformat-index(5); it is nil for
// one that is not understood, which costs time only.
func parseCachedTrees(data []byte, idSize int) *cachedTree {
	if len(data) == 0 {
		return nil
	}
	t, rest, ok := parseCachedTree(data, idSize)
	if !ok || len(rest) != 0 {
		return nil
	}
	return t
}

func parseCachedTree(data []byte, idSize int) (*cachedTree, []byte, bool) {
	name, data, named := bytes.Cut(data, []byte{0})
	line, data, ended := bytes.Cut(data, []byte("\n"))
	entries, trees, counted := strings.Cut(string(line), " ")
	if !named || !ended || !counted {
		return nil, nil, false
	}
	count, err := strconv.Atoi(entries)
	below, err2 := strconv.Atoi(trees)
	if err != nil || err2 != nil || below < 0 {
		return nil, nil, false
	}
	t := &cachedTree{name: string(name), count: count}
	if count >= 0 {
		if len(data) < idSize {
			return nil, nil, false
		}
		t.id, data = data[:idSize], data[idSize:]
	}
	for range below {
		child, rest, ok := parseCachedTree(data, idSize)
		if !ok {
			return nil, nil, false
		}
		t.below, data = append(t.below, child), rest
	}
	return t, data, true
}

func (t *cachedTree) encode(out []byte) []byte {
	out = append(out, t.name...)
	out = fmt.Appendf(out, "\x00%d %d\n", t.count, len(t.below))
	if t.count >= 0 {
		out = append(out, t.id...)
	}
	for _, child := range t.below {
		out = child.encode(out)
	}
	return out
}

// forget marks the directories above path as changed.
func (t *cachedTree) forget(path string) {
	for t != nil {
		t.count, t.id = -1, nil
		dir, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			return
		}
		t, path = t.child(dir), rest
	}
}

func (t *cachedTree) child(name string) *cachedTree {
	for _, c := range t.below {
		if c.name == name {
			return c
		}
	}
	return nil
}

// treesFor adapts what the index x knows of its trees to these entries.
func (x index) treesFor(entries []entry) *cachedTree {
	if x.trees == nil {
		return nil
	}
	i, k := 0, 0
	for i < len(x.entries) || k < len(entries) {
		switch {
		case k == len(entries) || i < len(x.entries) && byPath(x.entries[i], entries[k]) < 0:
			x.trees.forget(x.entries[i].name)
			i++
		case i == len(x.entries) || byPath(x.entries[i], entries[k]) > 0:
			x.trees.forget(entries[k].name)
			k++
		default:
			if !x.entries[i].same(entries[k]) {
				x.trees.forget(entries[k].name)
			}
			i, k = i+1, k+1
		}
	}
	return x.trees
}
