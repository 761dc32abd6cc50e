package worktree

import (
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClaimRefs(t *testing.T) {
	for _, plain := range []bool{true, false} {
		w := newWorld(t)
		if !plain {
			w.git("config", "core.sharedRepository", "group")
		}
		head := w.git("rev-parse", "HEAD")
		w.git("tag", "taken")
		refs := func() map[string]string {
			t.Helper()
			all, err := w.m.Refs(t.Context(), "refs/paw/", "refs/tags/")
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		before := refs()
		err := w.m.ClaimRefs(t.Context(), NewRef{"refs/paw/one/owner", head}, NewRef{"refs/tags/taken", head}, NewRef{"refs/tags/third", head})
		if err == nil || plain && !errors.Is(err, ErrNotFirst) {
			t.Errorf("plain %v: a ref that is taken: %v", plain, err)
		}
		if diff := cmp.Diff(before, refs()); diff != "" {
			t.Errorf("plain %v: left behind: %s", plain, diff)
		}

		count := counting(t)
		if err := w.m.ClaimRefs(t.Context(), NewRef{"refs/paw/one/owner", head}, NewRef{"refs/tags/first", head}); err != nil {
			t.Fatal(err)
		}
		if ran := count(); plain && len(ran) > 0 || len(ran) > 1 {
			t.Errorf("plain %v: it ran %q", plain, ran)
		}
		want := maps.Clone(before)
		want["refs/paw/one/owner"], want["refs/tags/first"] = head, head
		if diff := cmp.Diff(want, refs()); diff != "" {
			t.Errorf("plain %v: %s", plain, diff)
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
		if got, err := w.m.Head(t.Context(), ""); err != nil || got != want {
			t.Errorf("%s: %q, %v", state, got, err)
		}
		if ran := count(); len(ran) > 0 {
			t.Errorf("%s: it ran %q", state, ran)
		}
	}
}
