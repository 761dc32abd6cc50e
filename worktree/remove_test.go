package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/snapshot"
)

// notRemoved fails the test unless Remove refuses and nothing changes.
func (w *world) notRemoved(p Plan, text string, keep bool) {
	w.t.Helper()
	path := p.Path
	before, registry := tree(w.t, path), tree(w.t, filepath.Join(w.m.Repository.CommonDir, "worktrees"))
	remove := w.m.RemoveKept
	if !keep {
		remove = func(ctx context.Context, p Plan) (Removal, error) { return w.m.Remove(ctx, p, Seen{}) }
	}
	_, err := remove(w.t.Context(), p)
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
	removed, err := w.m.Remove(t.Context(), p, Seen{})
	if err != nil {
		t.Fatal(err)
	}
	w.noLeftover("agent", "main")
	waitFor(t, "the trash to be emptied", func() bool {
		left, _ := os.ReadDir(w.m.Trash().dir())
		return len(left) == 0
	})
	if diff := cmp.Diff(Removal{}, removed); diff != "" {
		t.Error(diff)
	}
	if _, err := w.m.Remove(t.Context(), p, Seen{}); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestRemoveKeepsTrashOnRequest(t *testing.T) {
	w, p := prepared(t, ".env\n")
	writeFile(t, filepath.Join(p.Path, ".env"), "own\n")
	writeFile(t, filepath.Join(p.Path, "new"), "work\n")
	before := tree(t, p.Path)
	removed, err := w.m.RemoveKept(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, tree(t, removed.Trash)); diff != "" {
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
		"1 commit of the detached HEAD": func(w *world, p Plan) {
			gitIn(w.t, p.Path, "checkout", "-q", "--detach")
			gitIn(w.t, p.Path, "commit", "-q", "--allow-empty", "-m", "loose")
		},
		"1 repository of its own (deps/a/lib)": func(w *world, p Plan) { gitIn(w.t, p.Path, "init", "-q", "deps/a/lib") },
		"1 repository of its own (deps/a.git)": func(w *world, p Plan) { gitIn(w.t, p.Path, "init", "-q", "--bare", "deps/a.git") },
		"1 commit of refs/worktree/keep that is on no branch": func(w *world, p Plan) {
			gitIn(w.t, p.Path, "update-ref", "refs/worktree/keep", gitIn(w.t, p.Path, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "mine"))
		},
		"1 commit of refs/bisect/bad": func(w *world, p Plan) {
			gitIn(w.t, p.Path, "update-ref", "refs/bisect/bad", gitIn(w.t, p.Path, "commit-tree", "HEAD^{tree}", "-m", "mine"))
		},
		"a blob that only refs/worktree/note holds": func(w *world, p Plan) {
			writeFile(w.t, filepath.Join(w.Side, "note"), "mine\n")
			gitIn(w.t, p.Path, "update-ref", "refs/worktree/note", gitIn(w.t, p.Path, "hash-object", "-w", filepath.Join(w.Side, "note")))
		},
		"unfinished bisect": func(w *world, p Plan) { gitIn(w.t, p.Path, "bisect", "start") },
	} {
		t.Run(text, func(t *testing.T) {
			w, p := prepared(t, ".env\ndeps/\n")
			spoil(w, p)
			w.t = t
			w.notRemoved(p, text, false)
		})
	}
}

// at is a plan that claims a path that is not its own.
func (p Plan) at(path string) Plan {
	p.Path = path
	return p
}

func TestRemoveRefusesWhatIsNotPaws(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	foreign := filepath.Join(w.Side, "foreign")
	w.git("worktree", "add", "-q", "-b", "foreign", foreign)
	w.notRemoved(p.at(foreign), "not a worktree that paw made", true)
	w.git("worktree", "lock", "--reason", "mine", foreign)
	w.notRemoved(p.at(foreign), "is locked: mine", true)
	w.notRemoved(p.at(w.Dir), "main worktree", true)
	w.notRemoved(p.at(filepath.Join(w.Dir, "dir")), "not a worktree of this repository", true)
	other := p
	other.Owner = "paw s/agent of another session"
	if removed, err := w.m.RemoveKept(t.Context(), other); err != nil || removed.Trash != "" {
		t.Errorf("got %+v, %v", removed, err)
	}
	w.whole(p)
}

func TestRemoveAfterTheUserUnlockedIt(t *testing.T) {
	for name, spoil := range map[string]func(w *world, p Plan){
		"its branch":     func(w *world, p Plan) {},
		"another branch": func(w *world, p Plan) { gitIn(w.t, p.Path, "checkout", "-q", "-b", "other") },
		"detached":       func(w *world, p Plan) { gitIn(w.t, p.Path, "checkout", "-q", "--detach") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.made("agent")
			spoil(w, p)
			w.git("worktree", "unlock", p.Path)
			w.git("worktree", "lock", "--reason", "on a disk of mine", p.Path)
			w.notRemoved(p, "is locked: on a disk of mine", false)
			_, err := w.m.Removable(t.Context(), p)
			var refused *git.ConflictError
			if !errors.As(err, &refused) || !strings.Contains(refused.Hint, "worktree unlock") {
				t.Errorf("got %v", err)
			}
			w.git("worktree", "unlock", p.Path)
			if _, err := w.m.Remove(t.Context(), p, Seen{}); err != nil {
				t.Error(err)
			}
			w.healthy(1)
		})
	}
}

