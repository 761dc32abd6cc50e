package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/journal"
	"paw/worktree/refs"
	"paw/worktree/snapshot"
)

// moving is a repository whose main is at one commit, and another commit for it to move to, with every kind of change
// between the two.
type moving struct {
	*world
	from, to string
}

func newMoving(t *testing.T) *moving {
	t.Helper()
	w := &moving{world: newWorld(t)}
	w.write(".gitignore", "*.log\n")
	for i := range 6 {
		w.write(fmt.Sprintf("t/%d.txt", i), fmt.Sprintf("tracked %d\n", i))
	}
	w.write("file/becomes", "folder\n")
	w.write("keep.txt", "kept\n")
	w.from = w.commit("from")
	w.git("switch", "-q", "-c", "work")
	w.write("t/0.txt", strings.Repeat("new content\n", 50))
	w.git("mv", "t/1.txt", "moved.txt")
	w.git("rm", "-q", "t/2.txt")
	os.Chmod(filepath.Join(w.Dir, "t/3.txt"), 0o755)
	os.Remove(filepath.Join(w.Dir, "t/4.txt"))
	os.Symlink("3.txt", filepath.Join(w.Dir, "t/4.txt"))
	w.git("rm", "-q", "file/becomes")
	w.write("file", "now a file\n")
	os.Remove(filepath.Join(w.Dir, "t/5.txt"))
	w.write("t/5.txt/deep/file", "folder for a file\n")
	w.write("new/ü x", "new\n")
	w.to = w.commit("to")
	w.git("switch", "-q", "main")
	return w
}

func (w *moving) move() Move {
	w.t.Helper()
	at, err := w.m.Registry().CheckoutOf(w.t.Context(), "main")
	if err != nil || at == nil {
		w.t.Fatalf("main is checked out at %+v, %v", at, err)
	}
	return Move{Branch: "main", From: w.from, To: w.to, Checkout: at, Log: "paw land"}
}

func (w *moving) hold() *Moving {
	w.t.Helper()
	g, err := w.m.Moves().Hold(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return g
}

func (w *moving) advance(v Move) error {
	w.t.Helper()
	g := w.hold()
	defer g.Release()
	return w.m.Moves().Advance(w.t.Context(), g, v, func(string) {})
}

// TestAdvanceMakesRefs: a move makes refs in the transaction that moves the branch. Where one of them exists already,
// nothing has moved and nothing is locked, with a checkout and without one.
func TestAdvanceMakesRefs(t *testing.T) {
	for _, checkedOut := range []bool{true, false} {
		w := newMoving(t)
		v := w.move()
		if !checkedOut {
			w.git("switch", "-q", "--detach")
			v.Checkout = nil
		}
		w.git("update-ref", "refs/paw/s_a/landed/1/state", w.from)
		before := w.git("for-each-ref") + w.git("status", "--porcelain")
		v.Refs = newRefs(w.to, "refs/paw/s_a/landed/1/after", "refs/paw/s_a/landed/1/state")
		if err := w.advance(v); err == nil || !strings.Contains(err.Error(), "already exists") {
			t.Errorf("%v, though a ref exists already", err)
		}
		if after := w.git("for-each-ref") + w.git("status", "--porcelain"); after != before {
			t.Errorf("%s\nwant\n%s", after, before)
		}
		w.git("update-ref", "-d", "refs/paw/s_a/landed/1/state")
		now := refs.Change{Ref: "refs/paw/s_a/now", To: w.to, From: w.to}
		w.git("update-ref", now.Ref, w.from)
		before = w.git("for-each-ref") + w.git("status", "--porcelain")
		v.Refs = append(v.Refs, now)
		if err := w.advance(v); !errors.Is(err, refs.ErrMoved) {
			t.Errorf("%v, though a ref is elsewhere", err)
		}
		if after := w.git("for-each-ref") + w.git("status", "--porcelain"); after != before {
			t.Errorf("%s\nwant\n%s", after, before)
		}
		v.Refs[2].From = w.from
		if err := w.advance(v); err != nil {
			t.Error(err)
		}
		for _, ref := range []string{"main", "refs/paw/s_a/landed/1/after", "refs/paw/s_a/landed/1/state", now.Ref} {
			if at := strings.TrimSpace(w.git("rev-parse", ref)); at != w.to {
				t.Errorf("%s is at %s, want %s", ref, at, w.to)
			}
		}
		if _, err := os.Stat(filepath.Join(w.Dir, ".git/logs/refs/paw")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("paw's own refs have a reflog: %v", err)
		}
	}
}

// finish ends what a move has left; it is nil where there was nothing.
func (w *moving) finish(v Move) *Ended {
	w.t.Helper()
	ended, err := w.m.Moves().EndMove(w.t.Context(), *v.Checkout)
	if err != nil {
		w.t.Fatal(err)
	}
	return ended
}

// cut moves as a paw that dies after a step.
func (w *moving) cut(at string, v Move) {
	w.t.Helper()
	g := w.hold()
	defer g.Release()
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := w.m.Moves().Advance(w.t.Context(), g, v, func(name string) {
			if name == at {
				runtime.Goexit()
			}
		})
		w.t.Errorf("not killed at %s: %v", at, err)
	}()
	<-done
}

