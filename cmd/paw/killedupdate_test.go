package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// killedAfter returns variables for a paw that is killed with SIGKILL after its nth git process,
// and whose git processes are counted.
func (w *world) killedAfter(n int) []string {
	w.t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		w.t.Fatal(err)
	}
	dir := filepath.Join(w.root, "killer")
	w.script(dir, "git", fmt.Sprintf(`#!/bin/sh
printf x >> '%[1]s/count'
%[2]s "$@"
code=$?
read -r ran < '%[1]s/count'
if test ${#ran} -eq "$KILL_AFTER"; then kill -9 $PPID; fi
exit $code
`, dir, git))
	os.Remove(filepath.Join(dir, "count"))
	return []string{"PATH=" + dir + ":" + os.Getenv("PATH"), fmt.Sprintf("KILL_AFTER=%d", n)}
}

// TestKilledUpdate kills update after each of its git processes, three times in a row: none of the
// agent's work is lost, an undo goes back, and the next update ends as one that was not killed.
func TestKilledUpdate(t *testing.T) {
	t.Parallel()
	w := landWorld(t)
	dir := w.worktree("one")
	w.write(w.repo, "README.md", "changed in main\n")
	w.write(w.repo, "main/new.txt", "new in main\n")
	w.git(w.repo, "rm", "-q", "run.sh")
	w.git(w.repo, "mv", "old/name.txt", "old/moved.txt")
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "third")
	look := func() string {
		return w.files(dir) + w.git(dir, "status", "--porcelain") + w.git(dir, "log", "-1", "--format=%T %s") + w.git(dir, "symbolic-ref", "HEAD")
	}
	w.git(dir, "reset", "-q", "--hard", "HEAD^") // what it has moved is in the way of what main has moved
	w.git(dir, "clean", "-qfdx")
	w.git(dir, "rm", "-q", "gone.txt")
	w.write(dir, "sub/a.txt", "not committed\n")
	w.write(dir, "new/deep/file.txt", "untracked\n")
	w.write(dir, "staged.txt", "staged\n")
	w.git(dir, "add", "staged.txt")
	before, files := look(), w.keep()
	w.ok(w.pawWith(w.killedAfter(0), "update", "one"))
	after := look()
	ran, err := os.ReadFile(filepath.Join(w.root, "killer/count"))
	if err != nil || before == after {
		t.Fatalf("it did nothing: %v", err)
	}
	gits, moments := len(ran), 0
	var last kept
	for n := 1; n <= gits; n++ {
		w.putBack(files)
		if out := w.pawWith(w.killedAfter(n), "update", "one"); out.code != 137 {
			t.Fatalf("not killed after git %d: exit code %d", n, out.code)
		}
		os.Remove(filepath.Join(w.root, "killer/count"))
		killed := w.keep()
		if killed.same(last) { // this git has only read
			continue
		}
		last = killed
		moments++
		if got := look(); got != before {
			w.ok(w.paw("rewind", "one", "--undo"))
		}
		if diff := cmp.Diff(plain(before), plain(look())); diff != "" {
			t.Errorf("killed after git %d, then undone (-before +undone)\n%s", n, diff)
		}
		w.putBack(files)
		for range 3 {
			w.pawWith(w.killedAfter(n), "update", "one")
			w.ok(w.paw("recover", "--detach"))
		}
		w.ok(w.paw("update", "one"))
		if diff := cmp.Diff(plain(after), plain(look())); diff != "" {
			t.Errorf("killed three times after git %d, then updated (-uninterrupted +killed)\n%s", n, diff)
		}
	}
	w.git(w.repo, "fsck", "--no-progress")
	t.Logf("killed after each of %d gits, at %d moments", gits, moments)
}

// plain turns staged changes in the output of git status into unstaged ones, since an undo does not
// restore the index.
func plain(look string) string {
	lines := strings.Split(look, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "A  ") {
			lines[i] = "?? " + line[3:]
		}
		if strings.HasPrefix(line, "D  ") {
			lines[i] = " D " + line[3:]
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
