package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestCountSeesEachCallOnce counts calls with arguments of every kind, made one
// after the other and at the same time.
func TestCountSeesEachCallOnce(t *testing.T) {
	for _, tool := range []string{"git", "tmux"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	dir, err := os.MkdirTemp("", "paw")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	w := &world{ctx: t.Context(), shims: newShims(dir), dir: dir, repo: dir, folder: dir, socket: filepath.Join(dir, "s")}
	var j job
	script := `git version; git -c a.b='two
lines, 100% $HOME' version; tmux -V
for i in 1 2 3 4 5 6 7 8; do git version & done; wait`
	w.count(&j, "sh", "-c", script)
	if git, tmux := j.calls.of("git"), j.calls.of("tmux"); git != 10 || tmux != 1 {
		t.Errorf("%d git and %d tmux, want 10 and 1: %q", git, tmux, j.calls)
	}
	// The real program ran, and its failure is the command's.
	if err := attempt(func() { w.count(&j, "sh", "-c", "git no-such-command") }); err == nil {
		t.Error("a git that fails was not reported")
	}
}
