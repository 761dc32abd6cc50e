package worktree

import (
	"strings"
	"testing"
)

func TestContains(t *testing.T) {
	w := newWorld(t)
	base := w.base
	next := w.commit("second")
	for _, c := range []struct {
		tip, commit string
		want        bool
	}{{next, base, true}, {next, next, true}, {base, next, false}, {next, strings.Repeat("1", 40), false}} {
		if got, err := w.m.Objects().Contains(t.Context(), c.tip, c.commit); got != c.want || err != nil {
			t.Errorf("%s contains %s: %v, %v", c.tip, c.commit, got, err)
		}
	}
}

func TestBranchesWithout(t *testing.T) {
	w := newWorld(t)
	w.git("branch", "behind")
	next := w.commit("second")
	w.git("branch", "level")
	got, err := w.m.Refs().BranchesWithout(t.Context(), next, []string{"behind", "level", "gone"})
	if err != nil || len(got) != 1 || got[0] != "behind" {
		t.Errorf("%q, %v", got, err)
	}
}
