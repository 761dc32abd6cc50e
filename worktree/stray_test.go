package worktree

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestOutside: a folder counts as outside of a worktree where it lies elsewhere, or in another worktree inside of it.
func TestOutside(t *testing.T) {
	w := newWorld(t)
	own := filepath.Join(filepath.Dir(w.Dir), "own")
	w.git("worktree", "add", "-q", own)
	w.git("worktree", "add", "-q", filepath.Join(own, ".qwen/worktrees/exp"))
	link := filepath.Join(filepath.Dir(w.Dir), "link")
	if err := os.Symlink(own, link); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(own, "sub/x"), "x")
	common := filepath.Join(w.Dir, ".git")
	for folder, outside := range map[string]bool{
		"": false, own: false, link: false, filepath.Join(link, "sub"): false, filepath.Join(own, "sub"): false, filepath.Join(own, "gone"): false,
		own + "_2": true, w.Dir: true, filepath.Join(own, ".qwen/worktrees/exp"): true, filepath.Join(link, ".qwen/worktrees/exp/sub"): true,
		filepath.Join(own, ".qwen/worktrees"): false,
	} {
		if got := Outside(folder, own, common); (got != "") != outside {
			t.Errorf("%s: %q", folder, got)
		}
	}
}

// TestStrays: worktrees of paw's, and older ones elsewhere, are no strays.
func TestStrays(t *testing.T) {
	w := newWorld(t)
	own := filepath.Join(filepath.Dir(w.Dir), "own")
	w.git("worktree", "add", "-q", "--lock", "--reason", "paw s/a", own)
	w.git("worktree", "add", "-q", filepath.Join(filepath.Dir(w.Dir), "old"))
	w.git("worktree", "add", "-q", filepath.Join(own, "in"))
	w.git("worktree", "add", "-q", "--lock", "--reason", "paw s/b", filepath.Join(filepath.Dir(w.Dir), "b"))
	names := func(since time.Time) (all string) {
		for _, stray := range Strays(own, filepath.Join(w.Dir, ".git"), since) {
			all += stray.Name + " "
		}
		return all
	}
	if got := names(time.Now().Add(time.Hour)); got != "in " {
		t.Errorf("older ones: %q", got)
	}
	if got := names(time.Now().Add(-time.Hour)); got != "in old " {
		t.Errorf("all: %q", got)
	}
	if err := os.RemoveAll(filepath.Join(own, "in")); err != nil {
		t.Fatal(err)
	}
	if got := names(time.Now().Add(time.Hour)); got != "" {
		t.Errorf("one that is gone: %q", got)
	}
}
