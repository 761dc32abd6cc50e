package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

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

// expectedTags reads turn tags from the full names in another way.
func expectedTags(refs []string) map[string][]int {
	want := map[string][]int{}
	for _, ref := range refs {
		parts := strings.Split(strings.TrimPrefix(ref, "refs/tags/"), "-")
		if len(parts) != 3 || parts[0] != "afk" || parts[1] == "" || strings.ContainsAny(parts[1], "./+") {
			continue
		}
		n, err := strconv.Atoi(parts[2])
		if err == nil && strconv.Itoa(n) == parts[2] {
			want[parts[1]] = append(want[parts[1]], n)
		}
	}
	for _, numbers := range want {
		slices.Sort(numbers)
	}
	return want
}

func wantTags(t *testing.T, w *world, what string) {
	t.Helper()
	got, ok, err := TurnTags(w.m.Repository.CommonDir)
	if err != nil || !ok {
		t.Fatalf("%s: %v, %v", what, ok, err)
	}
	if diff := cmp.Diff(expectedTags(w.tagNames()), got); diff != "" {
		t.Errorf("%s:\n%s", what, diff)
	}
}

func TestTurnTagsAreThoseOfForEachRef(t *testing.T) {
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

func TestTurnTagsWhilePacking(t *testing.T) {
	w := newWorld(t)
	stop := packing(t, w)
	defer stop()
	for n := range 150 {
		w.git("update-ref", fmt.Sprintf("refs/tags/afk-s_1-%d", n), w.base)
		got, _, err := TurnTags(w.m.Repository.CommonDir)
		if err != nil {
			t.Fatal(err)
		}
		if list := got["s_1"]; len(list) != n+1 || list[n] != n {
			t.Fatalf("after %d: %v", n, list)
		}
	}
}

func TestTurnTagsLeaveOtherRefStoresToGit(t *testing.T) {
	w := newWorld(t)
	config := filepath.Join(w.Dir, ".git/config")
	writeFile(t, config, readFile(t, config)+"[extensions]\n\trefStorage = reftable\n")
	if got, ok, err := TurnTags(w.m.Repository.CommonDir); got != nil || ok || err != nil {
		t.Errorf("got %v, %v, %v", got, ok, err)
	}
}
