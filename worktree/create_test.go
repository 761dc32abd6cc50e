package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paw/config/disk"
	"paw/worktree/gitdir"
	"paw/worktree/gittest"

	"github.com/google/go-cmp/cmp"
)

// TestCreateMakesItsRefsWithHooks has a hook of the repository refuse some refs: tags are made
// nevertheless, since they are paw's own business; branches are not, and then nothing is.
func TestCreateMakesItsRefsWithHooks(t *testing.T) {
	for refused, made := range map[string]bool{"refs/nothing/*": true, "refs/tags/*": true, "refs/heads/*": false} {
		w := newWorld(t)
		hook := filepath.Join(w.Dir, ".git", "hooks", "reference-transaction")
		writeFile(t, hook, "#!/bin/sh\nwhile read old new ref; do case $ref in "+refused+") exit 1;; esac; done\n")
		if err := os.Chmod(hook, 0o755); err != nil {
			t.Fatal(err)
		}
		p := w.plan("a")
		p.Refs = map[string]string{"refs/tags/start": w.base}
		_, err := w.m.Create(t.Context(), []Plan{p}, nil)
		if made != (err == nil) {
			t.Errorf("%s are refused: %v", refused, err)
		}
		found := w.Git("for-each-ref", "--format=%(refname)", "refs/tags/start", "refs/heads/a")
		if want := map[bool]string{true: "refs/heads/a\nrefs/tags/start", false: ""}[made]; found != want {
			t.Errorf("%s are refused: refs are %q", refused, found)
		}
	}
}

func TestCreateMakesLockedWorktreesOnNewBranches(t *testing.T) {
	w := newWorld(t)
	plans := []Plan{w.plan("a"), w.plan("b"), w.plan("c")}
	var steps []string
	made, err := w.m.Create(t.Context(), plans, func(name string) { steps = append(steps, name) })
	if err != nil {
		t.Fatal(err)
	}
	want := []Made{{Agent: "a", BranchCreated: true}, {Agent: "b", BranchCreated: true}, {Agent: "c", BranchCreated: true}}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if want := []string{StepBranches, StepAdded, StepAdded, StepAdded, StepFilled, StepFilled, StepFilled}; !slices.Equal(steps, want) {
		t.Errorf("steps were %q", steps)
	}
	for _, p := range plans {
		w.whole(p)
		if got := readFile(t, filepath.Join(p.Path, "dir/b.txt")); got != "two\n" {
			t.Errorf("got %q", got)
		}
	}
	w.healthy(4)
}

// afterFirst is a git that adds the worktree b once the files of a are there.
const afterFirst = `case "$*" in *"worktree add"*/b" "*)
	for i in $(seq 1000); do [ -e "$SIDE/a/dir/b.txt" ] && break; sleep 0.01; done
	[ -e "$SIDE/a/dir/b.txt" ] || exit 1;; esac`

func TestCreateFillsWhileItRegisters(t *testing.T) {
	w := newWorld(t)
	t.Setenv("SIDE", filepath.Dir(w.plan("a").Path))
	shimmed(t, afterFirst)
	made, err := w.m.Create(t.Context(), []Plan{w.plan("a"), w.plan("b")}, nil)
	if err != nil || len(made) != 2 {
		t.Fatalf("got %+v, %v", made, err)
	}
	w.whole(w.plan("a"))
	w.whole(w.plan("b"))
}

func TestCreateTakesBackWhatItFilledWhileItRegistered(t *testing.T) {
	w := newWorld(t)
	t.Setenv("SIDE", filepath.Dir(w.plan("a").Path))
	mark := filepath.Join(realTemp(t), "filled")
	t.Setenv("MARK", mark)
	restore := shimmed(t, strings.Replace(afterFirst, "|| exit 1;;", "&& touch \"$MARK\"; exit 1;;", 1))
	made, err := w.m.Create(t.Context(), []Plan{w.plan("a"), w.plan("b")}, nil)
	restore()
	if err == nil || len(made) != 0 || !disk.Exists(mark) {
		t.Fatalf("got %+v, %v", made, err)
	}
	w.noLeftover("main")
}

func TestCreateUsesExistingBranch(t *testing.T) {
	w := newWorld(t)
	w.git("branch", "work")
	w.commit("second")
	p := w.plan("work")
	p.CreateBranch, p.Base = false, ""
	made, err := w.m.Create(t.Context(), []Plan{p}, nil)
	if err != nil || made[0].BranchCreated {
		t.Fatalf("got %+v, %v", made, err)
	}
	w.whole(p)
}

