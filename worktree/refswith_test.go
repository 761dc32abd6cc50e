package worktree

import (
	"slices"
	"testing"

	"paw/worktree/states"
)

func TestRefsWith(t *testing.T) {
	w := newTurns(t, "*.log\n")
	branch := "refs/heads/" + w.in("symbolic-ref", "--short", "HEAD")
	w.in("branch", "before")
	w.put("a.txt", "1\n", 0o644)
	w.in("add", "a.txt")
	w.in("commit", "-q", "-m", "one")
	tip := w.in("rev-parse", "HEAD")
	w.in("tag", "afk-s_a-1")
	w.in("update-ref", "refs/remotes/origin/x", tip)
	w.in("update-ref", "refs/paw/s_a/turn/1", tip)
	got, err := states.Containing(t.Context(), w.m.Objects(), tip, "refs/heads/", "refs/remotes/", "refs/tags/")
	if want := []string{branch, "refs/remotes/origin/x", "refs/tags/afk-s_a-1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