// wantAt fails the test unless branch, index and files are all those of a commit, but for what status says of the user's.
func (w *moving) wantAt(what, commit, status string) {
	w.t.Helper()
	if got := w.git("rev-parse", "main"); got != commit {
		w.t.Errorf("%s: main is at %s, want %s", what, got, commit)
	}
	if got := w.git("status", "--porcelain", "--untracked-files=all"); got != status {
		w.t.Errorf("%s: git status says\n%s\nwant\n%s", what, got, status)
	}
	admin := filepath.Join(w.Dir, ".git")
	left, _ := filepath.Glob(filepath.Join(admin, snapshot.ScratchPrefix+"*"))
	if disk.Exists(filepath.Join(admin, journal.File)) || disk.Exists(filepath.Join(admin, "index.lock")) || len(left) > 0 {
		w.t.Errorf("%s: left behind: %q, or the journal, or the lock of the index", what, left)
	}
	w.git("fsck", "--no-progress")
}

func TestAdvanceAndBackAreExact(t *testing.T) {
	for _, setting := range []string{"", "core.autocrlf=true", "core.splitIndex=true", "core.untrackedCache=true", "index.version=4"} {
		w := newMoving(t)
		if name, value, ok := strings.Cut(setting, "="); ok {
			w.git("config", name, value)
			w.git("update-index", "--refresh")
		}
		w.write("mine.txt", "untracked\n")
		w.write("mine.log", "ignored\n")
		w.write("keep.txt", "changed\n")
		w.write("dir/b.txt", "staged\n")
		w.git("add", "dir/b.txt")
		w.write("dir/b.txt", "staged and changed\n")
		status := w.git("status", "--porcelain", "--untracked-files=all")
		staged := w.git("ls-files", "--stage", "dir/b.txt")
		before := tree(t, w.Dir)
		v := w.move()
		if err := w.advance(v); err != nil {
			t.Fatalf("%s: %v", setting, err)
		}
		w.wantAt(setting, w.to, status)
		if got := w.git("ls-files", "--stage", "dir/b.txt"); got != staged {
			t.Errorf("%s: staged was %s and is %s", setting, staged, got)
		}
		if got := w.git("reflog", "-1", "--format=%gs", "HEAD"); got != "paw land" {
			t.Errorf("%s: the log of HEAD ends with %q", setting, got)
		}
		v.From, v.To = v.To, v.From
		if err := w.advance(v); err != nil {
			t.Fatalf("%s: back: %v", setting, err)
		}
		w.wantAt(setting+" back", w.from, status)
		for name, was := range before {
			now := tree(t, w.Dir)[name]
			if slices.Contains([]string{"mine.txt", "mine.log", "keep.txt", "dir/b.txt", "a.txt"}, name) && now != was {
				t.Errorf("%s: %s was %s and is %s", setting, name, was, now)
			}
		}
	}
}

