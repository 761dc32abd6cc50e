package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paw/config/disk"
	"paw/worktree/gitdir"
	"paw/worktree/gittest"
)

func TestMain(m *testing.M) {
	if os.Getenv("PAW_TEST_CHILD") != "" {
		os.Exit(child())
	}
	os.Exit(gittest.RunIsolated(m))
}

// world is a repository with a Manager.
type world struct {
	*gittest.World
	t    *testing.T
	m    *Manager
	base string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldAt(t, filepath.Join(realTemp(t), "repo"))
}

func newWorldAt(t *testing.T, dir string) *world {
	t.Helper()
	w := &world{World: gittest.NewAt(t, dir), t: t}
	w.open()
	return w
}

var (
	gitIn     = gittest.In
	realTemp  = gittest.RealTemp
	readFile  = gittest.ReadFile
	writeFile = gittest.WriteFile
)

// open looks at the repository again.
func (w *world) open() {
	w.t.Helper()
	w.Open()
	w.m = &Manager{Repository: w.Repository, Locks: fileLock(filepath.Join(filepath.Dir(w.Dir), "repository.lock"))}
	w.base = w.Base
}

// fileLock stands in for the lock of package session.
func fileLock(path string) func(context.Context) (func(), error) {
	return func(ctx context.Context) (func(), error) {
		f, err := gitdir.Waiting{}.Await(ctx, path, gitdir.LockWait)
		if err != nil {
			return nil, err
		}
		return func() { f.Close() }, nil
	}
}

func (w *world) git(args ...string) string { w.t.Helper(); return w.Git(args...) }

func (w *world) write(name, content string) { w.t.Helper(); w.Write(name, content) }

func (w *world) commit(message string) string {
	w.t.Helper()
	w.base = w.Commit(message)
	return w.base
}

// hook installs a git hook of the repository.
func (w *world) hook(name, script string) {
	w.t.Helper()
	path := filepath.Join(w.Dir, ".git", "hooks", name)
	writeFile(w.t, path, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// plan is a worktree for agent on a new branch of the same name.
func (w *world) plan(agent string) Plan {
	return Plan{Agent: agent, Branch: agent, Path: filepath.Join(w.Side, "s", agent), Base: w.base, CreateBranch: true, Owner: "paw s/" + agent}
}

// made creates the worktree for agent and returns its plan.
func (w *world) made(agent string) Plan {
	w.t.Helper()
	p := w.plan(agent)
	if _, err := w.m.Create(w.t.Context(), []Plan{p}, nil); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// whole fails the test unless the worktree of p is complete and healthy.
func (w *world) whole(p Plan) {
	w.t.Helper()
	if err := gitdir.Verify(p.Path, w.m.Repository.CommonDir, p.Branch); err != nil {
		w.t.Fatal(err)
	}
	if got := gitIn(w.t, p.Path, "status", "--porcelain"); got != "" {
		w.t.Fatalf("%s: status says %q", p.Path, got)
	}
	if got := gitIn(w.t, p.Path, "rev-parse", "--abbrev-ref", "HEAD"); got != p.Branch {
		w.t.Fatalf("%s: on %q", p.Path, got)
	}
	if reason := gitdir.Line(filepath.Join(gitIn(w.t, p.Path, "rev-parse", "--absolute-git-dir"), "locked")); reason != p.Owner {
		w.t.Fatalf("%s: locked as %q", p.Path, reason)
	}
}

// healthy fails the test unless git itself can use every registration.
func (w *world) healthy(worktrees int) {
	w.t.Helper()
	if got := strings.Count(w.git("worktree", "list", "--porcelain"), "worktree "); got != worktrees {
		w.t.Errorf("git lists %d worktrees, want %d:\n%s", got, worktrees, w.git("worktree", "list"))
	}
	w.git("fsck", "--no-progress")
	w.git("gc", "--quiet")
}

func (w *world) branches() []string {
	w.t.Helper()
	return strings.Fields(w.git("for-each-ref", "--format=%(refname:short)", "refs/heads"))
}

// noLeftover fails the test when more than the main worktree and branch exist.
func (w *world) noLeftover(branches ...string) {
	w.t.Helper()
	slices.Sort(branches)
	if got := w.branches(); !slices.Equal(got, branches) {
		w.t.Errorf("branches are %q, want %q", got, branches)
	}
	w.healthy(1)
	if disk.Exists(w.Side) {
		w.t.Errorf("%s is left: %v", w.Side, tree(w.t, w.Side))
	}
}

// tree lists what lies below dir with mode, time and content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		content := ""
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(b)
		case info.Mode()&fs.ModeSymlink != 0:
			content, _ = os.Readlink(path)
		}
		found[name] = fmt.Sprintf("%v %v %q", info.Mode(), info.ModTime().UnixNano(), content)
		if info.IsDir() {
			found[name] = info.Mode().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// waitFor waits until ok returns true, and fails the test after ten seconds.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
