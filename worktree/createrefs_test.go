package worktree

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/worktree/refs"
)

func newRefs(oid string, names ...string) (all []refs.Change) {
	for _, name := range names {
		all = append(all, refs.Change{Ref: name, To: oid, From: refs.None})
	}
	return all
}

func TestCreateRefsMakesAllOrNone(t *testing.T) {
	for _, shared := range []string{"false", "group"} {
		w := newWorld(t)
		w.git("config", "core.sharedRepository", shared)
		head := w.git("rev-parse", "HEAD")
		w.git("tag", "taken")
		there := func() map[string]string {
			t.Helper()
			all, err := w.m.Refs().List(t.Context(), "refs/paw/", "refs/tags/")
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		before := there()
		if err := w.m.Refs().Apply(t.Context(), newRefs(head, "refs/paw/one/owner", "refs/tags/taken", "refs/tags/third")); err == nil {
			t.Error("no error although a ref is taken")
		}
		if diff := cmp.Diff(before, there()); diff != "" {
			t.Errorf("left behind: %s", diff)
		}

		count := counting(t)
		more := map[string]string{"refs/paw/one/owner": head, "refs/tags/first": head}
		if err := w.m.Refs().Apply(t.Context(), newRefs(head, slices.Collect(maps.Keys(more))...)); err != nil {
			t.Fatal(err)
		}
		wantCount(t, "create two refs", count(), 1)
		want := maps.Clone(before)
		maps.Copy(want, more)
		if diff := cmp.Diff(want, there()); diff != "" {
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
