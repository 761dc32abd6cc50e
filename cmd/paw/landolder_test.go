package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// olderGit returns variables for a git without merge-tree --stdin, as before 2.39.
func (w *world) olderGit() []string {
	w.t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		w.t.Fatal(err)
	}
	w.script(w.root, "old/git", "#!/bin/sh\ncase \"$*\" in *merge-tree*--stdin*) echo 'usage: git merge-tree <base-tree> <branch1> <branch2>' >&2; exit 129;; esac\nexec "+git+" \"$@\"\n")
	return []string{"PATH=" + filepath.Join(w.root, "old") + ":" + os.Getenv("PATH")}
}

// TestForecastAndUpdateWithAnOlderGit: both commands come to the same results as with a newer git.
func TestForecastAndUpdateWithAnOlderGit(t *testing.T) {
	t.Parallel()
	w := landWorld(t)
	old := w.olderGit()
	for agent, text := range map[string]string{"one": "by one\n", "two": "by two\n"} {
		w.write(w.worktree(agent), "README.md", text)
		w.git(w.worktree(agent), "commit", "-qam", "say it")
	}
	newer, older := w.paw("forecast", "--json"), w.pawWith(old, "forecast", "--json")
	if newer.code != 8 || older.code != 8 || newer.stdout != older.stdout {
		t.Errorf("forecast ends with %d and %d:\n%s%s%s", newer.code, older.code, newer.stdout, older.stdout, older.stderr)
	}
	w.ok(w.pawWith(old, "land", "one"))
	for _, command := range [][]string{{"land", "two"}, {"update", "two"}} {
		if out := w.pawWith(old, command...); out.code != 8 || !strings.Contains(out.stderr, "README.md") {
			t.Errorf("%s: exit code %d\n%s%s", command, out.code, out.stdout, out.stderr)
		}
	}
	w.git(w.worktree("two"), "reset", "-q", "--hard", "HEAD^")
	w.write(w.worktree("two"), "draft.txt", "not committed\n")
	w.ok(w.pawWith(old, "update", "two"))
	w.hasStatus(w.worktree("two"), "?? draft.txt\n")
	if got := w.git(w.worktree("two"), "show", "HEAD:README.md"); got != "by one\n" {
		t.Errorf("it has %q", got)
	}
	w.git(w.repo, "fsck", "--no-progress")
}
