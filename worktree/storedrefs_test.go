package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStoredRefsAreThoseOfGit compares what the files tell with `git for-each-ref`, in a ref store with everything in it.
func TestStoredRefsAreThoseOfGit(t *testing.T) {
	w := newWorld(t)
	first, second := w.base, w.commit("second")
	for i, ref := range []string{
		"refs/heads/paw", "refs/heads/pawn/a", "refs/tags/afk-s_a-1", "refs/tags/afk-s_a-10", "refs/tags/afk-s_ab-1", "refs/tags/deep/er/x",
		"refs/paw/s_a/turn/1", "refs/paw/s_a/turn/2", "refs/paw/s_a/owner", "refs/paw/s_ab/turn/1", "refs/heads/\u00fc/\u4e2d",
	} {
		w.git("update-ref", ref, []string{first, second}[i%2])
	}
	w.git("tag", "-a", "-m", "annotated", "afk-annotated")
	w.git("pack-refs", "--all")
	w.git("update-ref", "refs/paw/s_a/turn/2", second) // loose and packed
	w.git("update-ref", "refs/tags/afk-s_a-2", second)
	w.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	w.git("symbolic-ref", "refs/heads/nowhere", "refs/heads/none")
	for name, content := range map[string]string{
		"refs/tags/afk-s_a-3.lock": first, "refs/tags/afk-s_a-1": "", "refs/tags/a b": first, "refs/tags/.hidden": first, "refs/paw/s_a/turn/x..y": first,
	} {
		writeFile(t, filepath.Join(w.Dir, ".git", name), content+"\n")
	}
	if err := os.MkdirAll(filepath.Join(w.Dir, ".git/refs/paw/empty/turn"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{
		"refs/heads/", "refs/tags/", "refs/paw/", "refs/tags/afk-", "refs/tags/afk-s_a-", "refs/paw/s_a/", "refs/paw/s_a", "refs/paw/s_a/turn/1",
		"refs/heads/paw", "refs/heads/paw/none", "refs/none/", "refs/paw/empty/", "refs/tags/afk-s_a-1",
	} {
		want := map[string]string{}
		for line := range strings.Lines(w.git("for-each-ref", "--format=%(objectname) %(refname)") + "\n") {
			if oid, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(ref, prefix) {
				want[ref] = oid
			}
		}
		count := counting(t)
		got, err := w.m.Refs().List(t.Context(), prefix)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-git +paw)\n%s", prefix, diff)
		}
		if !strings.HasPrefix(prefix, "refs/none") {
			wantCount(t, prefix, count(), 0)
		}
	}
}

// TestMatchingRefsAreThoseOfGit compares the refs that match a pattern, and the tips of branches, with what git says of them.
func TestMatchingRefsAreThoseOfGit(t *testing.T) {
	w := newWorld(t)
	first, second := w.base, w.commit("second")
	refs := []string{
		"refs/paw/s_a/landed/1/after", "refs/paw/s_a/landed/1/before", "refs/paw/s_a/landed/2/after", "refs/paw/s_b/landed/1/after", "refs/paw/s_a/turn/1",
		"refs/paw/landed/1", "refs/paw/s_c/landed/deep/1/after", "refs/paw/s_c/x/landed/1/after", "refs/heads/packed", "refs/heads/both", "refs/heads/broken",
	}
	for i, ref := range refs {
		w.git("update-ref", ref, []string{first, second}[i%2])
	}
	w.git("pack-refs", "--all")
	for _, ref := range []string{"refs/paw/s_a/landed/1/after", "refs/paw/s_a/landed/3/state", "refs/paw/s_d/landed/1/after", "refs/heads/both", "refs/heads/loose/one"} {
		w.git("update-ref", ref, second)
	}
	w.git("symbolic-ref", "refs/heads/alias", "refs/heads/loose/one")
	w.git("symbolic-ref", "refs/heads/nowhere", "refs/heads/none")
	writeFile(t, filepath.Join(w.Dir, ".git/refs/heads/broken"), "\n")
	writeFile(t, filepath.Join(w.Dir, ".git/refs/paw/s_b/landed/1/after.lock"), first+"\n")
	count := counting(t)
	for _, pattern := range []string{"refs/paw/*/landed/*/*", "refs/paw/*/landed/*/after", "refs/heads/*"} {
		want := map[string]string{}
		for line := range strings.Lines(w.git("for-each-ref", "--format=%(objectname) %(refname)", pattern) + "\n") {
			if oid, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				want[ref] = oid
			}
		}
		count()
		got, err := w.m.Refs().Matching(t.Context(), pattern)
		if err != nil {
			t.Fatal(err)
		}
		wantCount(t, pattern, count(), 0)
		if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
			t.Errorf("%s: (-git +paw)\n%s", pattern, diff)
		}
	}
	for branch, want := range map[string]string{"packed": first, "both": second, "loose/one": second, "loose": "", "none": "", "nowhere": "", "broken": ""} {
		if tip, err := w.m.Refs().BranchTip(t.Context(), branch); tip != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", branch, tip, err, want)
		}
	}
	if _, err := w.m.Refs().BranchTip(t.Context(), "alias"); err == nil || err.Error() != "branch alias: only another name for loose/one" {
		t.Errorf("alias: %v", err)
	}
	wantCount(t, "tips of branches", count(), 0)
}

// TestStoredRefsWhileGitPacksThem looks for refs that are there all the time.
func TestStoredRefsWhileGitPacksThem(t *testing.T) {
	w := newWorld(t)
	const count = 20
	stop := packing(t, w)
	defer stop()
	for round := range 30 {
		for n := range count {
			w.git("update-ref", fmt.Sprintf("refs/paw/s_a/turn/%d", n), w.base)
			if n%5 != round%5 {
				continue
			}
			found, err := w.m.Refs().List(t.Context(), "refs/paw/s_a/")
			if err != nil || round > 0 && len(found) != count {
				t.Fatalf("%d refs, %v", len(found), err)
			}
		}
	}
}
