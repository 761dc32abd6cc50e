package worktree

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"paw/config/disk"
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