func TestLockAgain(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	lock := func(want bool) {
		t.Helper()
		if got, err := w.m.Registry().Lock(t.Context(), p); got != want || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
		w.whole(p)
	}
	lock(false)
	w.git("worktree", "unlock", p.Path)
	lock(true)
	lock(false)
}

func TestRemoveRefusesDirectoryThatIsNoLongerTheWorktree(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	lose(t, p)
	writeFile(t, filepath.Join(p.Path, "precious"), "x\n")
	var mismatch *gitdir.MismatchError
	if _, err := w.m.RemoveKept(t.Context(), p); !errors.As(err, &mismatch) {
		t.Errorf("got %v", err)
	}
	w.notRemoved(p, "not the expected", true)
}

func TestRemoveRefusesTheMainWorktreeOfAnotherRepository(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	w.made("agent")
	w.notRemoved(w.plan("agent").at(other.Dir), "not a worktree of this repository", true)
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
	if _, err := w.m.RemoveKept(t.Context(), p); err != nil {
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
	for what, killed := range map[string]func(w *world, p Plan) error{
		"after the directory": func(w *world, p Plan) error {
			_, err := w.m.Trash().Take(p.Path, "agent")
			return err
		},
		"after the registration": func(w *world, p Plan) error {
			_, _, err := w.m.Trash().throwAway(Entry{AdminDir: filepath.Join(w.m.Repository.CommonDir, "worktrees", "agent")}, p.Path)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			p := w.made("agent")
			if err := killed(w, p); err != nil {
				t.Fatal(err)
			}
			if _, err := w.m.Remove(t.Context(), p, Seen{}); err != nil {
				t.Fatal(err)
			}
			w.noLeftover("agent", "main")
			items, _ := os.ReadDir(w.m.Trash().dir())
			for _, item := range items {
				if inside, _ := os.ReadDir(filepath.Join(w.m.Trash().dir(), item.Name())); len(inside) == 0 && !strings.HasSuffix(item.Name(), doomed) {
					t.Errorf("%s is left in the trash", item.Name())
				}
			}
		})
	}
}

