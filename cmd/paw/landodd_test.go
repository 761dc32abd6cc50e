//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestLandInASparseCheckout: files outside the sparse checkout land, and are not written.
func TestLandInASparseCheckout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.repo, "far/away.txt", "far\n")
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "second")
	w.start("one")
	w.git(w.repo, "sparse-checkout", "set", "--cone", "sub")
	w.write(w.worktree("one"), "far/away.txt", "changed\n")
	w.write(w.worktree("one"), "far/new.txt", "new\n")
	w.write(w.worktree("one"), "sub/a.txt", "changed\n")
	w.ok(w.paw("land", "one"))
	w.hasStatus(w.repo, "")
	if _, err := os.Lstat(filepath.Join(w.repo, "far")); err == nil {
		t.Error("files outside of the sparse checkout were written")
	}
	if got := w.git(w.repo, "show", "main:far/away.txt", "main:far/new.txt") + w.readFile("sub/a.txt"); got != "changed\nnew\nchanged\n" {
		t.Errorf("it landed %q", got)
	}
	w.write(w.repo, "far/mine.txt", "mine\n")
	w.write(w.worktree("one"), "far/mine.txt", "the agent's\n")
	if out := w.paw("land", "one"); out.code != 3 || !strings.Contains(out.stderr, "far/mine.txt (untracked)") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	os.RemoveAll(filepath.Join(w.repo, "far"))
	w.ok(w.paw("land", "one"))
	w.ok(w.paw("land", "--undo"))
	w.hasStatus(w.repo, "")
}

// TestLandASubmodule: a submodule's commit lands only on a branch that is not checked out, and is
// refused elsewhere.
func TestLandASubmodule(t *testing.T) {
	t.Parallel()
	w := started(t, "one")
	head := strings.TrimSpace(w.git(w.repo, "rev-parse", "HEAD"))
	w.git(w.worktree("one"), "update-index", "--add", "--cacheinfo", "160000,"+head+",lib")
	w.git(w.worktree("one"), "commit", "-q", "-m", "add lib")
	if err := os.Mkdir(filepath.Join(w.worktree("one"), "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out := w.paw("forecast"); !strings.Contains(out.stdout, "does not land: it would add, remove or move a submodule: lib") {
		t.Errorf("forecast says\n%s%s", out.stdout, out.stderr)
	}
	if out := w.paw("forecast", "--json"); !strings.Contains(out.stdout, `"submodules":["lib"]`) {
		t.Errorf("forecast says\n%s%s", out.stdout, out.stderr)
	}
	if out := w.paw("land", "one"); out.code != 3 || !strings.Contains(out.stderr, "would add, remove or move a submodule: lib\npaw: hint: git -C ") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	w.git(w.repo, "branch", "release")
	if out := w.ok(w.paw("forecast", "--into", "release")); !strings.Contains(out.stdout, " fits") {
		t.Errorf("where nobody has the branch checked out, forecast says\n%s", out.stdout)
	}
	w.ok(w.paw("land", "one", "--into", "release"))
	if got := w.git(w.repo, "ls-tree", "release", "lib"); got != "160000 commit "+head+"\tlib\n" {
		t.Errorf("it landed %q", got)
	}
	_, hint, _ := strings.Cut(w.paw("land", "one").stderr, "paw: hint: ")
	if out := w.run(w.repo, nil, "sh", "-c", hint); out.code != 0 { // what is pasted is the landing
		t.Errorf("%s: %s", hint, out.stderr)
	}
	if got := w.git(w.repo, "log", "-1", "--format=%an %s"); got != "t add lib\n" {
		t.Errorf("the commit is %q", got)
	}
	if out := w.ok(w.paw("land", "one")); !strings.Contains(out.stdout, "main has all of it") {
		t.Errorf("then land says %s", out.stdout)
	}
}

// TestLandOnAFullDisk: git can neither write all files nor put the branch back. Until recover has
// finished the landing, which needs space, half a landing cannot be committed.
func TestLandOnAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	disk := filepath.Join(w.root, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("cannot mount a small file system here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	w.git(w.root, "clone", "-q", w.repo, filepath.Join(disk, "shop"))
	w.repo = filepath.Join(disk, "shop")
	w.configure("worktree.path = '" + w.root + "/shop.paw/{session}/{agent}'\n")
	w.start("one")
	for _, name := range []string{"1", "2", "3"} {
		w.run(w.worktree("one"), nil, "sh", "-c", "head -c 1000000 /dev/urandom > big"+name)
	}
	w.write(w.worktree("one"), "README.md", "changed\n")
	w.write(w.repo, "mine.txt", "the user's\n")
	fill := "head -c 800000 /dev/zero > " + disk + "/spare; cat /dev/zero > " + disk + "/filler; rm " + disk + "/spare"
	out := w.pawWith([]string{"PAW_TEST_AT=land.move.locked", "PAW_TEST_DO=" + fill + "; true"}, "land", "one")
	if out.code != 1 {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
		t.Fatal(err)
	}
	w.ok(w.paw("recover", "--detach"))
	w.hasStatus(w.repo, "?? mine.txt\n")
	if w.git(w.repo, "log", "--format=%s") == "first\n" {
		w.ok(w.paw("land", "one"))
	}
	if got := w.readFile("README.md") + w.readFile("mine.txt"); got != "changed\nthe user's\n" {
		t.Errorf("the files are %q", got)
	}
	w.git(w.repo, "fsck", "--no-progress")
}
