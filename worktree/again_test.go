package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"paw/config/disk"
	"paw/worktree/journal"
	"paw/worktree/refs"
)

// cut rewinds a worktree as a paw that dies after a step.
func (w *turns) cut(at, target, rescue string) {
	w.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := w.m.Moves().Rewind(w.t.Context(), w.p.Path, target, RewindOptions{Rescue: rescue, Command: "paw rewind", Step: func(name string) {
			if name == at {
				runtime.Goexit()
			}
		}})
		w.t.Errorf("not killed at %s: %v", at, err)
	}()
	<-done
}

// ended ends what was cut.
func (w *turns) ended() *Ended {
	w.t.Helper()
	ended, err := w.m.Moves().EndMoveIn(w.t.Context(), w.p.Path)
	if err != nil {
		w.t.Fatal(err)
	}
	return ended
}

// TestWhatCameSinceACutRewindIsKept: what somebody has written, staged or committed since, and what a git has half written, is kept
// under a ref that is named; ignored files stay, and those in the way of the goal are kept, too.
func TestWhatCameSinceACutRewindIsKept(t *testing.T) {
	for _, at := range []string{StepLocked, StepFiles, StepIndex} {
		w := newTurns(t, "*.log\n")
		w.put("a.txt", "1\n", 0o644)
		w.put("deep/one", "1\n", 0o644)
		w.put("forced.log", "1\n", 0o644)
		w.in("add", "--force", "forced.log")
		one, first := w.take(), w.hashes()
		w.in("rm", "-q", "--cached", "forced.log")
		os.Remove(w.path("forced.log"))
		os.RemoveAll(w.path("deep"))
		w.put("a.txt", "2\n", 0o644)
		w.cut(at, one.Commit, "refs/paw/s_agent/rescue/1")
		os.RemoveAll(w.path("deep"))
		w.put("deep", "now a file\n", 0o644)
		w.put("forced.log", "mine\n", 0o644)
		w.put("other.log", "mine\n", 0o644)
		w.put("a.txt", "since\n", 0o644)
		w.in("commit", "-qam", "since")
		w.put("dir/b.txt", "staged since\n", 0o644)
		w.in("add", "dir/b.txt")
		w.put("dir/b.txt", "and edited\n", 0o644)
		since := w.in("rev-parse", "HEAD")
		ended := w.ended()
		if ended == nil || !ended.Moved || ended.Kept == "" || !strings.HasPrefix(ended.Kept, "refs/paw/s_agent/rescue/") {
			t.Fatalf("%s: %+v", at, ended)
		}
		if again := w.ended(); again != nil {
			t.Errorf("%s: ended twice, %s", at, again)
		}
		first["other.log"] = w.hashes()["other.log"]
		w.wantFiles(at, first)
		for name, want := range map[string]string{":a.txt": "since", ":deep": "now a file", ":forced.log": "mine", ":dir/b.txt": "and edited", "^2:dir/b.txt": "staged since"} {
			if got := w.git("show", ended.Kept+name); got != want {
				t.Errorf("%s: %s is kept as %q", at, name, got)
			}
		}
		if got := w.git("rev-parse", ended.Kept+"^"); got != since {
			t.Errorf("%s: the commit since is not kept: %s", at, got)
		}
		if readFile(t, w.path("other.log")) != "mine\n" {
			t.Errorf("%s: an ignored file has changed", at)
		}
	}
}

// TestCutRewindIsNotEndedOverARepository: a repository in the way of the goal cannot be kept, so the move stays open until it is gone.
func TestCutRewindIsNotEndedOverARepository(t *testing.T) {
	w := newTurns(t, "")
	w.put("deep/one", "1\n", 0o644)
	one, first := w.take(), w.hashes()
	os.RemoveAll(w.path("deep"))
	w.cut(StepLocked, one.Commit, "refs/paw/s_agent/rescue/1")
	w.in("init", "-q", "deep")
	if _, err := w.m.Moves().EndMoveIn(t.Context(), w.p.Path); err == nil || !strings.Contains(err.Error(), "deep is a repository of its own") {
		t.Errorf("got %v", err)
	}
	if !disk.Exists(filepath.Join(w.in("rev-parse", "--absolute-git-dir"), journal.File)) {
		t.Error("the move is not open any more")
	}
	os.RemoveAll(w.path("deep"))
	if ended := w.ended(); ended == nil || !ended.Moved {
		t.Errorf("%v", ended)
	}
	w.wantFiles("ended", first)
}

// TestMoveGoesOnWhereItsRefHasMoved has another paw, which took the state of the worktree before the move began, write that down in
// the middle of it: the move ends all the same, also one that was killed there, or whose git was killed between two refs, and one that
// fails is taken back.
func TestMoveGoesOnWhereItsRefHasMoved(t *testing.T) {
	const now, op = "refs/paw/s_agent/now", "refs/paw/s_agent/op/1"
	for _, how := range []string{"whole", "killed", "killed between", "fails"} {
		w := newTurns(t, "")
		w.put("a.txt", "1\n", 0o644)
		first, one := w.take().Commit, w.hashes()
		w.put("a.txt", "2\n", 0o644)
		second, two := w.take().Commit, w.hashes()
		w.git("update-ref", now, second)
		other := w.git("commit-tree", "-m", "other", "-p", second, second+"^{tree}")
		restore := func() {}
		done := make(chan error, 1)
		go func() {
			defer close(done)
			_, err := w.m.Moves().Rewind(t.Context(), w.p.Path, first, RewindOptions{
				Rescue: "refs/paw/s_agent/rescue/1", Command: "paw rewind", Step: func(at string) {
					if at != StepFiles {
						return
					}
					w.git("update-ref", now, other)
					switch how {
					case "killed between":
						w.git("update-ref", op, first)
						runtime.Goexit()
					case "killed":
						runtime.Goexit()
					case "fails":
						failed := "'" + filepath.Join(realTemp(t), "failed") + "'"
						restore = shimmed(t, `case "$*" in *update-ref*) if ! test -e `+failed+`; then : >`+failed+`; echo "fatal: No space left on device" >&2; exit 128; fi;; esac`)
					}
				},
				Along: func(string, bool) ([]refs.Change, error) {
					return []refs.Change{{Ref: op, To: first, From: refs.None}, {Ref: now, To: first, From: second}}, nil
				},
			})
			done <- err
		}()
		err := <-done
		restore()
		ended, endErr := w.m.Moves().EndMoveIn(t.Context(), w.p.Path)
		if endErr != nil || (ended != nil) != strings.HasPrefix(how, "killed") || (err != nil) != (how == "fails") || errors.As(err, new(*HalfMovedError)) {
			t.Errorf("%s: %v; ended as %+v, %v", how, err, ended, endErr)
		}
		wantNow, wantOp, files := first, first, one
		if how == "fails" {
			wantNow, wantOp, files = other, "", two
		}
		w.wantFiles(how, files)
		if at := w.git("for-each-ref", "--format=%(objectname)", now); at != wantNow {
			t.Errorf("%s: %s is %s, not %s", how, now, at, wantNow)
		}
		if at := w.git("for-each-ref", "--format=%(objectname)", op); at != wantOp {
			t.Errorf("%s: %s is %q, not %q", how, op, at, wantOp)
		}
	}
}