func TestCreateFromRemoteBranchWritesNoTracking(t *testing.T) {
	w := newWorld(t)
	clone := filepath.Join(realTemp(t), "clone")
	w.git("clone", "-q", w.Dir, clone)
	c := &world{World: &gittest.World{T: t, Dir: clone, Side: clone + ".paw"}, t: t}
	c.open()
	c.git("config", "branch.autoSetupMerge", "always")
	before := readFile(t, filepath.Join(clone, ".git/config"))
	base, err := c.m.Refs().Head(t.Context(), "origin/main")
	if err != nil {
		t.Fatal(err)
	}
	p := c.plan("agent")
	p.Base = base
	if _, err := c.m.Create(t.Context(), []Plan{p}, nil); err != nil {
		t.Fatal(err)
	}
	if after := readFile(t, filepath.Join(clone, ".git/config")); after != before {
		t.Errorf("the configuration changed to\n%s", after)
	}
}

func TestCreateUnderForeignGitVariables(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	before := tree(t, other.Dir)
	t.Setenv("GIT_DIR", filepath.Join(other.Dir, ".git"))
	t.Setenv("GIT_WORK_TREE", other.Dir)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other.Dir, ".git/index"))
	w.whole(w.made("agent"))
	if diff := cmp.Diff(before, tree(t, other.Dir)); diff != "" {
		t.Errorf("the other repository changed:\n%s", diff)
	}
	if got := w.git("status", "--porcelain"); got != "" {
		t.Errorf("main is changed: %s", got)
	}
}

func TestCreateInStrangePaths(t *testing.T) {
	for _, name := range []string{"with space", "ünï", "#{x}", "-dash", "quo'te\"s", "$HOME;x"} {
		t.Run(name, func(t *testing.T) {
			w := newWorldAt(t, filepath.Join(realTemp(t), name))
			p := w.plan("agent")
			p.Path = filepath.Join(w.Side, name)
			if _, err := w.m.Create(t.Context(), []Plan{p}, nil); err != nil {
				t.Fatal(err)
			}
			w.whole(p)
		})
	}
}

func TestCreateThroughSymbolicLinks(t *testing.T) {
	w := newWorld(t)
	dir := realTemp(t)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Dir(w.Dir), link); err != nil {
		t.Fatal(err)
	}
	p := w.plan("agent")
	p.Path = filepath.Join(link, "repo.paw", "agent")
	if _, err := w.m.Create(t.Context(), []Plan{p}, nil); err != nil {
		t.Fatal(err)
	}
	w.whole(p)
	again, err := w.m.Create(t.Context(), []Plan{p}, nil)
	if err != nil || !again[0].Existed {
		t.Errorf("got %+v, %v", again, err)
	}
}

func TestCreateInBareRepository(t *testing.T) {
	w := newWorld(t)
	dir := realTemp(t)
	w.git("clone", "-q", "--bare", w.Dir, filepath.Join(dir, "b.git"))
	m := &Manager{Repository: discovered(t, filepath.Join(dir, "b.git"))}
	p := w.plan("agent")
	p.Path = filepath.Join(dir, "agent")
	if _, err := m.Create(t.Context(), []Plan{p}, nil); err != nil {
		t.Fatal(err)
	}
	if err := gitdir.Verify(p.Path, m.Repository.CommonDir, "agent"); err != nil {
		t.Error(err)
	}
	if got := gitIn(t, p.Path, "status", "--porcelain"); got != "" {
		t.Error(got)
	}
}