// TestObstaclesAreNamedAndStay: whatever the user has where a move would write refuses it, and nothing has changed.
func TestObstaclesAreNamedAndStay(t *testing.T) {
	for name, c := range map[string]struct {
		put  func(w *moving)
		want string
	}{
		"changed": {func(w *moving) { w.write("t/0.txt", "mine\n") }, "t/0.txt (changed)"},
		"changed in the same second, same size": {func(w *moving) {
			w.git("update-index", "--refresh")
			w.write("t/0.txt", "TRACKED 0\n")
		}, "t/0.txt (changed)"},
		"mode":    {func(w *moving) { os.Chmod(filepath.Join(w.Dir, "t/0.txt"), 0o755) }, "t/0.txt (changed)"},
		"deleted": {func(w *moving) { os.Remove(filepath.Join(w.Dir, "t/2.txt")) }, "t/2.txt (changed)"},
		"staged": {func(w *moving) {
			w.write("t/3.txt", "mine\n")
			w.git("add", "t/3.txt")
		}, "t/3.txt (staged)"},
		"staged only": {func(w *moving) {
			w.write("t/3.txt", "mine\n")
			w.git("add", "t/3.txt")
			w.write("t/3.txt", "tracked 3\n")
		}, "t/3.txt (changed)"},
		"staged deletion": {func(w *moving) { w.git("rm", "-q", "--cached", "t/2.txt") }, "t/2.txt (untracked)"},
		"staged new": {func(w *moving) {
			w.write("moved.txt", "mine\n")
			w.git("add", "moved.txt")
		}, "moved.txt (staged)"},
		"intended": {func(w *moving) {
			w.write("moved.txt", "mine\n")
			w.git("add", "-N", "moved.txt")
		}, "moved.txt (changed)"},
		"untracked":           {func(w *moving) { w.write("moved.txt", "mine\n") }, "moved.txt (untracked)"},
		"untracked, the same": {func(w *moving) { w.write("moved.txt", "tracked 1\n") }, "moved.txt (untracked)"},
		"untracked in a folder that becomes a file": {func(w *moving) { w.write("file/mine", "mine\n") }, "file/mine (untracked)"},
		"untracked where a folder comes":            {func(w *moving) { w.write("new", "mine\n") }, "new (untracked)"},
		"ignored": {func(w *moving) {
			w.write(".git/info/exclude", "moved.txt\n")
			w.write("moved.txt", "mine\n")
		}, "moved.txt (ignored)"},
		"ignored in a folder that becomes a file": {func(w *moving) { w.write("file/mine.log", "mine\n") }, "file/mine.log (ignored)"},
		"ignored where a folder comes": {func(w *moving) {
			w.write(".git/info/exclude", "new\n")
			w.write("new", "mine\n")
		}, "new (ignored)"},
		"assume-unchanged": {func(w *moving) {
			w.git("update-index", "--assume-unchanged", "t/0.txt")
			w.write("t/0.txt", "mine\n")
		}, "t/0.txt (assume-unchanged)"},
		"assume-unchanged, the same": {func(w *moving) { w.git("update-index", "--assume-unchanged", "t/0.txt") }, "t/0.txt (assume-unchanged)"},
		"skip-worktree": {func(w *moving) {
			w.git("update-index", "--skip-worktree", "t/0.txt")
			w.write("t/0.txt", "mine\n")
		}, "t/0.txt (skip-worktree)"},
		"skip-worktree, without a file": {func(w *moving) {
			w.git("update-index", "--skip-worktree", "t/0.txt")
			os.Remove(filepath.Join(w.Dir, "t/0.txt"))
		}, "t/0.txt (skip-worktree)"},
		"untracked files not shown": {func(w *moving) {
			w.git("config", "status.showUntrackedFiles", "no")
			w.write("moved.txt", "mine\n")
		}, "moved.txt (untracked)"},
		"link to a folder where one comes": {func(w *moving) { os.Symlink("dir", filepath.Join(w.Dir, "new")) }, "new (untracked)"},
		"a repository where a folder comes": {func(w *moving) {
			w.git("init", "-q", "new")
		}, "new (a repository of its own)"},
		"staged only, where a folder comes": {func(w *moving) {
			w.write("new", "mine\n")
			w.git("add", "new")
			os.Remove(filepath.Join(w.Dir, "new"))
		}, "new (staged)"},
		"staged only, in a folder that becomes a file": {func(w *moving) {
			w.write("file/deep/mine", "mine\n")
			w.git("add", "file/deep/mine")
			os.RemoveAll(filepath.Join(w.Dir, "file/deep"))
		}, "file/deep/mine (staged)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newMoving(t)
			c.put(w)
			v := w.move()
			index := readFile(t, filepath.Join(w.Dir, ".git/index"))
			before := tree(t, w.Dir)
			err := w.advance(v)
			var refused *ObstacleError
			if !errors.As(err, &refused) || !slices.ContainsFunc(refused.Obstacles, func(o Obstacle) bool { return o.String() == c.want }) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			withoutGit := func(files map[string]string) map[string]string {
				for name := range files {
					if name == "." || strings.HasPrefix(name, ".git/objects") || name == ".git" || strings.HasPrefix(name, ".git/paw") {
						delete(files, name)
					}
				}
				return files
			}
			if diff := cmp.Diff(withoutGit(before), withoutGit(tree(t, w.Dir))); diff != "" {
				t.Errorf("something has changed:\n%s", diff)
			}
			if readFile(t, filepath.Join(w.Dir, ".git/index")) != index {
				t.Error("the index has changed")
			}
		})
	}
}

