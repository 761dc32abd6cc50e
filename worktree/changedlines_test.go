package worktree

import (
	"slices"
	"testing"
)

func TestChangedLines(t *testing.T) {
	w := newTurns(t, "*.log\n")
	base := w.in("rev-parse", "HEAD")
	w.put("lines.txt", "1\n2\n3\n", 0o644)
	w.in("add", "lines.txt")
	w.in("commit", "-q", "-m", "three lines")
	w.put("lines.txt", "1\nzwei\n3\n4\n", 0o644)
	w.put("new.txt", "not counted\n", 0o644)
	for from, want := range map[string]Lines{base: {4, 0}, w.in("rev-parse", "HEAD"): {2, 1}} {
		if got, err := w.m.ChangedLines(t.Context(), w.p.Path, from); err != nil || got != want {
			t.Errorf("since %s: %+v, %v, want %+v", from, got, err, want)
		}
	}
	if _, err := w.m.ChangedLines(t.Context(), w.p.Path, "nosuch"); err == nil {
		t.Error("no error for a commit that does not exist")
	}
}

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
	got, err := w.m.Refs().Containing(t.Context(), tip)
	if want := []string{branch, "refs/remotes/origin/x", "refs/tags/afk-s_a-1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
