package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// notRemoved fails the test unless Remove refuses and nothing changes.
func (w *world) notRemoved(path, text string, keep bool) {
	w.t.Helper()
	before, registry := tree(w.t, path), tree(w.t, filepath.Join(w.m.Repository.CommonDir, "worktrees"))
	_, err := w.m.Remove(w.t.Context(), path, keep)
	if err == nil || !strings.Contains(err.Error(), text) {
		w.t.Errorf("got %v, want %q", err, text)
	}
	if diff := cmp.Diff(before, tree(w.t, path)) + cmp.Diff(registry, tree(w.t, filepath.Join(w.m.Repository.CommonDir, "worktrees"))); diff != "" {
		w.t.Errorf("something changed:\n%s", diff)
	}
}

func TestRemoveCleanWorktree(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	trash, err := w.m.Remove(t.Context(), p.Path, false)
	if err != nil {
		t.Fatal(err)
	}
	w.noLeftover("agent", "main")
	waitFor(t, "the trash to be emptied", func() bool {
		left, _ := os.ReadDir(w.m.trashDir())
		return len(left) == 0
	})
	if exists(trash) {
		t.Errorf("%s is left", trash)
	}
	if _, err := w.m.Remove(t.Context(), p.Path, false); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestRemoveKeepsTrashOnRequest(t *testing.T) {
	w, p := prepared(t, ".env\n")
	writeFile(t, filepath.Join(p.Path, ".env"), "own\n")
	writeFile(t, filepath.Join(p.Path, "new"), "work\n")
	before := tree(t, p.Path)
	trash, err := w.m.Remove(t.Context(), p.Path, true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, tree(t, trash)); diff != "" {
		t.Errorf("the trash differs:\n%s", diff)
	}
	w.noLeftover("agent", "main")
}

func TestRemoveRefusesEveryKindOfDirt(t *testing.T) {
	for text, spoil := range map[string]func(*world, Plan){
		"1 untracked file (new)": func(w *world, p Plan) {
			w.git("config", "status.showUntrackedFiles", "no")
			writeFile(w.t, filepath.Join(p.Path, "new"), "x\n")
		},
		"1 uncommitted file (a.txt)": func(w *world, p Plan) { writeFile(w.t, filepath.Join(p.Path, "a.txt"), "x\n") },
		"1 ignored file (.env)":      func(w *world, p Plan) { writeFile(w.t, filepath.Join(p.Path, ".env"), "x\n") },
		"1 hidden change (a.txt)": func(w *world, p Plan) {
			gitIn(w.t, p.Path, "update-index", "--assume-unchanged", "a.txt")
			writeFile(w.t, filepath.Join(p.Path, "a.txt"), "x\n")
		},
		"1 repository of its own (inner)": func(w *world, p Plan) { gitIn(w.t, p.Path, "init", "-q", "inner") },
		"1 commits of the detached HEAD": func(w *world, p Plan) {
			gitIn(w.t, p.Path, "checkout", "-q", "--detach")
			gitIn(w.t, p.Path, "commit", "-q", "--allow-empty", "-m", "loose")
		},
		"unfinished bisect": func(w *world, p Plan) { gitIn(w.t, p.Path, "bisect", "start") },
	} {
		t.Run(text, func(t *testing.T) {
			w, p := prepared(t, ".env\n")
			spoil(w, p)
			w.t = t
			w.notRemoved(p.Path, text, false)
		})
	}
}

func TestRemoveRefusesWhatIsNotPaws(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	foreign := filepath.Join(w.Side, "foreign")
	w.git("worktree", "add", "-q", "-b", "foreign", foreign)
	w.notRemoved(foreign, "not a worktree that paw made", true)
	w.git("worktree", "lock", "--reason", "mine", foreign)
	w.notRemoved(foreign, "not a worktree that paw made", true)
	w.notRemoved(w.Dir, "main worktree", true)
	w.notRemoved(filepath.Join(w.Dir, "dir"), "not a worktree of this repository", true)
	w.git("worktree", "unlock", p.Path)
	w.notRemoved(p.Path, "not a worktree that paw made", true)
}

func TestRemoveRefusesDirectoryThatIsNoLongerTheWorktree(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	if err := os.RemoveAll(p.Path); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(p.Path, "precious"), "x\n")
	var mismatch *MismatchError
	if _, err := w.m.Remove(t.Context(), p.Path, true); !errors.As(err, &mismatch) {
		t.Errorf("got %v", err)
	}
	w.notRemoved(p.Path, "not the expected", true)
}

func TestRemoveRefusesTheMainWorktreeOfAnotherRepository(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	w.made("agent")
	w.notRemoved(other.Dir, "not a worktree of this repository", true)
}

func TestRemoveKeepsDetachedCommitsAndTheIndex(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	gitIn(t, p.Path, "checkout", "-q", "--detach")
	gitIn(t, p.Path, "commit", "-q", "--allow-empty", "-m", "loose")
	loose := gitIn(t, p.Path, "rev-parse", "HEAD")
	writeFile(t, filepath.Join(p.Path, "staged"), "precious\n")
	gitIn(t, p.Path, "add", "staged")
	os.Remove(filepath.Join(p.Path, "staged"))
	if _, err := w.m.Remove(t.Context(), p.Path, true); err != nil {
		t.Fatal(err)
	}
	w.git("gc", "--quiet", "--prune=now")
	ref := w.git("for-each-ref", "--format=%(refname)", "refs/paw/s_agent/rescue")
	if got := w.git("rev-parse", ref+"^"); got != loose {
		t.Errorf("%s has the parent %s", ref, got)
	}
	if got := w.git("show", ref+":staged"); got != "precious" {
		t.Errorf("got %q", got)
	}
}

func TestRemoveFinishesWhatWasInterrupted(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	if _, err := w.m.toTrash(p.Path, "agent", ""); err != nil { // killed after this
		t.Fatal(err)
	}
	if _, err := w.m.Remove(t.Context(), p.Path, false); err != nil {
		t.Fatal(err)
	}
	w.noLeftover("agent", "main")
}

func TestRemoveSweepsWhatAnEarlierSweepLeft(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	left := filepath.Join(w.m.trashDir(), "old"+doomed, "mod")
	writeFile(t, filepath.Join(left, "x"), "x")
	os.Chmod(left, 0o555)
	kept := filepath.Join(w.m.trashDir(), "kept")
	writeFile(t, filepath.Join(kept, "x"), "x")
	if _, err := w.m.Remove(t.Context(), p.Path, false); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the old trash to go", func() bool {
		found, _ := filepath.Glob(filepath.Join(w.m.trashDir(), "*"))
		return slices.Equal(found, []string{kept})
	})
}

func TestRemoveIgnoresForeignGitVariables(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	p := w.made("agent")
	before := tree(t, other.Dir)
	t.Setenv("GIT_DIR", filepath.Join(other.Dir, ".git"))
	t.Setenv("GIT_WORK_TREE", other.Dir)
	writeFile(t, filepath.Join(p.Path, "new"), "x\n")
	w.notRemoved(p.Path, "1 untracked file (new)", false)
	if _, err := w.m.Snapshot(t.Context(), p.Path, shotRef, "m"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, tree(t, other.Dir)); diff != "" {
		t.Errorf("the other repository changed:\n%s", diff)
	}
}
