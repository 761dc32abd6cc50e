package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"paw/worktree/gitdir"
	"paw/worktree/journal"
	"paw/worktree/snapshot"

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
	usual := shimmed(t, fmt.Sprintf(`printf x >>'%s'; read -r ran <'%s'; if [ ${#ran} -eq %d ]; then %s; fi`, count, count, n, what))
	return func() bool {
		usual()
		return len(readFile(t, count)) >= n
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
			_, err := w.m.Moves().Rewind(t.Context(), w.p.Path, one.Commit, RewindOptions{Rescue: "refs/paw/s_agent/rescue/1"})
			failed := restore()
			if err == nil {
				w.wantFiles("rewind", first)
			}
			if !failed {
				t.Logf("%d git processes", n-1)
				break
			}
			what := fmt.Sprintf("failure %d, after %v (%v)", n, after, err)
			rescued := w.git("for-each-ref", "--format=%(objectname)", "refs/paw/s_agent/rescue/1")
			if diff := cmp.Diff(second, w.hashes()); diff != "" && rescued == "" {
				t.Errorf("%s: no rescue, and files have changed:\n%s", what, diff)
			}
			if left, _ := filepath.Glob(filepath.Join(w.in("rev-parse", "--absolute-git-dir"), snapshot.ScratchPrefix+"*")); len(left) > 0 {
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
		one, err := w.m.Objects().State(ctx, w.take().Commit)
		if err != nil {
			t.Fatal(err)
		}
		w.put(name, "two\n", 0o644)
		l, err := w.m.Snapshots().LookAt(ctx, w.p.Path, admin, realTemp(t))
		if err != nil {
			t.Fatal(err)
		}
		at, err := w.m.Moves().lockPlace(ctx, gitdir.Checkout{Path: w.p.Path, AdminDir: admin})
		if err != nil {
			t.Fatal(err)
		}
		r := &rewind{m: w.m.Moves(), Look: l, at: at, to: one}
		if err := r.readNow(ctx); err != nil {
			t.Fatal(err)
		}
		writeFile(t, w.path(name), "new\n")
		if err := r.apply(ctx, Rescued{Head: one.Head}, nil); err == nil || readFile(t, w.path(name)) != "new\n" {
			t.Errorf("%s is %q, %v", name, readFile(t, w.path(name)), err)
		}
		at.release()
		os.Remove(w.path(name))
	}
}

// TestRewindThatFailsInTheMiddleIsTakenBack fails after the first files were written, as on a full disk: all is as before. When
// that fails as well, the rewind says so, nothing takes the worktree as it is, and it is ended when the cause is gone: as before.
func TestRewindThatFailsInTheMiddleIsTakenBack(t *testing.T) {
	for _, again := range []bool{false, true} {
		w := newTurns(t, "")
		w.put("a.txt", "1\n", 0o644)
		first := w.take()
		w.put("a.txt", "2\n", 0o644)
		second := w.hashes()
		once := `test -e '` + filepath.Join(realTemp(t), "failed") + `'`
		if again {
			once = "false"
		}
		script := `case "$*" in *--dry-run*) ;; *read-tree*-u*) if ! ` + once + `; then "$real" "$@"; ` + strings.Replace(once, "test -e", ": >", 1) +
			`; echo "fatal: No space left on device" >&2; exit 128; fi;; esac`
		restore := shimmed(t, script)
		_, err := w.m.Moves().Rewind(t.Context(), w.p.Path, first.Commit, RewindOptions{Rescue: "refs/paw/s_agent/rescue/1", Command: "paw rewind"})
		restore()
		var half *HalfMovedError
		if errors.As(err, &half) != again || !strings.Contains(err.Error(), "No space left") {
			t.Errorf("got %v", err)
		}
		if !again {
			w.wantFiles("taken back", second)
			continue
		}
		if half.Rescue != "refs/paw/s_agent/rescue/1" {
			t.Errorf("it is kept in %q", half.Rescue)
		}
		var open *journal.MoveError
		if _, err := w.m.Snapshots().Take(t.Context(), w.p.Path, "", "now"); !errors.As(err, &open) || open.Command != "paw rewind" || open.Live {
			t.Errorf("a snapshot of it: %v", err)
		}
		if _, err := w.m.Moves().Rewind(t.Context(), w.p.Path, first.Commit, RewindOptions{Rescue: "refs/paw/s_agent/rescue/2"}); !errors.As(err, &open) {
			t.Errorf("a rewind of it: %v", err)
		}
		at := gitdir.Checkout{Path: w.p.Path, AdminDir: w.in("rev-parse", "--absolute-git-dir")}
		if ended, err := w.m.Moves().EndMove(t.Context(), at); err != nil || ended == nil || ended.Moved || ended.Kept != "" {
			t.Errorf("it ended as %+v, %v", ended, err)
		}
		w.wantFiles("ended", second)
	}
}

