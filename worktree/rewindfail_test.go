package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// failing makes the n-th git that this process starts end with an error before
// it does anything (after is false) or when it is done. restore ends this and
// reports whether there was an n-th one.
func failing(t *testing.T, n int, after bool) (restore func() bool) {
	t.Helper()
	count := filepath.Join(realTemp(t), "count")
	writeFile(t, count, "")
	what := "exit 1"
	if after {
		what = `"$real" "$@"; exit 1`
	}
	usual := shimmed(t, fmt.Sprintf(`echo >>'%s'; if [ $(wc -l <'%s') -eq %d ]; then %s; fi`, count, count, n, what))
	return func() bool {
		usual()
		return strings.Count(readFile(t, count), "\n") >= n
	}
}

// TestRewindThatFailsAnywhereLosesNothing lets each git process fail in turn,
// before and after its work: then either nothing has changed, or the rescue has
// it all, and the same rewind again ends as if nothing had happened.
func TestRewindThatFailsAnywhereLosesNothing(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			w := newTurns(t, "*.log\n")
			w.put("one", "1\n", 0o644)
			first := w.hashes()
			one := w.take()
			w.in("add", "-A")
			w.in("commit", "-qm", "second")
			w.put("one", "staged\n", 0o644)
			w.in("add", "one")
			w.put("one", "2\n", 0o755)
			w.put("a.txt", "2\n", 0o644)
			w.put("two", "2\n", 0o644)
			second, head := w.hashes(), w.in("rev-parse", "HEAD")

			restore := failing(t, n, after)
			_, err := w.m.Rewind(t.Context(), w.p.Path, one.Commit, "refs/paw/s_agent/rescue/1")
			failed := restore()
			if err == nil {
				w.wantFiles("rewind", first)
			}
			if !failed {
				t.Logf("%d git processes", n-1)
				break
			}
			what := fmt.Sprintf("failure %d, after %v (%v)", n, after, err)
			rescued := w.git("for-each-ref", "--format=%(objectname)", "refs/paw/s_agent/rescue")
			if diff := cmp.Diff(second, w.hashes()); diff != "" && rescued == "" {
				t.Errorf("%s: no rescue, and files have changed:\n%s", what, diff)
			}
			if left, _ := filepath.Glob(filepath.Join(w.in("rev-parse", "--absolute-git-dir"), scratchPrefix+"*")); len(left) > 0 {
				t.Errorf("%s: left %q", what, left)
			}
			w.rewind(one.Commit, "refs/paw/s_agent/rescue/2")
			w.wantFiles(what+", again", first)
			if rescued == "" {
				rescued = "refs/paw/s_agent/rescue/2"
			}
			if r := w.rewind(rescued, "refs/paw/s_agent/rescue/3"); r.Head != head {
				t.Errorf("%s: HEAD is %s", what, r.Head)
			}
			w.wantFiles(what+", undone", second)
		}
	}
}

// TestRewindSeesWhatChangedSinceTheRescue edits a file after it was saved, in the
// same second and without changing its size.
func TestRewindSeesWhatChangedSinceTheRescue(t *testing.T) {
	w := newTurns(t, "")
	ctx, admin := t.Context(), w.in("rev-parse", "--absolute-git-dir")
	for _, name := range []string{"a.txt", "untracked"} {
		w.put(name, "one\n", 0o644)
		one, err := w.m.goal(ctx, w.take().Commit)
		if err != nil {
			t.Fatal(err)
		}
		w.put(name, "two\n", 0o644)
		l, err := w.m.lookAt(ctx, w.p.Path, admin, realTemp(t))
		if err != nil {
			t.Fatal(err)
		}
		r := &rewind{m: w.m, look: l, admin: admin, to: one}
		if _, err := r.rescue(ctx); err != nil {
			t.Fatal(err)
		}
		writeFile(t, w.path(name), "new\n")
		if err := r.apply(ctx, Rescued{Head: one.head}); err == nil || readFile(t, w.path(name)) != "new\n" {
			t.Errorf("%s is %q, %v", name, readFile(t, w.path(name)), err)
		}
		os.Remove(w.path(name))
	}
}

// TestRewindSaysThatItIsHalfDone fails after the first files were written, as on a
// full disk.
func TestRewindSaysThatItIsHalfDone(t *testing.T) {
	w := newTurns(t, "")
	w.put("a.txt", "1\n", 0o644)
	first := w.take()
	w.put("a.txt", "2\n", 0o644)
	second := w.hashes()
	restore := shimmed(t, `case "$*" in *--dry-run*) ;; *read-tree*-u*) "$real" "$@"; echo "fatal: No space left on device" >&2; exit 128;; esac`)
	_, err := w.m.Rewind(t.Context(), w.p.Path, first.Commit, "refs/paw/s_agent/rescue/1")
	restore()
	var half *HalfRewoundError
	if !errors.As(err, &half) || half.Ref != "refs/paw/s_agent/rescue/1" || !strings.Contains(err.Error(), "half rewound") {
		t.Errorf("got %v", err)
	}
	w.rewind("refs/paw/s_agent/rescue/1", "refs/paw/s_agent/rescue/2")
	w.wantFiles("undone", second)
}
