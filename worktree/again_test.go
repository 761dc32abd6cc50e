package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"paw/worktree/journal"
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

// TestCutRewindIsDoneAgain: a rewind that was cut after any step is done again, and its rescue has what was there before.
func TestCutRewindIsDoneAgain(t *testing.T) {
	for _, at := range []string{StepLocked, StepFiles, StepBranch, StepIndex} {
		for _, forward := range []bool{true, false} {
			w := newTurns(t, "*.log\n")
			w.mixed()
			first, one := w.hashes(), w.take()
			w.in("add", "-A", "t")
			w.in("commit", "-qm", "second")
			w.put("new/file", "new\n", 0o644)
			w.put("t/8.txt", "staged\n", 0o644)
			w.in("add", "t/8.txt")
			w.put("t/8.txt", "and edited\n", 0o644)
			second := w.hashes()
			to, want := one.Commit, first
			if forward {
				to, want = w.rewind(one.Commit, "refs/paw/s_agent/rescue/0").Commit, second
			}
			head := w.in("rev-parse", to+"^{commit}")
			if parent := w.in("rev-parse", to+"^"); to != parent {
				head = parent
			}
			before := w.hashes()
			w.cut(at, to, "refs/paw/s_agent/rescue/1")
			for range 2 {
				if ended := w.ended(); ended != nil && (!ended.Moved || ended.Kept != "") {
					t.Errorf("%s: %s", at, ended)
				}
			}
			w.wantFiles(at, want)
			if got := w.in("rev-parse", "HEAD"); got != head || w.in("diff", "--cached", "--name-only") != "" {
				t.Errorf("%s: HEAD is %s, want %s; staged is %q", at, got, head, w.in("diff", "--cached", "--name-only"))
			}
			w.rewind("refs/paw/s_agent/rescue/1", "refs/paw/s_agent/rescue/2")
			w.wantFiles(at+", undone", before)
		}
	}
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
		lock := filepath.Join(w.in("rev-parse", "--absolute-git-dir"), "index.lock")
		if err := os.Remove(lock); err != nil {
			t.Fatal(err)
		}
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
	if !journal.Left(w.in("rev-parse", "--absolute-git-dir")) {
		t.Error("the move is not open any more")
	}
	os.RemoveAll(w.path("deep"))
	if ended := w.ended(); ended == nil || !ended.Moved {
		t.Errorf("%v", ended)
	}
	w.wantFiles("ended", first)
}

// TestCutRewindCutAgain: ending is cut in turn, after each step.
func TestCutRewindCutAgain(t *testing.T) {
	w := newTurns(t, "")
	w.mixed()
	one, first := w.take(), w.hashes()
	w.in("add", "-A")
	w.in("commit", "-qm", "second")
	w.put("t/9.txt", "new\n", 0o644)
	w.cut(StepLocked, one.Commit, "refs/paw/s_agent/rescue/1")
	w.put("t/9.txt", "since\n", 0o644)
	for i, at := range []string{StepKept, StepFiles, StepBranch, StepIndex} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = endInSteps(t.Context(), w.m.Moves(), w.p.Path, func(name string) {
				if name == at {
					runtime.Goexit()
				}
			})
			if at != StepBranch || i < 2 { // HEAD moves once
				t.Errorf("not cut at %s", at)
			}
		}()
		<-done
	}
	w.ended()
	w.wantFiles("ended", first)
	kept := strings.Fields(w.git("for-each-ref", "--format=%(refname)", "refs/paw/s_agent/rescue"))
	found := false
	for _, ref := range kept {
		found = found || w.git("show", ref+":t/9.txt") == "since"
	}
	if !found {
		t.Errorf("what came since is in none of %s", fmt.Sprint(kept))
	}
}