func TestAdvanceRefusesABranchThatMoved(t *testing.T) {
	w := newMoving(t)
	v := w.move()
	w.commit("another")
	if err := w.advance(v); !errors.Is(err, ErrBranchMoved) {
		t.Errorf("got %v", err)
	}
	w.git("switch", "-q", "-c", "away")
	v.Checkout = nil
	if err := w.advance(v); !errors.Is(err, ErrBranchMoved) {
		t.Errorf("checked out nowhere: got %v", err)
	}
}

func TestCheckoutOfRefusesWhatIsNotAtRest(t *testing.T) {
	w := newMoving(t)
	if at, err := w.m.Registry().CheckoutOf(t.Context(), "work"); at != nil || err != nil {
		t.Errorf("a branch that is nowhere is at %+v, %v", at, err)
	}
	w.write("t/0.txt", "mine\n")
	w.commit("conflicting")
	if err := git.In(w.Dir).Run(t.Context(), "rebase", "-q", "work"); err == nil {
		t.Fatal("the rebase did not stop")
	}
	if _, err := w.m.Registry().CheckoutOf(t.Context(), "main"); err == nil || !strings.Contains(err.Error(), "a rebase is not finished there") {
		t.Errorf("rebase: got %v", err)
	}
	w.git("rebase", "--abort")
	if err := git.In(w.Dir).Run(t.Context(), "merge", "-q", "work"); err == nil {
		t.Fatal("the merge did not stop")
	}
	if _, err := w.m.Registry().CheckoutOf(t.Context(), "main"); err == nil || !strings.Contains(err.Error(), "a merge is not finished there") {
		t.Errorf("merge: got %v", err)
	}
	w.git("merge", "--abort")
	p := w.made("side")
	os.RemoveAll(p.Path)
	if _, err := w.m.Registry().CheckoutOf(t.Context(), "side"); err == nil {
		t.Error("a checkout that is gone is taken for one")
	}
}

// TestAdvanceThatFailsAnywhere lets each git process fail in turn, before and after its work: then EndMove, again and
// again, makes branch, index and files agree, and what is the user's is still there.
func TestAdvanceThatFailsAnywhere(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			w := newMoving(t)
			w.write("keep.txt", "changed\n")
			w.write("mine.txt", "untracked\n")
			status := w.git("status", "--porcelain")
			v := w.move()
			restore := failing(t, n, after)
			err := w.advance(v)
			failed := restore()
			if !failed {
				t.Logf("%d git processes", n-1)
				break
			}
			what := fmt.Sprintf("failure %d, after %v (%v)", n, after, err)
			var half *HalfMovedError
			if err != nil && !errors.As(err, &half) {
				w.wantAt(what, w.git("rev-parse", "main"), status)
			}
			for range 2 {
				w.finish(v)
				w.wantAt(what+", finished", w.git("rev-parse", "main"), status)
			}
		}
	}
}

