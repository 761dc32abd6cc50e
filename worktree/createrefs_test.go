package worktree

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCreateRefsMakesAllOrNone(t *testing.T) {
	for _, shared := range []string{"false", "group"} {
		w := newWorld(t)
		w.git("config", "core.sharedRepository", shared)
		head := w.git("rev-parse", "HEAD")
		w.git("tag", "taken")
		refs := func() map[string]string {
			t.Helper()
			all, err := w.m.Refs().List(t.Context(), "refs/paw/", "refs/tags/")
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		before := refs()
		if err := w.m.Refs().CreateAll(t.Context(), map[string]string{"refs/paw/one/owner": head, "refs/tags/taken": head, "refs/tags/third": head}); err == nil {
			t.Error("no error although a ref is taken")
		}
		if diff := cmp.Diff(before, refs()); diff != "" {
			t.Errorf("left behind: %s", diff)
		}

		count := counting(t)
		more := map[string]string{"refs/paw/one/owner": head, "refs/tags/first": head}
		if err := w.m.Refs().CreateAll(t.Context(), more); err != nil {
			t.Fatal(err)
		}
		wantCount(t, "create two refs", count(), 1)
		want := maps.Clone(before)
		maps.Copy(want, more)
		if diff := cmp.Diff(want, refs()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestHeadIsReadFromFiles: where a user stands in a repository of his own no git is started.
func TestHeadIsReadFromFiles(t *testing.T) {
	w := newWorld(t)
	want := w.git("rev-parse", "HEAD")
	for _, state := range []string{"loose", "packed", "detached"} {
		switch state {
		case "packed":
			w.git("gc", "-q")
		case "detached":
			w.git("checkout", "-q", "--detach")
		}
		count := counting(t)
		if got, err := w.m.Refs().Head(t.Context(), ""); err != nil || got != want {
			t.Errorf("%s: %q, %v", state, got, err)
		}
		if ran := count(); len(ran) > 0 {
			t.Errorf("%s: it ran %q", state, ran)
		}
	}
}
