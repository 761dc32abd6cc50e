package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Files that paw inherited do not reach the tmux server that paw starts, nor daemons of a set-up
// command: a lock on such a file would last as long as they run.
func TestNothingThatPawStartsKeepsWhatPawInherited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure("[worktree]\nsetup = \"setsid sleep 1000 >/dev/null 2>&1 & echo $! > " + w.root + "/daemon\"\n")
	path := filepath.Join(w.root, "lock")
	lock, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), pawForTests(), "start", "--cli", "demo", "--detach", "--wait-setup")
	cmd.Dir, cmd.Env, cmd.ExtraFiles = w.repo, w.env, []*os.File{lock}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lock.Close()
	daemon := w.pids("daemon")[0]
	t.Cleanup(func() { _ = unix.Kill(daemon, unix.SIGKILL) })
	if ended(daemon) || strings.TrimSpace(w.ok(w.tmux("list-sessions")).stdout) == "" {
		t.Fatal("neither the daemon nor the server may have ended, or this test shows nothing")
	}
	again, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	// Another test of this process that forks holds the file until its exec.
	waitFor(t, "the lock to end with paw", func() bool { return unix.Flock(int(again.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil })
}
