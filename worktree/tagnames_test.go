package worktree

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paw/worktree/gitdir"

	"github.com/google/go-cmp/cmp"
)

// oddTags are names that are nearly turn tags, and turn sessions whose names
// begin alike.
var oddTags = []string{
	"afk-s-0", "afk-s-1", "afk-s-2", "afk-s-9", "afk-s-10", "afk-s_1-2", "afk-s_1-0", "afk-S-3", "afk-_-1",
	"afk-s-1-2", "afk-s-01", "afk-s-00", "afk-s-+1", "afk--1", "afk-s-", "afk-s", "afk-", "afk-s-1a", "afk-s.x-1", "xafk-s-1",
	"afk-s-11/x", "deep/afk-s-12", "v1.0", "afk-s-99999999999999999999",
}

func (w *world) tagNames() []string {
	return strings.Fields(w.git("for-each-ref", "--format=%(refname)", "refs/tags"))
}

// expectedTags picks the tags out of full names in another way.
func expectedTags(refs []string) []string {
	var want []string
	for _, ref := range refs {
		if name := strings.TrimPrefix(ref, "refs/tags/"); strings.HasPrefix(name, "afk-") && !strings.Contains(name, "/") {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	return want
}

func wantTags(t *testing.T, w *world, what string) {
	t.Helper()
	found, err := w.m.Refs().List(t.Context(), "refs/tags/afk-")
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if diff := cmp.Diff(expectedTags(w.tagNames()), expectedTags(slices.Collect(maps.Keys(found)))); diff != "" {
		t.Errorf("%s:\n%s", what, diff)
	}
}

func TestTagNamesAreThoseOfForEachRef(t *testing.T) {
	w := newWorld(t)
	wantTags(t, w, "none")
	for _, name := range oddTags {
		w.git("update-ref", "refs/tags/"+name, w.base)
	}
	w.git("tag", "-f", "-a", "-m", "annotated", "afk-s-7")
	wantTags(t, w, "loose")
	w.git("pack-refs", "--all", "--prune")
	wantTags(t, w, "packed")
	w.git("tag", "afk-s-20")
	w.git("tag", "afk-new-0")
	w.git("tag", "-f", "afk-s-1", w.commit("second"))
	wantTags(t, w, "mixed")
	w.git("tag", "-d", "afk-s-20", "afk-s-10")
	wantTags(t, w, "some deleted")
	if err := os.RemoveAll(filepath.Join(w.Dir, ".git/refs/tags")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(w.Dir, ".git/refs/tags/afk-s-33"), 0o755); err != nil {
		t.Fatal(err)
	}
	wantTags(t, w, "empty folder of a ref that is gone")
}

func TestTagNamesWhilePacking(t *testing.T) {
	w := newWorld(t)
	stop := packing(t, w)
	defer stop()
	for n := range 150 {
		w.git("update-ref", fmt.Sprintf("refs/tags/afk-s_1-%d", n), w.base)
		got, err := w.m.Refs().List(t.Context(), "refs/tags/afk-")
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != n+1 || got[fmt.Sprintf("refs/tags/afk-s_1-%d", n)] != w.base {
			t.Fatalf("after %d: %v", n, got)
		}
	}
}

func TestTagNamesLeaveOtherRefStoresToGit(t *testing.T) {
	w := newWorld(t)
	config := filepath.Join(w.Dir, ".git/config")
	writeFile(t, config, readFile(t, config)+"[extensions]\n\trefStorage = reftable\n")
	if got, ok, err := gitdir.ListRefs(w.m.Repository.CommonDir, []string{"refs/tags/afk-"}, false); got != nil || ok || err != nil {
		t.Errorf("got %v, %v, %v", got, ok, err)
	}
}