func TestCreateRunsHookAndWarnsWhenItFails(t *testing.T) {
	w := newWorld(t)
	w.hook("post-checkout", `echo "$PWD $3" >>"`+w.Dir+`/../hook.log"; echo no luck >&2; exit 1`)
	p := w.plan("agent")
	made, err := w.m.Create(t.Context(), []Plan{p}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "post-checkout hook failed: no luck"; made[0].Warning != want {
		t.Errorf("warning is %q", made[0].Warning)
	}
	if got := readFile(t, filepath.Join(w.Dir, "../hook.log")); got != p.Path+" 1\n" {
		t.Errorf("hook ran as %q", got)
	}
	w.whole(p)
}

func TestCreateAppliesFilters(t *testing.T) {
	w := newWorld(t)
	w.git("config", "filter.up.smudge", "tr a-z A-Z")
	w.git("config", "filter.up.clean", "tr A-Z a-z")
	w.write(".gitattributes", "*.up filter=up\n")
	w.write("x.up", "loud\n")
	w.commit("filtered")
	p := w.made("agent")
	if got := readFile(t, filepath.Join(p.Path, "x.up")); got != "LOUD\n" {
		t.Errorf("got %q", got)
	}
	w.whole(p)
}

// TestCreateTakesFailedCheckoutBack: all but a branch that was there before.
func TestCreateTakesFailedCheckoutBack(t *testing.T) {
	for _, own := range []bool{true, false} {
		w := newWorld(t)
		w.write(".gitattributes", "*.bad filter=bad\n")
		w.write("z.bad", "x\n")
		w.commit("filtered")
		w.git("config", "filter.bad.smudge", "exit 3")
		w.git("config", "filter.bad.required", "true")
		p, left := w.plan("agent"), []string{"main"}
		if p.CreateBranch = own; !own {
			w.git("branch", "agent")
			left = []string{"agent", "main"}
		}
		made, err := w.m.Create(t.Context(), []Plan{p}, nil)
		if err == nil || len(made) != 0 || !strings.Contains(err.Error(), "smudge filter bad failed") {
			t.Fatalf("got %+v, %v", made, err)
		}
		w.noLeftover(left...)
	}
}

func TestCreateNeverOverwritesFileThatAppears(t *testing.T) {
	w := newWorld(t)
	writeFile(t, filepath.Join(w.Dir, ".git/info/exclude"), "a.txt\n") // git would replace an ignored one
	p := w.plan("agent")
	_, err := w.m.Create(t.Context(), []Plan{p}, func(name string) {
		if name == StepAdded {
			writeFile(t, filepath.Join(p.Path, "a.txt"), "precious\n")
		}
	})
	if err == nil || !strings.Contains(err.Error(), "a.txt") {
		t.Fatalf("got %v", err)
	}
	found, _ := filepath.Glob(filepath.Join(w.m.Trash().dir(), "*", "agent", "a.txt"))
	if len(found) != 1 || readFile(t, found[0]) != "precious\n" {
		t.Errorf("the file is not in the trash: %q", found)
	}
}

func TestCreateAgainFindsWhatIsThere(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(p.Path, "new"), "work\n")
	writeFile(t, filepath.Join(p.Path, "a.txt"), "changed\n")
	gitIn(t, p.Path, "switch", "-q", "-c", "elsewhere")
	before := tree(t, p.Path)
	if err := w.m.Check(t.Context(), []Plan{p}); err != nil {
		t.Error(err)
	}
	made, err := w.m.Create(t.Context(), []Plan{p}, nil)
	if err != nil || len(made) != 1 || !made[0].Existed {
		t.Fatalf("got %+v, %v", made, err)
	}
	if diff := cmp.Diff(before, tree(t, p.Path)); diff != "" {
		t.Errorf("the worktree changed:\n%s", diff)
	}
	if err := w.m.Rollback(t.Context(), []Plan{p}, made); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, tree(t, p.Path)); diff != "" {
		t.Errorf("rollback touched a worktree in use:\n%s", diff)
	}
}

func TestVerifyRefusesWorktreeWithoutGitFile(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	if err := os.Remove(filepath.Join(p.Path, ".git")); err != nil {
		t.Fatal(err)
	}
	var mismatch *gitdir.MismatchError
	if err := gitdir.Verify(p.Path, w.m.Repository.CommonDir, ""); !errors.As(err, &mismatch) || mismatch.What != "directory" {
		t.Errorf("got %v", err)
	}
}

func TestVerifyRefusesOtherBranchAndOtherRepository(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	p := w.made("agent")
	for _, c := range []struct{ common, branch, what string }{
		{w.m.Repository.CommonDir, "main", "branch"},
		{other.m.Repository.CommonDir, "agent", "repository"},
	} {
		var mismatch *gitdir.MismatchError
		if err := gitdir.Verify(p.Path, c.common, c.branch); !errors.As(err, &mismatch) || mismatch.What != c.what {
			t.Errorf("got %v, want %s", err, c.what)
		}
	}
	var mismatch *gitdir.MismatchError
	if err := gitdir.Verify(w.Dir, w.m.Repository.CommonDir, "main"); !errors.As(err, &mismatch) {
		t.Errorf("the main worktree passed: %v", err)
	}
}

func TestRollbackRemovesUnusedWorktreesAndTheirBranches(t *testing.T) {
	w := newWorld(t)
	w.git("branch", "old")
	plans := []Plan{w.plan("new"), w.plan("old")}
	plans[1].CreateBranch = false
	made, err := w.m.Create(t.Context(), plans, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.m.Rollback(t.Context(), plans, made); err != nil {
		t.Fatal(err)
	}
	w.noLeftover("main", "old")
}

func TestRollbackKeepsWhatWasUsed(t *testing.T) {
	w := newWorld(t)
	plans := []Plan{w.plan("dirty"), w.plan("ahead"), w.plan("clean")}
	made, err := w.m.Create(t.Context(), plans, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.git("config", "status.showUntrackedFiles", "no")
	writeFile(t, filepath.Join(plans[0].Path, "new"), "work\n")
	gitIn(t, plans[1].Path, "commit", "-q", "--allow-empty", "-m", "work")
	err = w.m.Rollback(t.Context(), plans, made)
	if err == nil || !strings.Contains(err.Error(), plans[0].Path) || !strings.Contains(err.Error(), "branch ahead: moved on") {
		t.Errorf("got %v", err)
	}
	if got := readFile(t, filepath.Join(plans[0].Path, "new")); got != "work\n" {
		t.Errorf("got %q", got)
	}
	if want := []string{"ahead", "dirty", "main"}; !slices.Equal(w.branches(), want) {
		t.Errorf("branches are %q", w.branches())
	}
	w.healthy(2)
}
