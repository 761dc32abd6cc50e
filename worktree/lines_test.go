package worktree

import (
	"slices"
	"testing"

	"paw/worktree/objects"
)

func TestLines(t *testing.T) {
	w := newTurns(t, "*.log\n")
	base := w.in("rev-parse", "HEAD")
	w.put("old name", "1\n2\n3\n4\n5\n", 0o644)
	w.put("image", "\x00\n\x01\n", 0o644)
	w.put(" ", "a blank\n", 0o644)
	w.in("add", ".")
	w.in("commit", "-q", "-m", "new files")
	first := w.in("rev-parse", "HEAD")
	w.in("mv", "old name", "new name")
	w.in("rm", "-q", "image", ":(literal) ")
	w.in("commit", "-q", "-m", "renamed")
	second := w.in("rev-parse", "HEAD")
	got, err := w.m.Objects().Lines(t.Context(), [][2]string{{base, first}, {second, second}, {first, second}, {base, first + "^{tree}"}, {base, first}})
	six := objects.Lines{Added: 6}
	if want := []objects.Lines{six, {}, {Deleted: 1}, six, six}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}
