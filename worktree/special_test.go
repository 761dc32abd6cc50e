package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gittest"
)

func TestCreateInShallowClone(t *testing.T) {
	w := newWorld(t)
	w.commit("second")
	clone := filepath.Join(realTemp(t), "clone")
	w.git("clone", "-q", "--depth=1", "file://"+w.Dir, clone)
	c := &world{World: &gittest.World{T: t, Dir: clone, Side: clone + ".paw"}, t: t}
	c.open()
	c.whole(c.made("agent"))
}

func TestCreateInSparseCheckout(t *testing.T) {
	w := newWorld(t)
	w.git("sparse-checkout", "set", "--cone", "nothing")
	p := w.made("agent")
	w.whole(p)
	if disk.Exists(filepath.Join(p.Path, "dir/b.txt")) {
		t.Error("the worktree is not sparse")
	}
	if r := discovered(t, p.Path); r.Bare || r.Path != w.Dir {
		t.Errorf("got %+v", r)
	}
}

func TestCreateWithDirtyMainWorktreeLeavesItAlone(t *testing.T) {
	w := newWorld(t)
	w.write("a.txt", "dirty\n")
	w.write("new", "x\n")
	p := w.made("agent")
	w.whole(p)
	if got := w.git("status", "--porcelain"); got != "M a.txt\n?? new" && got != " M a.txt\n?? new" {
		t.Errorf("main is %q", got)
	}
}

func TestCreateWithSubmoduleLeavesItsFolderEmpty(t *testing.T) {
	w, sub := newWorld(t), newWorld(t)
	w.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.Dir, "sub")
	w.commit("submodule")
	w.git("config", "submodule.recurse", "true")
	w.whole(w.made("agent"))
}

func TestCreateBesideForeignGitThatAddsWorktrees(t *testing.T) {
	w := newWorld(t)
	stop := make(chan struct{})
	var others sync.WaitGroup
	for k := range 2 {
		others.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				name := fmt.Sprintf("foreign-%d-%d", k, i)
				_ = git.Repo{Dir: w.Dir}.Run(t.Context(), "worktree", "add", "-q", "-b", name, filepath.Join(w.Side, name))
			}
		})
	}
	for round := range 4 {
		var plans []Plan
		for i := range 4 {
			plans = append(plans, w.plan(fmt.Sprintf("r%d-%d", round, i)))
		}
		if _, err := w.m.Create(t.Context(), plans, nil); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
	}
	close(stop)
	others.Wait()
}

func TestCreateWaitsForForeignGitThatHalfMadeItsWorktree(t *testing.T) {
	w := newWorld(t)
	w.git("worktree", "add", "-q", "-b", "foreign", filepath.Join(w.Side, "foreign"))
	path := filepath.Join(w.Dir, ".git", "worktrees", "foreign", "commondir")
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	go func() { // git reads an empty file, and finds the whole one when it reads again
		pipe, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			err = errors.Join(os.WriteFile(path+".new", []byte("../..\n"), 0o600), os.Rename(path+".new", path), pipe.Close())
		}
		if err != nil {
			t.Error(err)
		}
	}()
	w.whole(w.made("agent"))
}

func TestCreateReportsHookThatRefusesBranches(t *testing.T) {
	w := newWorld(t)
	w.hook("reference-transaction", `grep -q refs/heads/agent && { echo "no agents here" >&2; exit 1; }; exit 0`)
	if _, err := w.m.Create(t.Context(), []Plan{w.plan("agent")}, nil); err == nil {
		t.Fatal("it succeeded")
	}
	if want := []string{"main"}; !slices.Equal(w.branches(), want) {
		t.Errorf("branches are %q", w.branches())
	}
	if disk.Exists(w.Side) {
		t.Error("a folder is left")
	}
}

func TestListNamesEveryKindOfWorktree(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	detached := filepath.Join(w.Side, "detached")
	w.git("worktree", "add", "-q", "--detach", detached)
	gone := filepath.Join(w.Side, "gone")
	w.git("worktree", "add", "-q", "-b", "gone", gone)
	w.git("pack-refs", "--all")
	lose(t, Plan{Path: gone})
	got, err := w.m.Registry().List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	admin := filepath.Join(w.m.Repository.CommonDir, "worktrees")
	want := []Entry{
		{Path: w.Dir, Branch: "main", Head: w.base, AdminDir: w.m.Repository.CommonDir},
		{Path: p.Path, Branch: "agent", Head: w.base, AdminDir: filepath.Join(admin, "agent"), Locked: true, LockReason: "paw s/agent"},
		{Path: detached, Head: w.base, AdminDir: filepath.Join(admin, "detached")},
		{Path: gone, Branch: "gone", Head: w.base, AdminDir: filepath.Join(admin, "gone"), Prunable: true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}