// TestCutLandingIsPutBack: until the branch moves, a landing that was cut has not taken place: nothing is locked, the user can go
// on, and what is as after it is put back. What the user has, or has done since, stays.
func TestCutLandingIsPutBack(t *testing.T) {
	for _, back := range []bool{false, true} {
		for _, at := range []string{StepLocked, StepFiles, StepBranch} {
			w := newMoving(t)
			v := w.move()
			if back {
				if err := w.advance(v); err != nil {
					t.Fatal(err)
				}
				v.From, v.To = v.To, v.From
			}
			w.write("keep.txt", "changed\n")
			w.write("mine.txt", "untracked\n")
			w.write("dir/b.txt", "staged\n")
			w.git("add", "dir/b.txt")
			status := w.git("status", "--porcelain", "--untracked-files=all")
			w.cut(at, v)
			if disk.Exists(filepath.Join(w.Dir, ".git/index.lock")) {
				t.Errorf("%s: the index is locked", at)
			}
			want := v.From
			if at == StepBranch {
				want = v.To
			}
			if got := w.git("rev-parse", "main"); got != want {
				t.Errorf("%s: main is at %s", at, got)
			}
			for range 2 {
				if ended := w.finish(v); ended != nil && (ended.Moved != (at == StepBranch) || ended.Note != "") {
					t.Errorf("%s: %+v", at, ended)
				}
				w.wantAt(at, want, status)
			}
		}
	}
}

// TestCutLandingOfHandedFiles: the user's uncommitted files that a landing brings are back after one that was cut, and so they are
// after its undoing, cut or not.
func TestCutLandingOfHandedFiles(t *testing.T) {
	for _, back := range []bool{false, true} {
		for _, at := range []string{StepLocked, StepFiles, StepBranch} {
			w := newMoving(t)
			v := w.move()
			mine := map[string]string{"t/0.txt": "handed\n", "moved.txt": "handed, new\n", "keep.txt": "changed\n"}
			for name, content := range mine {
				w.write(name, content)
			}
			delete(mine, "keep.txt")
			os.Remove(filepath.Join(w.Dir, "t/2.txt"))
			earlier, err := w.m.Snapshots().TakeOf(t.Context(), *v.Checkout, "handed\n")
			if err != nil {
				t.Fatal(err)
			}
			handed, err := w.m.Moves().HandedFiles(t.Context(), *v.Checkout, v.From, v.To, earlier.Commit)
			if err != nil || handed == "" {
				t.Fatal(handed, err)
			}
			status := w.git("status", "--porcelain", "--untracked-files=all")
			v.FilesFrom, v.Refs = handed, []refs.Change{{Ref: "refs/paw/s_a/landed/1/handed", To: handed, From: refs.None}}
			want := v.To
			if !back {
				w.cut(at, v)
			} else {
				if err := w.advance(v); err != nil {
					t.Fatal(err)
				}
				v.From, v.To, v.FilesFrom, v.FilesTo, v.Refs = v.To, v.From, "", handed, nil
				w.cut(at, v)
				want = v.From
			}
			landed := back != (at == StepBranch)
			if !landed {
				want = w.from
			}
			for range 2 {
				w.finish(v)
				if landed {
					w.wantAt(fmt.Sprint(back, at), want, " M keep.txt")
					continue
				}
				w.wantAt(fmt.Sprint(back, at), want, status)
				for name, content := range mine {
					if got := readFile(t, filepath.Join(w.Dir, name)); got != content {
						t.Errorf("%v %s: %s is %q", back, at, name, got)
					}
				}
			}
			if at != StepLocked && w.git("for-each-ref", "--format=%(objectname)", "refs/paw/s_a") != handed {
				t.Errorf("%v %s: no ref keeps what was handed", back, at)
			}
		}
	}
}

// TestFolderInPlaceOfAHandedFileIsInTheWay has a file that was handed over as deleted, and where the user has made a folder since: git
// does not see files outside of a sparse checkout.
func TestFolderInPlaceOfAHandedFileIsInTheWay(t *testing.T) {
	for _, how := range []string{"whole", "sparse", "sparse, nothing lands"} {
		w, sparse := newMoving(t), how != "whole"
		if sparse {
			w.git("sparse-checkout", "set", "--cone", "t")
		}
		v := w.move()
		if how == "sparse, nothing lands" {
			v.To = w.git("commit-tree", "-m", "empty", "-p", v.From, v.From+"^{tree}")
		}
		index := []string{"GIT_INDEX_FILE=" + filepath.Join(realTemp(t), "index")}
		gitWith(t, w.Dir, index, "read-tree", v.From)
		gitWith(t, w.Dir, index, "update-index", "--force-remove", "keep.txt")
		v.FilesFrom = w.git("commit-tree", "-m", "handed", "-p", v.From, gitWith(t, w.Dir, index, "write-tree"))
		if err := os.Remove(filepath.Join(w.Dir, "keep.txt")); err != nil {
			t.Fatal(err)
		}
		w.write("keep.txt/deep/mine", "mine\n")
		err := w.advance(v)
		if hindered, ok := errors.AsType[*ObstacleError](err); !ok || !slices.Contains(hindered.Obstacles, Obstacle{"keep.txt/deep/mine", "untracked"}) {
			t.Errorf("%s: got %v", how, err)
		}
		if got := readFile(t, filepath.Join(w.Dir, "keep.txt/deep/mine")); got != "mine\n" {
			t.Errorf("%s: got %q", how, got)
		}
	}
}

