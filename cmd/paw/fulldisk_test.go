//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullDisk mounts a small file system where paw keeps its state. fill fills the file system to the
// last byte.
func fullDisk(t *testing.T, w *world) (fill func()) {
	t.Helper()
	dir := filepath.Join(w.root, "home/.local")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("cannot mount a small file system here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return func() {
		f, err := os.Create(filepath.Join(dir, "filler"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for {
			if _, err := f.Write(make([]byte, 512)); err != nil {
				return
			}
		}
	}
}

func TestStartOnAFullDiskLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fullDisk(t, w)()
	out := w.paw("start", "--cli", "demo", "--detach")
	if out.code != 1 || !strings.HasPrefix(out.stderr, "paw: error: ") || !strings.Contains(out.stderr, "no space left") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if branches := w.git(w.repo, "branch", "--list", "paw/*"); branches != "" {
		t.Errorf("left behind: %s", branches)
	}
	if _, err := os.Stat(filepath.Join(w.root, "shop.paw")); err == nil {
		t.Error("left a worktree folder behind")
	}
	if w.tmux("list-sessions").code == 0 {
		t.Error("left a tmux server behind")
	}
	if out := w.ok(w.paw("status", "--all")); strings.Contains(out.stdout, "shop  ") {
		t.Errorf("left a record behind: %s", out.stdout)
	}
}

func TestStatusAndStopWorkOnAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fill := fullDisk(t, w)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	w.ready("demo")
	fill()
	if out := w.ok(w.paw("status")); !strings.Contains(out.stdout, "shop  active") {
		t.Errorf("status: %s%s", out.stdout, out.stderr)
	}
	if out := w.paw("doctor"); out.code != 1 || !strings.Contains(out.stdout, "cannot be written: no space left on device") || !strings.Contains(out.stdout, "df -h ") {
		t.Errorf("doctor: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if out := w.paw("rewind", "demo", "0"); out.code != 1 || !strings.Contains(out.stderr, "no space left on device") || !strings.Contains(out.stderr, "paw: hint: df -h ") {
		t.Errorf("rewind: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	out := w.paw("stop", "demo")
	if out.code != 1 || strings.Count(out.stderr, "no space left") != 1 || !strings.Contains(out.stderr, "paw: hint: paw stop shop demo --only\n") {
		t.Errorf("stop of one: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	out = w.paw("stop")
	if out.code != 1 || !strings.Contains(out.stderr, "not recorded") || strings.Count(out.stderr, "no space left") != 1 {
		t.Errorf("stop: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	waitFor(t, "the tmux server ends without a pane", func() bool { return w.tmux("list-sessions").code != 0 })
	if a := w.agent("demo"); a.PID != nil {
		t.Errorf("still runs: %+v", a)
	}
}
