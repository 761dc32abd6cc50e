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
		if got, err := w.m.Contains(t.Context(), c.tip, c.commit); got != c.want || err != nil {
			t.Errorf("%s contains %s: %v, %v", c.tip, c.commit, got, err)
		}
	}
}