func TestRemoveSweepsWhatAnEarlierSweepLeft(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	left := filepath.Join(w.m.Trash().dir(), "old"+doomed, "mod")
	writeFile(t, filepath.Join(left, "x"), "x")
	os.Chmod(left, 0o555)
	kept := filepath.Join(w.m.Trash().dir(), "kept")
	writeFile(t, filepath.Join(kept, "x"), "x")
	if _, err := w.m.Remove(t.Context(), p, Seen{}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the old trash to go", func() bool {
		found, _ := filepath.Glob(filepath.Join(w.m.Trash().dir(), "*"))
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
	w.notRemoved(p, "1 untracked file (new)", false)
	if _, err := w.m.Snapshots().Take(t.Context(), p.Path, shotRef, "m"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, tree(t, other.Dir)); diff != "" {
		t.Errorf("the other repository changed:\n%s", diff)
	}
}

func TestRemoveKeepsWhatIsIgnored(t *testing.T) {
	w, p := prepared(t, "build/\nmodules/\ncopied/\n")
	w.write("copied/x", "same\n")
	if problems := w.setUp(p, []string{"copied"}, nil); len(problems) > 0 {
		t.Fatal(problems)
	}
	writeFile(t, filepath.Join(p.Path, "build/deep/model.bin"), "precious\n")
	writeFile(t, filepath.Join(p.Path, "dir/modules/x"), "x\n")
	removed, err := w.m.Remove(t.Context(), p, Seen{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"build/", "dir/modules/"}, removed.Aside); diff != "" {
		t.Error(diff)
	}
	sweep(t.Context(), w.m.Trash().dir())
	if got := readFile(t, filepath.Join(removed.Trash, "build/deep/model.bin")); got != "precious\n" {
		t.Errorf("got %q", got)
	}
	w.noLeftover("agent", "main")
}

func TestRemoveSweepsCopiesOfTheMainCheckout(t *testing.T) {
	w, p := prepared(t, "modules/\n")
	w.write("modules/x", "same\n")
	if problems := w.setUp(p, []string{"modules"}, nil); len(problems) > 0 {
		t.Fatal(problems)
	}
	removed, err := w.m.Remove(t.Context(), p, Seen{})
	if diff := cmp.Diff(Removal{}, removed); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestRemoveRefusesWhatChangesWhileItWaits(t *testing.T) {
	w, p := prepared(t, "*.log\n")
	locked := w.m.Locks
	for name, change := range map[string]func(){
		"new":     func() { writeFile(t, filepath.Join(p.Path, "dir/new"), "mine\n") },
		"changed": func() { writeFile(t, filepath.Join(p.Path, "a.txt"), "two\n") },
		"ignored": func() { writeFile(t, filepath.Join(p.Path, "my.log"), "mine\n") },
	} {
		w.m.Locks = func(ctx context.Context) (func(), error) {
			change()
			return locked(ctx)
		}
		if _, err := w.m.Remove(t.Context(), p, Seen{}); err == nil || !strings.Contains(err.Error(), "has just changed") {
			t.Errorf("%s: got %v", name, err)
		}
		if gitdir.Verify(p.Path, w.m.Repository.CommonDir, "") != nil {
			t.Fatalf("%s: the worktree is gone", name)
		}
		gitIn(t, p.Path, "checkout", "-q", ".")
		gitIn(t, p.Path, "clean", "-qfdx")
	}
}

func TestImprintIsOfEveryChange(t *testing.T) {
	top := filepath.Join(realTemp(t), "top")
	file, other := filepath.Join(top, "dir/file"), filepath.Join(top, "dir/other")
	writeFile(t, file, "one")
	seen := map[any]string{}
	see := func(what string) {
		t.Helper()
		now, err := imprint(top)
		if err != nil {
			t.Fatal(err)
		}
		if before, known := seen[now]; known {
			t.Errorf("%s: as %s", what, before)
		}
		seen[now] = what
		waitFor(t, "the clock of the file system", func() bool {
			info, err := os.Stat(file)
			probe := filepath.Join(filepath.Dir(top), "probe")
			writeFile(t, probe, "")
			later, probeErr := os.Stat(probe)
			return err != nil || probeErr == nil && later.ModTime().After(info.ModTime().Add(20*time.Millisecond))
		})
	}
	see("at first")
	info, _ := os.Stat(file)
	writeFile(t, file, "two")
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	see("written, with its old time")
	writeFile(t, other, "")
	see("added")
	if err := os.Rename(other, file); err != nil {
		t.Fatal(err)
	}
	see("replaced")
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	see("its mode")
	before, _ := imprint(top)
	if err := os.Rename(top, top+"-moved"); err != nil {
		t.Fatal(err)
	}
	if after, err := imprint(top + "-moved"); err != nil || after != before {
		t.Errorf("moving it is a change: %v", err)
	}
}

func TestRemoveRescuesRefsOfTheWorktreeAlone(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	commit := gitIn(t, p.Path, "commit-tree", "HEAD^{tree}", "-m", "mine")
	gitIn(t, p.Path, "update-ref", "refs/worktree/keep", commit)
	gitIn(t, p.Path, "update-ref", "refs/rewritten/onto", gitIn(t, p.Path, "commit-tree", "HEAD^{tree}", "-m", "rewritten"))
	writeFile(t, filepath.Join(w.Side, "note"), "a note\n")
	blob := gitIn(t, p.Path, "hash-object", "-w", filepath.Join(w.Side, "note"))
	gitIn(t, p.Path, "update-ref", "refs/worktree/note", blob)
	os.Remove(filepath.Join(w.Side, "note"))
	removed, err := w.m.RemoveKept(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	w.git("gc", "--quiet", "--prune=now")
	if got := w.git("cat-file", "blob", blob); got != "a note" {
		t.Errorf("got %q", got)
	}
	first, _, _ := strings.Cut(removed.Rescue, ", ")
	if got := w.git("log", "--format=%s", first); !strings.Contains(got, "mine") || !strings.Contains(got, "rewritten") {
		t.Errorf("%s has\n%s", first, got)
	}
}

func TestRemoveKeepsAnIndexThatGitCannotWrite(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(p.Path, "staged"), "precious\n")
	gitIn(t, p.Path, "add", "staged")
	lose(t, p)
	restore := shimmed(t, `case "$*" in *write-tree*) echo "fatal: unable to write: No space left on device" >&2; exit 128;; esac`)
	removed, err := w.m.Remove(t.Context(), p, Seen{})
	restore()
	if err != nil {
		t.Fatal(err)
	}
	sweep(t.Context(), w.m.Trash().dir())
	if entries, err := snapshot.ListIndex(t.Context(), git.Repo{Dir: w.Dir}, filepath.Join(removed.Trash, "index")); err != nil || !slices.ContainsFunc(entries, func(e snapshot.IndexEntry) bool { return e.Name == "staged" }) {
		t.Errorf("the index is not kept: %+v, %v", removed, err)
	}
}

func TestRemoveSaysWhereTheIndexOfALostWorktreeIs(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(p.Path, "staged"), "precious\n")
	gitIn(t, p.Path, "add", "staged")
	lose(t, p)
	removed, err := w.m.Remove(t.Context(), p, Seen{})
	if err != nil || removed.Trash != "" || w.git("show", removed.Rescue+":staged") != "precious" {
		t.Errorf("got %+v, %v", removed, err)
	}
}

func TestReleaseWhateverHasBecomeOfIt(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	if err := os.Remove(filepath.Join(p.Path, ".git")); err != nil {
		t.Fatal(err)
	}
	gitIn(t, p.Path, "init", "-q")
	if err := w.m.Release(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	w.git("checkout", "-q", p.Branch)
}
