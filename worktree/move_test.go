package worktree

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/journal"
	"paw/worktree/refs"
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

// begun leaves what a move has that was killed once its journal was open.
func (w *moving) begun(v Move) {
	w.t.Helper()
	at, err := w.m.Moves().lockPlace(w.t.Context(), *v.Checkout)
	if err != nil {
		w.t.Fatal(err)
	}
	defer at.release()
	_, hides, err := w.m.Moves().obstacles(w.t.Context(), *v.Checkout, v.From, v.To, "", "")
	if err != nil {
		w.t.Fatal(err)
	}
	j := &journal.Journal{Command: "paw land", Ref: "refs/heads/main", Rescue: "refs/paw/rescue/of", From: v.From, To: v.To, Was: v.From, Becomes: v.To, Absent: hides.absent, Assumed: hides.staying(hides.assumed)}
	if _, err := w.m.Moves().begin(w.t.Context(), at, j, func() error { return nil }); err != nil {
		w.t.Fatal(err)
	}
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
	left, _ := filepath.Glob(filepath.Join(admin, moveScratch+"*"))
	if journal.Left(admin) || disk.Exists(filepath.Join(admin, "index.lock")) || disk.Exists(filepath.Join(admin, journal.IndexFile)) || len(left) > 0 {
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
		}, "t/0.txt (changed)"},
		"skip-worktree": {func(w *moving) {
			w.git("update-index", "--skip-worktree", "t/0.txt")
			w.write("t/0.txt", "mine\n")
		}, "t/0.txt (changed)"},
		"untracked files not shown": {func(w *moving) {
			w.git("config", "status.showUntrackedFiles", "no")
			w.write("moved.txt", "mine\n")
		}, "moved.txt (untracked)"},
		"names that differ in case": {func(w *moving) {
			w.git("switch", "-q", "work")
			w.write("KEEP.txt", "another\n")
			w.to = w.commit("case")
			w.git("switch", "-q", "main")
			w.git("config", "core.ignorecase", "true")
		}, "KEEP.txt (same name but for case)"},
		"link to a folder where one comes": {func(w *moving) { os.Symlink("dir", filepath.Join(w.Dir, "new")) }, "new (untracked)"},
		"a repository where a folder comes": {func(w *moving) {
			w.git("init", "-q", "new")
		}, "new (ignored)"},
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

// TestEndMoveAfterAKilledGit finds what a git leaves that was killed while it wrote files: some are new, one is torn,
// some are gone and not written again, the index is the old one and its lock is left. What the user has done since stays.
func TestEndMoveAfterAKilledGit(t *testing.T) {
	for _, forward := range []bool{true, false} {
		w := newMoving(t)
		v := w.move()
		w.begun(v)
		w.git("update-ref", "refs/heads/main", w.to)
		if !forward { // the branch was put back already, the files were not
			w.git("update-ref", "refs/heads/main", w.from)
		}
		os.MkdirAll(filepath.Join(w.Dir, ".git", moveScratch+"1"), 0o755)
		w.write("t/0.txt", "new content\nnew con")      // torn
		os.Remove(filepath.Join(w.Dir, "t/1.txt"))      // removed, and its new place is not written
		os.Remove(filepath.Join(w.Dir, "t/2.txt"))      // removed
		os.RemoveAll(filepath.Join(w.Dir, "file"))      // the file is not written
		w.write("new/ü x", "")                          // made, nothing written
		w.write("t/3.txt", "the user's since then\n")   // changed by the user
		w.write("moved.txt", "the user's, untracked\n") // made by the user
		for range 2 {
			ended := w.finish(v)
			if ended != nil && (ended.Moved != forward || ended.Note != "") {
				t.Errorf("forward %v: %+v", forward, ended)
			}
			if forward {
				w.wantAt("forward", w.to, " M moved.txt\n M t/3.txt")
			} else {
				w.wantAt("back", w.from, " M t/3.txt\n?? moved.txt")
			}
			if got := readFile(t, filepath.Join(w.Dir, "moved.txt")); got != "the user's, untracked\n" {
				t.Errorf("moved.txt became %q", got)
			}
		}
	}
}

// TestEndMoveLeavesWhatTheUserDidSince: the user has removed the lock, and gone on.
func TestEndMoveLeavesWhatTheUserDidSince(t *testing.T) {
	lock := ".git/index.lock"
	w := newMoving(t)
	v := w.move()
	w.begun(v)
	w.git("update-ref", "refs/heads/main", w.to)
	os.Remove(filepath.Join(w.Dir, lock))
	w.write("t/3.txt", "mine\n")
	w.git("add", "t/3.txt")
	status := w.git("status", "--porcelain", "--untracked-files=all")
	ended := w.finish(v)
	if ended == nil || !ended.Moved || !strings.Contains(ended.Note, "changed since") || !strings.Contains(ended.Hint, " restore --staged --worktree -- ") || strings.Contains(ended.Hint, "t/3.txt") {
		t.Errorf("%+v", ended)
	}
	w.wantAt("staged", w.to, status)
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", ended.Hint).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", ended.Hint, err, out)
	}
	w.wantAt("restored", w.to, "M  t/3.txt")

	w = newMoving(t)
	v = w.move()
	w.begun(v)
	w.git("update-ref", "refs/heads/main", w.to)
	os.Remove(filepath.Join(w.Dir, lock))
	w.git("commit", "-q", "--allow-empty", "-m", "on top")
	on := w.git("rev-parse", "main")
	if ended := w.finish(v); ended == nil || ended.Note == "" {
		t.Errorf("a branch that has gone on: %+v", ended)
	}
	if got := w.git("rev-parse", "main"); got != on || journal.Left(filepath.Join(w.Dir, ".git")) {
		t.Errorf("main is at %s", got)
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

	v := w.move()
	w.begun(v)
	w.git("update-ref", "refs/heads/main", on(w.to))
	w.finish(v)
	if _, err := os.Stat(filepath.Join(w.Dir, ".git", journal.DoneFile)); err != nil {
		t.Errorf("gone on, and ended: %v", err)
	}
}

// TestEndMoveWhateverTheBranchIsCalled: files and index agree with HEAD, also where the user has renamed the branch or left it
// at the same commit.
func TestEndMoveWhateverTheBranchIsCalled(t *testing.T) {
	for name, do := range map[string][]string{
		"renamed":  {"branch", "-m", "main", "trunk"},
		"detached": {"update-ref", "--no-deref", "HEAD", "HEAD"},
	} {
		w := newMoving(t)
		v := w.move()
		w.begun(v)
		w.git("update-ref", "refs/heads/main", w.to)
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
