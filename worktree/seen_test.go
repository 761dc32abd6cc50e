package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"paw/config/disk"
	"paw/worktree/git"

	"github.com/google/go-cmp/cmp"
)

// TestRemoveSeenLooksAgainOnlyWhereSomethingChanged changes something between a look and the removal.
func TestRemoveSeenLooksAgainOnlyWhereSomethingChanged(t *testing.T) {
	for name, c := range map[string]struct {
		before, after func(w *world, p Plan)
		again, gone   bool
	}{
		"nothing": {gone: true},
		"a new file": {
			after: func(w *world, p Plan) { writeFile(w.t, filepath.Join(p.Path, "dir/new"), "mine\n") }, again: true,
		},
		"a file with its old time": {after: func(w *world, p Plan) {
			file := filepath.Join(p.Path, "a.txt")
			info, _ := os.Stat(file)
			writeFile(w.t, file, "two\n")
			if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
				w.t.Fatal(err)
			}
		}, again: true},
		"the index alone": {after: func(w *world, p Plan) {
			blob := gitIn(w.t, p.Path, "hash-object", "-w", "dir/b.txt")
			gitIn(w.t, p.Path, "update-index", "--cacheinfo", "100644,"+blob+",a.txt")
		}, again: true},
		"a commit of what was there": {after: func(w *world, p Plan) {
			gitIn(w.t, p.Path, "commit", "-q", "--allow-empty", "-m", "mine")
		}, again: true, gone: true},
		"the branch, from elsewhere": {after: func(w *world, p Plan) {
			commit := gitIn(w.t, p.Path, "commit-tree", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "-m", "empty")
			w.git("update-ref", "refs/heads/"+p.Branch, commit)
		}, again: true},
		"nothing, with ignored copies of the main checkout": {before: func(w *world, p Plan) {
			w.write("my.log", "same\n")
			writeFile(w.t, filepath.Join(p.Path, "my.log"), "same\n")
		}, again: true, gone: true},
		"the main checkout": {before: func(w *world, p Plan) {
			w.write("my.log", "same\n")
			writeFile(w.t, filepath.Join(p.Path, "my.log"), "same\n")
		}, after: func(w *world, _ Plan) { w.write("my.log", "other\n") }, again: true},
		"nothing, with a HEAD of its own": {before: func(w *world, p Plan) {
			gitIn(w.t, p.Path, "checkout", "-q", "--detach")
		}, again: true, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := prepared(t, "*.log\n")
			if c.before != nil {
				c.before(w, p)
			}
			seen, err := w.m.See(t.Context(), p)
			if err != nil || !seen.Clean() {
				t.Fatalf("%+v, %v", seen.Dirt, err)
			}
			if c.after != nil {
				c.after(w, p)
			}
			count := counting(t)
			_, err = w.m.Remove(t.Context(), p, seen)
			if calls := count(); len(calls) > 0 != c.again {
				t.Errorf("git ran %d times: %q", len(calls), calls)
			}
			var refused *git.ConflictError
			if c.gone != (err == nil) || !c.gone && !errors.As(err, &refused) {
				t.Errorf("got %v", err)
			}
			if disk.Exists(p.Path) == c.gone {
				t.Errorf("the worktree is there: %v", !c.gone)
			}
		})
	}
}

func TestBranchesAreDeletedTogether(t *testing.T) {
	w := newWorld(t)
	plans := map[string]Plan{}
	for _, name := range []string{"one", "two", "three", "held", "locked", "work"} {
		plans[name] = w.made(name)
	}
	expect := map[string]string{"gone": w.base}
	gitIn(t, plans["work"].Path, "commit", "-q", "--allow-empty", "-m", "work")
	gitIn(t, plans["two"].Path, "commit", "-q", "--allow-empty", "-m", "merged")
	w.git("merge", "-q", "two")
	for name, p := range plans {
		expect[name] = gitIn(t, p.Path, "rev-parse", "HEAD")
		if name == "held" {
			continue
		}
		if _, err := w.m.Remove(t.Context(), p, Seen{}); err != nil {
			t.Fatal(err)
		}
	}
	count := counting(t)
	stay := w.m.DeleteBranches(t.Context(), map[string]string{"one": expect["one"], "two": expect["two"]}, w.git("rev-parse", "HEAD"))
	wantCount(t, "two branches", count()[1:], 2)
	if len(stay) > 0 {
		t.Errorf("stay: %v", stay)
	}
	lock := filepath.Join(w.Dir, ".git/refs/heads/locked.lock")
	writeFile(t, lock, "")
	stay = w.m.DeleteBranches(t.Context(), expect, "HEAD")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for name, err := range stay {
		var refused *git.ConflictError
		said[name] = fmt.Sprint(errors.Is(err, ErrNotMerged), errors.As(err, &refused))
	}
	if diff := cmp.Diff(map[string]string{"held": "false true", "work": "true false", "locked": "false false"}, said); diff != "" {
		t.Errorf("%s\n%v", diff, stay)
	}
	if got := w.git("branch", "--format=%(refname:short)"); got != "held\nlocked\nmain\nwork" {
		t.Errorf("there are %q", got)
	}
}

// TestDropSeenKeepsWhatWasWrittenDuringTheMove writes into a worktree through a directory that was open before it was moved.
func TestDropSeenKeepsWhatWasWrittenDuringTheMove(t *testing.T) {
	for _, written := range []bool{false, true} {
		w, p := prepared(t, "")
		seen, err := w.m.See(t.Context(), p)
		if err != nil || !seen.Clean() {
			t.Fatalf("%+v, %v", seen.Dirt, err)
		}
		open, err := os.OpenRoot(filepath.Join(p.Path, "dir"))
		if err != nil {
			t.Fatal(err)
		}
		defer open.Close()
		entry, err := w.m.removable(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		directory, registration, err := w.m.Trash().throwAway(*entry, p.Path)
		if err != nil {
			t.Fatal(err)
		}
		if written {
			if err := open.WriteFile("late.txt", []byte("mine\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		done := w.m.dropSeen(t.Context(), directory, registration, seen)
		if kept := done.Trash == directory && disk.Exists(directory); kept != written {
			t.Errorf("written %v: %+v", written, done)
		}
	}
}
