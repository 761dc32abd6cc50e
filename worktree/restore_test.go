package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// lose removes the directory of a worktree behind git's back.
func lose(t *testing.T, p Plan) {
	t.Helper()
	if err := os.RemoveAll(p.Path); err != nil {
		t.Fatal(err)
	}
}

func (w *world) restored(p Plan) string {
	w.t.Helper()
	ref, err := w.m.Restore(w.t.Context(), p, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return ref
}

func (w *world) notRestored(p Plan, text, hint string) {
	w.t.Helper()
	_, err := w.m.Restore(w.t.Context(), p, nil)
	var refused *git.ConflictError
	if !errors.As(err, &refused) || !strings.Contains(refused.What, text) || refused.Hint != hint {
		w.t.Errorf("got %v (%+v), want %q", err, refused, text)
	}
}

// TestHalfMadeIsWhatNothingRanIn tells a worktree in whose checkout paw was killed from one that the user made again.
func TestHalfMadeIsWhatNothingRanIn(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	admin := filepath.Join(w.m.Repository.CommonDir, "worktrees", "agent")
	check := func(what string, want bool) {
		t.Helper()
		if got := w.m.HalfMade(p.Path); got != want {
			t.Errorf("%s: half made is %t", what, got)
		}
		var wrong *gitdir.MismatchError
		if err := gitdir.Verify(p.Path, w.m.Repository.CommonDir, ""); errors.As(err, &wrong) != want {
			t.Errorf("%s: got %v", what, err)
		}
	}
	check("whole", false)
	for _, file := range []string{gitdir.FilledMark(admin), filepath.Join(admin, "index"), gitdir.FillingLock(admin)} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		check("without "+filepath.Base(file), true)
	}
	writeFile(t, filepath.Join(p.Path, "a.txt"), "a file of the checkout that was cut short\n")
	w.restored(p)
	w.whole(p)
	check("restored", false)
	gitIn(t, w.Dir, "worktree", "remove", "-f", "-f", p.Path)
	gitIn(t, w.Dir, "worktree", "add", "-q", p.Path, p.Branch)
	check("made again by the user", false)
}

func TestRestoreMakesTheWorktreeAgainFromItsBranch(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(p.Path, "work"), "done\n")
	gitIn(t, p.Path, "add", "work")
	gitIn(t, p.Path, "commit", "-qm", "work")
	lose(t, p)
	if ref := w.restored(p); ref != "" {
		t.Errorf("kept %s", ref)
	}
	w.whole(p)
	if got := readFile(t, filepath.Join(p.Path, "work")); got != "done\n" {
		t.Errorf("got %q", got)
	}
	w.healthy(2)
	if kept, _ := filepath.Glob(filepath.Join(w.m.Trash().dir(), "*", "agent", "HEAD")); len(kept) != 1 {
		t.Error("the old git directory is not in the trash")
	}
}

func TestRestoreWhereAnEmptyFolderIsLeft(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	lose(t, p)
	os.MkdirAll(p.Path, 0o755)
	w.restored(p)
	w.whole(p)
}

func TestRestoreKeepsTheOldIndex(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(p.Path, "staged"), "precious\n")
	gitIn(t, p.Path, "add", "staged")
	lose(t, p)
	ref := w.restored(p)
	if !strings.HasPrefix(ref, "refs/paw/s_agent/rescue/") {
		t.Fatalf("kept %q", ref)
	}
	w.git("gc", "--quiet", "--prune=now")
	if got := w.git("show", ref+":staged"); got != "precious" {
		t.Errorf("got %q", got)
	}
	w.whole(p)
}

func TestRestoreKeepsDetachedHead(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	gitIn(t, p.Path, "checkout", "-q", "--detach")
	gitIn(t, p.Path, "commit", "-q", "--allow-empty", "-m", "loose")
	loose := gitIn(t, p.Path, "rev-parse", "HEAD")
	lose(t, p)
	if ref := w.restored(p); w.git("rev-parse", ref) != loose {
		t.Errorf("kept %q", ref)
	}
	w.whole(p)
}