// TestStagedFileWhereAHandedFolderIsStays: the user has staged a file and made a folder of it since, in which a file was handed over.
func TestStagedFileWhereAHandedFolderIsStays(t *testing.T) {
	w := newMoving(t)
	v := w.move()
	w.write("mine", "staged\n")
	w.git("add", "mine")
	if err := os.Remove(filepath.Join(w.Dir, "mine")); err != nil {
		t.Fatal(err)
	}
	w.write("mine/deep", "handed\n")
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(realTemp(t), "index")}
	gitWith(t, w.Dir, index, "read-tree", v.From)
	gitWith(t, w.Dir, index, "add", "-A")
	v.FilesFrom = w.git("commit-tree", "-m", "handed", "-p", v.From, gitWith(t, w.Dir, index, "write-tree"))
	was := w.git("ls-files", "--stage")
	err := w.advance(v)
	if hindered, ok := errors.AsType[*ObstacleError](err); !ok || !slices.Contains(hindered.Obstacles, Obstacle{"mine", "staged"}) {
		t.Errorf("got %v", err)
	}
	if now := w.git("ls-files", "--stage"); now != was {
		t.Errorf("the index is\n%s\nand was\n%s", now, was)
	}
}

// TestFileInPlaceOfOneThatIsHandedBackIsInTheWay: in a sparse checkout git writes over an untracked file.
func TestFileInPlaceOfOneThatIsHandedBackIsInTheWay(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		w := newMoving(t)
		if sparse {
			w.git("sparse-checkout", "set", "--cone", "t")
		}
		v := w.move()
		index := []string{"GIT_INDEX_FILE=" + filepath.Join(realTemp(t), "index")}
		gitWith(t, w.Dir, index, "read-tree", v.To)
		gitWith(t, w.Dir, index, "update-index", "--add", "--cacheinfo", "100644,"+w.git("rev-parse", "main:keep.txt")+",mine")
		v.FilesTo = w.git("commit-tree", "-m", "handed", "-p", v.To, gitWith(t, w.Dir, index, "write-tree"))
		w.write("mine", "mine\n")
		err := w.advance(v)
		if hindered, ok := errors.AsType[*ObstacleError](err); !ok || !slices.Contains(hindered.Obstacles, Obstacle{"mine", "untracked"}) {
			t.Errorf("sparse %v: got %v", sparse, err)
		}
		if got := readFile(t, filepath.Join(w.Dir, "mine")); got != "mine\n" {
			t.Errorf("sparse %v: got %q", sparse, got)
		}
	}
}

// TestFileBehindALinkIsNotTheLandings: where a landing was cut the user has put a link in place of a folder that came, and the same file is
// where the link leads.
func TestFileBehindALinkIsNotTheLandings(t *testing.T) {
	w := newMoving(t)
	v := w.move()
	w.cut(StepFiles, v)
	outside := realTemp(t)
	writeFile(t, filepath.Join(outside, "ü x"), "new\n")
	if err := os.RemoveAll(filepath.Join(w.Dir, "new")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(w.Dir, "new")); err != nil {
		t.Fatal(err)
	}
	if ended := w.finish(v); ended == nil || ended.Note != "" {
		t.Errorf("ended as %+v", ended)
	}
	w.wantAt("put back", w.from, "?? new")
	if got := readFile(t, filepath.Join(outside, "ü x")); got != "new\n" {
		t.Errorf("got %q", got)
	}
}

