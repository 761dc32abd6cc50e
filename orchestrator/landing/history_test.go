package landing

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCommonIsThatOfGit: on histories without landings, common is what the documentation of git merge-base says of --all: each common ancestor that
// is no ancestor of another one.
func TestCommonIsThatOfGit(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		h := &history{from: graph{}, landed: graph{}, same: graph{}}
		name := func(i int) string { return fmt.Sprintf("%02d", i) }
		for i := range 20 {
			for range r.IntN(3) {
				if i > 0 {
					h.from.link(name(i), name(r.IntN(i)))
				}
			}
		}
		one, other := name(r.IntN(20)), name(r.IntN(20))
		var want []string
		both := func(node string) bool { return h.from.history(one)[node] && h.from.history(other)[node] }
		for i := range 20 {
			best := both(name(i))
			for k := range 20 {
				best = best && (k == i || !both(name(k)) || !h.from.history(name(k))[name(i)])
			}
			if best {
				want = append(want, name(i))
			}
		}
		if got := h.common(one, other); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %s and %s have %v in common, want %v: %v", seed, one, other, got, want, h.from)
		}
	}
}

// TestWhatABranchHas: a landing counts as a merge of the state that landed.
func TestWhatABranchHas(t *testing.T) {
	links := func(pairs ...[2]string) graph {
		g := graph{}
		for _, p := range pairs {
			g.link(p[0], p[1])
		}
		return g
	}
	for name, c := range map[string]struct {
		from, landed, same graph
		left               []string
		want               []string
	}{
		"nothing landed": {
			from: links([2]string{"tip", "base"}, [2]string{"state", "base"}),
			want: []string{"base"},
		},
		"a squash": {
			from:   links([2]string{"tip", "base"}, [2]string{"turn 1", "base"}, [2]string{"state", "base"}),
			landed: links([2]string{"tip", "turn 1"}, [2]string{"state", "turn 1"}),
			want:   []string{"turn 1"},
		},
		"an older turn after a newer one": {
			from:   links([2]string{"tip", "base"}, [2]string{"turn 2", "base"}, [2]string{"turn 1", "base"}),
			landed: links([2]string{"tip", "turn 2"}, [2]string{"turn 2", "turn 1"}, [2]string{"state", "turn 1"}),
			want:   []string{"turn 1"},
		},
		"undone": { // what the landing made of the branch is nothing that the tip came from
			from:   links([2]string{"tip", "base"}, [2]string{"landing", "base"}, [2]string{"turn 1", "base"}, [2]string{"state", "base"}),
			landed: links([2]string{"landing", "turn 1"}, [2]string{"state", "turn 1"}),
			want:   []string{"base"},
		},
		"got what the branch has left, and landed": { // that did not land with it
			from:   links([2]string{"tip", "base"}, [2]string{"left", "base"}, [2]string{"turn 1", "left"}, [2]string{"state", "left"}),
			landed: links([2]string{"tip", "turn 1"}),
			left:   []string{"left"},
			want:   []string{"base"},
		},
		"amended": { // whoever got the landing before has what the tip has
			from:   links([2]string{"tip", "base"}, [2]string{"landing", "base"}, [2]string{"turn 1", "base"}, [2]string{"state", "landing"}),
			landed: links([2]string{"tip", "turn 1"}, [2]string{"landing", "turn 1"}),
			same:   links([2]string{"tip", "landing"}),
			left:   []string{"landing"},
			want:   []string{"landing"},
		},
	} {
		h := &history{from: c.from, landed: c.landed, same: c.same, gone: map[string]bool{}}
		for _, commit := range c.left {
			h.gone[commit] = true
		}
		for _, g := range []*graph{&h.from, &h.landed, &h.same} {
			if *g == nil {
				*g = graph{}
			}
		}
		if got := h.common("tip", "state"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v; the tip has %v", name, got, c.want, slices.Sorted(maps.Keys(h.of("tip"))))
		}
	}
}