func TestRestoreKeepsBothSidesOfConflict(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	w.write("a.txt", "main\n")
	w.commit("main")
	writeFile(t, filepath.Join(p.Path, "a.txt"), "agent\n")
	gitIn(t, p.Path, "commit", "-qam", "agent")
	writeFile(t, filepath.Join(p.Path, "staged"), "x\n")
	gitIn(t, p.Path, "add", "staged")
	gitIn(t, p.Path, "commit", "-qm", "staged")
	gitIn(t, p.Path, "checkout", "-q", "--detach")
	gitIn(t, p.Path, "commit", "-q", "--allow-empty", "-m", "loose")
	if git.In(p.Path).Run(t.Context(), "merge", "main") == nil {
		t.Fatal("no conflict")
	}
	writeFile(t, filepath.Join(p.Path, "during"), "precious\n")
	gitIn(t, p.Path, "add", "during")
	lose(t, p)
	ref := w.restored(p)
	if got := w.git("show", ref+":during"); got != "precious" {
		t.Errorf("during is %q", got)
	}
	if got := w.git("show", ref+":a.txt"); got != "agent" {
		t.Errorf("a.txt is %q", got)
	}
	w.whole(p)
}

func TestRestoreSurvivesBrokenIndex(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(w.m.Repository.CommonDir, "worktrees/agent/index"), "garbage")
	lose(t, p)
	w.restored(p)
	w.whole(p)
}

func TestRestoreLeavesHealthyWorktreeAlone(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(p.Path, "new"), "work\n")
	before := tree(t, p.Path)
	w.restored(p)
	if diff := cmp.Diff(before, tree(t, p.Path)); diff != "" {
		t.Error(diff)
	}
}

func TestRestoreRefusesMissingBranchAndNamesItsLastCommit(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	gitIn(t, p.Path, "commit", "-q", "--allow-empty", "-m", "work")
	last := gitIn(t, p.Path, "rev-parse", "HEAD")
	lose(t, p)
	w.git("update-ref", "-d", "refs/heads/agent")
	w.notRestored(p, "branch agent: does not exist any more", "git branch agent "+last)
	w.git("branch", "agent", last)
	w.restored(p)
	w.whole(p)
}

func TestLastHeadOfABranchThatIsGone(t *testing.T) {
	for what, from := range map[string]func(w *world, p Plan) string{
		"deleted from outside": func(w *world, _ Plan) string { return w.Dir },
		"deleted from inside":  func(_ *world, p Plan) string { return p.Path },
	} {
		w := newWorld(t)
		p := w.made("agent")
		gitIn(t, p.Path, "commit", "-q", "--allow-empty", "-m", "work")
		last := gitIn(t, p.Path, "rev-parse", "HEAD")
		gitIn(t, from(w, p), "update-ref", "-d", "refs/heads/agent")
		entries, err := w.m.Registry().List(t.Context())
		if err != nil || len(entries) != 2 {
			t.Fatalf("%s: %+v, %v", what, entries, err)
		}
		if got := entries[1].LastHead(); got != last {
			t.Errorf("%s: got %q, want %s", what, got, last)
		}
		if _, err := os.Stat(filepath.Join(entries[1].AdminDir, "logs", "HEAD")); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestRestoreRefusesBranchCheckedOutElsewhere(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	lose(t, p)
	elsewhere := filepath.Join(w.Side, "elsewhere")
	w.git("worktree", "add", "-q", "--force", elsewhere, "agent")
	w.notRestored(p, "checked out at "+elsewhere, "")
	if entries, _ := w.m.Registry().List(t.Context()); len(entries) != 3 {
		t.Errorf("the registry changed: %+v", entries)
	}
}

func TestRestoreRefusesForeignDirectory(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	lose(t, p)
	writeFile(t, filepath.Join(p.Path, "foreign"), "x\n")
	w.notRestored(p, "not empty", "ls -la '"+p.Path+"'")
	if got := readFile(t, filepath.Join(p.Path, "foreign")); got != "x\n" {
		t.Errorf("got %q", got)
	}
}

func TestCreateDoesNotThrowAwayIndexOfLostWorktree(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(p.Path, "staged"), "precious\n")
	gitIn(t, p.Path, "add", "staged")
	lose(t, p)
	if _, err := w.m.Create(t.Context(), []Plan{p}, nil); err != nil {
		t.Fatal(err)
	}
	ref := w.git("for-each-ref", "--format=%(refname)", "refs/paw/s_agent/rescue")
	if got := w.git("show", ref+":staged"); got != "precious" {
		t.Errorf("got %q", got)
	}
}

func TestLockKeepsRegistrationOfAbsentDiskFromPrune(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(p.Path, "new"), "work\n")
	away := p.Path + ".away"
	os.Rename(p.Path, away)
	w.git("worktree", "prune", "--expire=now")
	os.Rename(away, p.Path)
	if got := gitIn(t, p.Path, "status", "--porcelain"); got != "?? new" {
		t.Errorf("status says %q", got)
	}
}