// TestLandingWhoseGitWasKilled finds what a git leaves that was killed while it wrote files: some are new, one is torn, some are
// gone and not written again, the index is the old one and its lock is left. What the user has done since stays, and is named.
func TestLandingWhoseGitWasKilled(t *testing.T) {
	w := newMoving(t)
	v := w.move()
	w.cut(StepLocked, v)
	w.write("t/0.txt", strings.Repeat("new content\n", 50)) // written
	os.Remove(filepath.Join(w.Dir, "t/1.txt"))              // removed, and its new place is not written
	os.Remove(filepath.Join(w.Dir, "t/2.txt"))              // removed
	os.RemoveAll(filepath.Join(w.Dir, "file"))              // the file is not written
	w.write("new/ü x", "")                                  // made, nothing written
	w.write("t/3.txt", "trac")                              // torn
	os.Remove(filepath.Join(w.Dir, "t/5.txt"))              // changed by the user
	w.write("t/5.txt", "mine\n")
	w.write("moved.txt", "the user's, untracked\n") // made by the user
	w.write("keep.txt", "the user's\n")             // no path of the landing
	for i := range 2 {
		ended := w.finish(v)
		if i == 0 && (ended == nil || ended.Moved || ended.Note != "moved.txt, t/5.txt are neither as before nor as after it, and stay as they are" || !strings.HasSuffix(ended.Hint, " status")) {
			t.Errorf("%+v", ended)
		}
		w.wantAt("put back", w.from, " M keep.txt\n M t/5.txt\n?? moved.txt")
		if got := readFile(t, filepath.Join(w.Dir, "moved.txt")) + readFile(t, filepath.Join(w.Dir, "t/5.txt")); got != "the user's, untracked\nmine\n" {
			t.Errorf("they became %q", got)
		}
	}
}

// TestCutLandingAndTheUserGoesOn: what the user has staged or committed since is his, also at paths of the landing.
func TestCutLandingAndTheUserGoesOn(t *testing.T) {
	w := newMoving(t)
	v := w.move()
	w.cut(StepFiles, v)
	w.write("t/3.txt", "mine\n")
	w.git("add", "t/3.txt")
	if ended := w.finish(v); ended == nil || ended.Moved || !strings.HasPrefix(ended.Note, "t/3.txt is neither") {
		t.Errorf("%+v", ended)
	}
	w.wantAt("staged", w.from, "M  t/3.txt")

	w = newMoving(t) // a file of his where a folder comes back
	v = w.move()
	v.From, v.To = w.to, w.from
	w.git("merge", "-q", "--ff-only", "work")
	w.cut(StepLocked, v)
	os.RemoveAll(filepath.Join(w.Dir, "new"))
	w.write("new", "mine\n")
	if ended := w.finish(v); ended == nil || ended.Moved || !strings.HasPrefix(ended.Note, "new/ü x is neither") || readFile(t, filepath.Join(w.Dir, "new")) != "mine\n" {
		t.Errorf("%+v", ended)
	}

	w = newMoving(t)
	v = w.move()
	w.cut(StepFiles, v)
	w.git("commit", "-q", "-m", "some of it", "--", "t/0.txt")
	on := w.git("rev-parse", "main")
	if ended := w.finish(v); ended == nil || ended.Moved || ended.Note != "" {
		t.Errorf("%+v", ended)
	}
	w.wantAt("a part of it committed", on, "")
}

// TestLockOfAnotherGitStays: a git of the user locks the index just after git has moved it; the lock stays.
func TestLockOfAnotherGitStays(t *testing.T) {
	w := newMoving(t)
	v := w.move()
	lock := filepath.Join(w.Dir, ".git/index.lock")
	restore := shimmed(t, `case "$*" in *"read-tree -m"*) "$real" "$@"; code=$?; : >'`+lock+`'; exit $code;; esac`)
	err := w.advance(v)
	restore()
	if err != nil || !disk.Exists(lock) {
		t.Errorf("the lock is there: %v, %v", disk.Exists(lock), err)
	}
	os.Remove(lock)
	w.wantAt("landed", w.to, "")
}

