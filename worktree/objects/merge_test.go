package objects

import (
	"slices"
	"strings"
	"testing"

	"paw/worktree/gittest"
)

// Where a renamed folder has no place to go to, git lists no file that conflicts.
func TestMergeNamesWhatConflictsWithoutAFile(t *testing.T) {
	for name, change := range map[string]struct {
		ours func(w *gittest.World)
		want string
	}{
		"the new folder has such a file": {func(w *gittest.World) { w.Git("mv", "d/1", "d/2", "e/") }, "d/3"},
		"into two folders": {func(w *gittest.World) {
			w.Write("e/x", "x")
			w.Write("f/x", "x")
			w.Git("mv", "d/1", "e/1")
			w.Git("mv", "d/2", "f/2")
		}, "d"},
	} {
		w := gittest.New(t)
		w.Write("d/1", "first file\nof the folder")
		w.Write("d/2", "second file\nwhich is another")
		w.Write("e/3", "in the way")
		base := w.Commit("base")
		change.ours(w)
		ours := w.Commit("ours")
		w.Git("reset", "-q", "--hard", base)
		w.Write("d/3", "theirs")
		merged, err := New(w.Repository).MergeTree(t.Context(), w.Dir, ours, w.Commit("theirs"))
		if err != nil || !slices.Contains(merged.Conflicts, change.want) {
			t.Errorf("%s: %+v, %v", name, merged, err)
		}
	}
}

// What git merge-tree prints is read whole, or refused.
func TestMergesIn(t *testing.T) {
	tree, pair := strings.Repeat("a", 40), [2]string{strings.Repeat("b", 40), strings.Repeat("c", 40)}
	clean, conflict := "1\x00"+tree+"\x00\x00", "0\x00"+tree+"\x00a.txt\x00\x00\x00"
	all, err := mergesIn(clean+conflict, [][2]string{pair, pair})
	if err != nil || len(all) != 2 || all[0].Tree != tree || len(all[0].Conflicts) != 0 || len(all[1].Conflicts) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	for _, out := range []string{
		"1\x00no tree\x00\x00", "1\x00" + tree + "\x00a.txt\x00\x00", "0\x00" + tree + "\x00\x00\x00", "1\x00" + tree + "\x00cut", "", clean + clean,
	} {
		if all, err := mergesIn(out, [][2]string{pair}); err == nil {
			t.Errorf("%q is read as %+v", out, all)
		}
	}
}