func TestDeleteBranchOnlyWhenMergedAndFree(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	ctx := t.Context()
	var refused *git.ConflictError
	deleted := func(tip string) error {
		return w.m.DeleteBranches(ctx, map[string]string{"agent": tip}, "main")["agent"]
	}
	if err := deleted(w.base); !errors.As(err, &refused) {
		t.Errorf("checked out: %v", err)
	}
	gitIn(t, p.Path, "commit", "-q", "--allow-empty", "-m", "work")
	head := gitIn(t, p.Path, "rev-parse", "HEAD")
	if _, err := w.m.Remove(ctx, p, Seen{}); err != nil {
		t.Fatal(err)
	}
	if err := deleted(head); !errors.Is(err, ErrNotMerged) {
		t.Errorf("not merged: %v", err)
	}
	w.git("merge", "-q", "agent")
	if err := deleted(w.base); !errors.As(err, &refused) {
		t.Errorf("moved: %v", err)
	}
	for range 2 {
		if err := deleted(head); err != nil {
			t.Errorf("merged: %v", err)
		}
	}
	w.noLeftover("main")
}

func TestInitMakesRepositoryOfEmptyFolder(t *testing.T) {
	dir := realTemp(t)
	if err := Init(t.Context(), dir, "afk: session x initialized"); err != nil {
		t.Fatal(err)
	}
	if got := gitIn(t, dir, "log", "--format=%s"); got != "afk: session x initialized" {
		t.Errorf("got %q", got)
	}
	var full *NotEmptyError
	if err := Init(t.Context(), dir, "again"); !errors.As(err, &full) {
		t.Errorf("got %v", err)
	}
}

func TestInitContinuesItsOwnAttempt(t *testing.T) {
	dir := realTemp(t)
	gitIn(t, dir, "init", "-q")
	if err := Init(t.Context(), dir, "first"); err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "rev-parse", "HEAD")
}

func TestInitWithoutUserIdentity(t *testing.T) {
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	config := filepath.Join(realTemp(t), "config")
	writeFile(t, config, "[user]\n\tuseConfigOnly = true\n")
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	if err := Init(t.Context(), realTemp(t), "first"); err != nil {
		t.Error(err)
	}
}

func TestInitWithoutAKeyToSignWith(t *testing.T) {
	config := filepath.Join(realTemp(t), "config")
	writeFile(t, config, "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n")
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	if err := Init(t.Context(), realTemp(t), "first"); err != nil {
		t.Error(err)
	}
}

func TestInitThatFailsLeavesNothing(t *testing.T) {
	dir := realTemp(t)
	shimmed(t, `case "$*" in *commit*) exit 1;; esac`)
	if err := Init(t.Context(), dir, "first"); err == nil || disk.Exists(filepath.Join(dir, ".git")) {
		t.Errorf("got %v", err)
	}
}

func TestInitRefusesFolderWithFiles(t *testing.T) {
	dir := realTemp(t)
	writeFile(t, filepath.Join(dir, "mine"), "x")
	var full *NotEmptyError
	if err := Init(t.Context(), dir, "m"); !errors.As(err, &full) || disk.Exists(filepath.Join(dir, ".git")) {
		t.Errorf("got %v", err)
	}
	if (git.Repo{Dir: dir}).Run(t.Context(), "rev-parse") == nil {
		t.Error("it is a repository now")
	}
}

func TestUninitTakesBackOnlyWhatInitMade(t *testing.T) {
	for name, change := range map[string]func(dir string){
		"":                 func(string) {},
		"a file":           func(dir string) { writeFile(t, filepath.Join(dir, "mine"), "x") },
		"a commit":         func(dir string) { gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "mine") },
		"a commit of old":  func(dir string) { gitIn(t, dir, "commit", "-q", "--amend", "--allow-empty", "-m", "mine") },
		"another worktree": func(dir string) { gitIn(t, dir, "worktree", "add", "-q", "--detach", filepath.Join(realTemp(t), "w")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := realTemp(t)
			if err := Init(t.Context(), dir, "m"); err != nil {
				t.Fatal(err)
			}
			change(dir)
			err := Uninit(t.Context(), dir)
			var full *NotEmptyError
			if kept := name != ""; kept != errors.As(err, &full) || kept != disk.Exists(filepath.Join(dir, ".git")) {
				t.Errorf("%v", err)
			}
		})
	}
}