// TestLandingThatGitDiesIn has git die by a signal while paw goes on: all is as before, at once or, where git has left its lock,
// when the user has removed that and the landing is ended.
func TestLandingThatGitDiesIn(t *testing.T) {
	strace := needStrace(t)
	waited := false // once: it takes as long as git may have the lock
	for _, call := range []string{"rename,renameat,renameat2", "unlink,unlinkat", "openat"} {
		for n := 1; n < 60; n += 6 {
			w := newMoving(t)
			w.write("mine.txt", "untracked\n")
			v := w.move()
			restore := shimmed(t, fmt.Sprintf(`case "$*" in *"read-tree -m"*) exec %s -f -qqq -o /dev/null -e trace=%[2]s -e 'inject=%[2]s:signal=KILL:when=%[3]d' "$real" "$@";; esac`, strace, call, n))
			err := w.advance(v)
			restore()
			want := w.from
			if err == nil {
				want = w.to
			}
			if lock := filepath.Join(w.Dir, ".git/index.lock"); disk.Exists(lock) {
				if !waited {
					if _, err := w.m.Moves().EndMove(t.Context(), *v.Checkout); !errors.As(err, new(*IndexLockedError)) {
						t.Errorf("%s %d: ended with the lock: %v", call, n, err)
					}
				}
				waited = true
				os.Remove(lock)
				w.finish(v)
			}
			w.wantAt(fmt.Sprintf("%s %d: %v", call, n, err), want, "?? mine.txt")
		}
	}
}

// TestMoveTookPlaceWhereverTheBranchWentOn: a branch that somebody has moved on since a move was cut short tells by its history
// whether the move came first, forwards (paw update) and backwards (paw rewind).
func TestMoveTookPlaceWhereverTheBranchWentOn(t *testing.T) {
	w := newMoving(t)
	on := func(parent string) string {
		return w.git("commit-tree", "-p", parent, "-m", "on "+parent, parent+"^{tree}")
	}
	older, newer := w.from, w.to
	other := w.git("commit-tree", "-m", "other", older+"^{tree}")
	for _, c := range []struct {
		name, from, to, head string
		want                 bool
	}{
		{"there", older, newer, newer, true},
		{"not begun", older, newer, older, false},
		{"unborn", older, newer, "", false},
		{"forwards, then on", older, newer, on(newer), true},
		{"not forwards, but on", older, newer, on(older), false},
		{"backwards, then on", newer, older, on(older), true},
		{"not backwards, but on", newer, older, on(newer), false},
		{"elsewhere", older, newer, other, false},
		{"to another history, then on", older, other, on(other), true},
		{"not to another history, but on", other, older, on(other), false},
	} {
		if took, err := w.m.Moves().reached(t.Context(), c.head, &journal.Journal{From: c.from, To: c.to}); err != nil || took != c.want {
			t.Errorf("%s: %v, %v", c.name, took, err)
		}
	}
}

// TestEndMoveWhateverTheBranchIsCalled: a landing has taken place also where the user has renamed the branch since, or left it at
// the same commit.
func TestEndMoveWhateverTheBranchIsCalled(t *testing.T) {
	for name, do := range map[string][]string{
		"renamed":  {"branch", "-m", "main", "trunk"},
		"detached": {"update-ref", "--no-deref", "HEAD", "HEAD"},
	} {
		w := newMoving(t)
		v := w.move()
		w.cut(StepBranch, v)
		w.git(do...)
		if ended := w.finish(v); ended == nil || !ended.Moved || ended.Note != "" {
			t.Errorf("%s: %+v", name, ended)
		}
		if got := w.git("rev-parse", "HEAD"); got != w.to || w.git("status", "--porcelain") != "" {
			t.Errorf("%s: HEAD is at %s, status says\n%s", name, got, w.git("status", "--porcelain"))
		}
		if at, err := w.m.Refs().Reached(t.Context(), "main", w.to); err != nil || at != map[string]string{"renamed": "trunk", "detached": "main"}[name] {
			t.Errorf("%s: it is in %q, %v", name, at, err)
		}
	}
}

// TestAdvanceWhoseFilterFails: git has written some files when it cannot write the next one; then all is as before.
func TestAdvanceWhoseFilterFails(t *testing.T) {
	w := newMoving(t)
	w.write(".git/info/attributes", "moved.txt filter=broken\n")
	w.git("config", "filter.broken.smudge", "exit 1")
	w.git("config", "filter.broken.required", "true")
	v := w.move()
	err := w.advance(v)
	if err == nil || git.ExitCode(err) < 0 {
		t.Errorf("got %v", err)
	}
	w.wantAt("after a failed filter", w.from, "")
}
