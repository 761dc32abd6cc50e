package worktree

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"paw/worktree/snapshot"

	"github.com/google/go-cmp/cmp"
)

// objectFiles are the names of the files of the object store. Git gives a new time to an object that is to be made and is there.
func (w *turns) objectFiles() []string {
	w.t.Helper()
	return slices.Sorted(maps.Keys(tree(w.t, filepath.Join(w.m.Repository.CommonDir, "objects"))))
}

// TestReadersLeaveNoObjects takes snapshots for readers, of all that git makes objects for, and lets a writer and a collection
// of garbage come in between: what a reader has seen is nowhere, and nobody relies on it.
func TestReadersLeaveNoObjects(t *testing.T) {
	for name, change := range map[string]func(w *turns){
		"a new file":           func(w *turns) { writeFile(t, w.path("new"), "new\n") },
		"a changed file":       func(w *turns) { writeFile(t, w.path("a.txt"), "changed\n") },
		"a staged file":        func(w *turns) { writeFile(t, w.path("staged"), "staged\n"); w.in("add", "staged") },
		"a staged deletion":    func(w *turns) { w.in("rm", "-q", "--cached", "a.txt") },
		"as many as in a pack": func(w *turns) { fillTree(t, w.path("many"), 600) },
		"what a writer has kept, and more": func(w *turns) {
			writeFile(t, w.path("one"), "one\n")
			w.look()
			writeFile(t, w.path("two"), "two\n")
		},
		"what a writer has kept": func(w *turns) { writeFile(t, w.path("one"), "one\n"); w.look() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newTurns(t, "")
			w.t = t
			w.ageSettings()
			change(w)
			before := w.objectFiles()
			reader, drop, err := w.m.WithScratch()
			if err != nil {
				t.Fatal(err)
			}
			seen, err := reader.Snapshots().TakeWithin(t.Context(), w.p.Path, "", "m", w.scratch, snapshot.Budget{})
			if err != nil {
				t.Fatal(err)
			}
			seenTree, err := reader.Objects().TreeOf(t.Context(), seen.Commit)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, w.objectFiles()); diff != "" {
				t.Errorf("the object store has changed: %s", diff)
			}
			if ref := "refs/paw/x/1"; seen.Commit != w.in("rev-parse", "HEAD") && !w.m.Objects().Has(t.Context(), seen.Commit) {
				if err := reader.Refs().Set(t.Context(), ref, seen.Commit); err == nil {
					t.Errorf("%s leads to what is about to go", ref)
				}
			}
			drop()

			kept := w.take()
			if got := w.git("rev-parse", kept.Commit+"^{tree}"); got != seenTree {
				t.Errorf("the reader saw the tree %s, the writer %s", seenTree, got)
			}
			w.git("fsck", "--strict")
		})
	}
}