// TestMoveThatCannotDeleteIsTakenBack has git warn of a file that it cannot delete, such as in a folder that is read only, and
// end well: the file is there, so nothing has moved.
func TestMoveThatCannotDeleteIsTakenBack(t *testing.T) {
	w := newTurns(t, "")
	w.put("d/a.txt", "1\n", 0o644)
	first := w.take()
	w.put("d/b.txt", "2\n", 0o644)
	second := w.hashes()
	restore := shimmed(t, `case "$*" in *--dry-run*) ;; *read-tree*-u*) cp d/b.txt b; "$real" "$@"; code=$?; mv b d/b.txt
		echo "warning: unable to unlink 'd/b.txt': Operation not permitted" >&2; exit $code;; esac`)
	_, err := w.m.Moves().Rewind(t.Context(), w.p.Path, first.Commit, RewindOptions{Rescue: "refs/paw/s_agent/rescue/1", Command: "paw rewind"})
	restore()
	if err == nil || !strings.Contains(err.Error(), "unable to unlink 'd/b.txt'") {
		t.Errorf("got %v", err)
	}
	w.wantFiles("taken back", second)
	if err := w.m.Journals().Settled(t.Context(), w.p.Path); err != nil {
		t.Error(err)
	}
}

// TestRewindEndsWhereAFilterRefusesBothSides moves between two states of which a filter that is required can write neither: it is taken
// back all the same, and what git could not convert is there as it is kept. One that was killed goes on when the filter does.
func TestRewindEndsWhereAFilterRefusesBothSides(t *testing.T) {
	for _, killed := range []bool{false, true} {
		w := newTurns(t, "")
		w.put(".gitattributes", "*.f filter=f\n", 0o644)
		w.git("config", "filter.f.smudge", "cat")
		w.git("config", "filter.f.clean", "cat")
		w.git("config", "filter.f.required", "true")
		w.put("a.f", "good\n", 0o644)
		w.put("z.f", "bad\n", 0o644)
		one, want := w.take(), w.hashes()
		w.put("a.f", "bad\n", 0o644)
		w.put("z.f", "good\n", 0o644)
		if !killed { // HEAD is the same on both sides: what was killed is ended forward
			want = w.hashes()
		}
		refuse := func() {
			w.git("config", "filter.f.smudge", `sh -c 'read -r line; test "$line" != bad && echo "$line"'`)
		}
		if killed {
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = w.m.Moves().Rewind(t.Context(), w.p.Path, one.Commit, RewindOptions{Rescue: "refs/paw/s_agent/rescue/1", Step: func(string) {
					refuse() // else nothing begins
					os.Remove(w.path("a.f"))
					os.Remove(w.path("z.f"))
					runtime.Goexit()
				}})
			}()
			<-done
			if _, err := w.m.Moves().EndMoveIn(t.Context(), w.p.Path); err == nil || !strings.Contains(err.Error(), "smudge filter f failed") {
				t.Errorf("got %v", err)
			}
			w.git("config", "filter.f.required", "false") // only the user can want what git keeps in place of the file
			if ended, err := w.m.Moves().EndMoveIn(t.Context(), w.p.Path); ended == nil || err != nil {
				t.Errorf("ended is %v, %v", ended, err)
			}
		} else if _, err := w.m.Moves().Rewind(t.Context(), w.p.Path, one.Commit, RewindOptions{Rescue: "refs/paw/s_agent/rescue/1", Step: func(string) { refuse() }}); err == nil || !strings.Contains(err.Error(), "smudge filter f failed") || errors.As(err, new(*HalfMovedError)) {
			t.Errorf("got %v", err)
		}
		w.wantFiles("ended", want)
		w.git("config", "filter.f.required", "false")
		w.rewind(one.Commit, "refs/paw/s_agent/rescue/2")
	}
}

// TestFilterIsTriedWhereverItsAttributesAre has a filter that refuses, by attributes in a file that a setting names: nothing is begun.
func TestFilterIsTriedWhereverItsAttributesAre(t *testing.T) {
	for _, of := range []string{"repository", "another file", "user"} {
		w := newTurns(t, "")
		file, config := filepath.Join(realTemp(t), "attributes"), filepath.Join(realTemp(t), "config")
		w.git("config", "filter.f.clean", "cat")
		w.git("config", "filter.f.required", "true")
		w.put("a.f", "1\n", 0o644)
		one := w.take()
		w.put("a.f", "2\n", 0o644)
		writeFile(t, file, "*.f filter=f\n")
		switch writeFile(t, config, "[core]\n\tattributesFile = "+file+"\n"); of {
		case "repository":
			w.git("config", "core.attributesFile", file)
		case "another file":
			w.git("config", "include.path", config)
		case "user":
			t.Setenv("GIT_CONFIG_GLOBAL", config)
		}
		w.git("config", "filter.f.smudge", "false")
		_, err := w.m.Moves().Rewind(t.Context(), w.p.Path, one.Commit, RewindOptions{Rescue: "refs/paw/s_agent/rescue/1", Step: func(name string) {
			t.Errorf("%s: it came to %s", of, name)
		}})
		if err == nil || !strings.Contains(err.Error(), "smudge filter f failed") {
			t.Errorf("%s: got %v", of, err)
		}
	}
}
