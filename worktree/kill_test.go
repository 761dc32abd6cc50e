package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"

	"golang.org/x/sys/unix"
)

// shim puts a git into its own folder that runs script first, with $real as the
// real git, and returns the PATH entry for it.
func shim(t *testing.T, script string) []string {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := realTemp(t)
	path := filepath.Join(dir, "git")
	writeFile(t, path, "#!/bin/sh\nreal='"+real+"'\n"+script+"\nexec \"$real\" \"$@\"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
}

// shimmed has this process start such a git, until restore is called or the test ends.
func shimmed(t *testing.T, script string) (restore func()) {
	t.Helper()
	path := os.Getenv("PATH")
	t.Setenv("PATH", strings.TrimPrefix(shim(t, script)[0], "PATH="))
	return func() { os.Setenv("PATH", path) }
}

func TestCreateContinuesAfterDeathAtEachStep(t *testing.T) {
	for _, step := range []string{StepBranches, StepAdded, StepFilled} {
		t.Run(step, func(t *testing.T) {
			w := newWorld(t)
			plans := []Plan{w.plan("a"), w.plan("b"), w.plan("c")}
			if code := w.paw(step, nil, plans...).end(); code != -1 {
				t.Fatalf("it ended with %d", code)
			}
			if err := w.m.Check(t.Context(), plans); err != nil {
				t.Errorf("check: %v", err)
			}
			made, err := w.m.Create(t.Context(), plans, nil)
			if err != nil || len(made) != 3 {
				t.Fatalf("got %+v, %v", made, err)
			}
			for i, p := range plans {
				w.whole(p)
				if !made[i].BranchCreated {
					t.Errorf("%s: the branch is not counted as created", p.Agent)
				}
			}
			w.healthy(4)
		})
	}
}

// TestCreateContinuesAfterGitDiedAtAnySystemCall kills `git worktree add` before
// its n-th call of each kind that changes files or starts a child, and paw with
// it. A file that was made and not yet written shows before its write.
func TestCreateContinuesAfterGitDiedAtAnySystemCall(t *testing.T) {
	strace := needStrace(t)
	moments := 0
	for _, call := range []string{"mkdir", "write", "rename", "vfork,clone,clone3,fork"} {
		for n := 1; diesAt(t, strace, call, n); n++ {
			moments++
		}
	}
	if moments < 10 {
		t.Errorf("it died at %d moments only", moments)
	}
}

// diesAt reports whether git ever came to the n-th call.
func diesAt(t *testing.T, strace, call string, n int) bool {
	t.Helper()
	w := newWorld(t)
	p := w.plan("agent")
	env := shim(t, fmt.Sprintf(`case "$*" in *"worktree add"*)
		%s -f -qqq -o /dev/null -e trace=%[2]s -e 'inject=%[2]s:signal=KILL:when=%[3]d' "$real" "$@"
		[ $? = 0 ] && exit 0
		kill -9 $PPID; exit 1;; esac`, strace, call, n))
	if w.paw("", env, p).end() != -1 {
		w.whole(p)
		return false
	}
	if n%2 == 0 { // also by way of Repair
		if _, err := w.m.Repair(t.Context(), pawOwns); err != nil {
			t.Fatal(err)
		}
		w.git("worktree", "list")
	}
	if _, err := w.m.Create(t.Context(), []Plan{p}, nil); err != nil {
		t.Fatalf("killed before %s %d: %v", call, n, err)
	}
	w.whole(p)
	w.healthy(2)
	return true
}

func needStrace(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	if err := exec.CommandContext(t.Context(), path, "-o", "/dev/null", "true").Run(); err != nil {
		t.Skip("strace is not allowed here")
	}
	return path
}

func TestCreateAfterGitAloneWasKilled(t *testing.T) {
	strace := needStrace(t)
	w := newWorld(t)
	shimmed(t, `case "$*" in *"worktree add"*) exec `+strace+` -qqq -o /dev/null -e trace=write -e inject=write:signal=KILL:when=5 "$real" "$@";; esac`)
	if _, err := w.m.Create(t.Context(), []Plan{w.plan("agent")}, nil); err == nil {
		t.Fatal("it succeeded")
	}
	if left, err := w.m.Registry().List(t.Context()); len(left) != 1 { // but the main one
		t.Errorf("registrations are left: %+v, %v", left, err)
	}
	if want := []string{"main"}; !slices.Equal(w.branches(), want) {
		t.Errorf("branches are %q", w.branches())
	}
}

// partial leaves a checkout that was killed in the middle: a.txt is there,
// z.slow is not. git goes on until it is killed or released.
func partial(t *testing.T, w *world) (p Plan, kill, release func()) {
	t.Helper()
	w.write(".gitattributes", "z.slow filter=slow\n")
	w.write("z.slow", "x\n")
	w.commit("slow")
	fifo := filepath.Join(realTemp(t), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	// The filter names its group, waits on the fifo, and so holds the checkout.
	w.git("config", "filter.slow.smudge", "ps -o pgid= -p $$ >"+fifo+".pid; cat "+fifo)
	p = w.plan("agent")
	running := w.paw("", nil, p)
	running.start.Close()
	waitFor(t, "the filter", func() bool {
		return gitdir.Line(fifo+".pid") != "" && disk.Exists(filepath.Join(p.Path, "a.txt"))
	})
	if err := running.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	running.cmd.Wait()
	var group int
	if _, err := fmt.Sscan(gitdir.Line(fifo+".pid"), &group); err != nil {
		t.Fatal(err)
	}
	ended := false
	kill = func() {
		if !ended {
			unix.Kill(-group, unix.SIGKILL)
		}
		ended = true
	}
	t.Cleanup(kill)
	w.git("config", "filter.slow.smudge", "cat")
	return p, kill, func() { ended = true; writeFile(t, fifo, "x\n") }
}

func TestCreateReplacesPartialCheckoutOfKilledGit(t *testing.T) {
	w := newWorld(t)
	p, kill, _ := partial(t, w)
	kill()
	waitFor(t, "git to die", func() bool {
		lock, err := gitdir.OpenLock(gitdir.FillingLock(filepath.Join(w.m.Repository.CommonDir, "worktrees", "agent")))
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		locked, err := disk.TryLock(lock)
		if err != nil {
			t.Fatal(err)
		}
		return locked
	})
	if !disk.Exists(filepath.Join(w.m.Repository.CommonDir, "worktrees", "agent", "index.lock")) {
		t.Fatal("the checkout was not in the middle")
	}
	if _, err := w.m.Create(t.Context(), []Plan{p}, nil); err != nil {
		t.Fatal(err)
	}
	w.whole(p)
	w.healthy(2)
	kept, _ := filepath.Glob(filepath.Join(w.m.Trash().dir(), "*", "agent", "a.txt"))
	if len(kept) != 1 {
		t.Errorf("the partial tree is not in the trash: %q", kept)
	}
}

func TestCreateWaitsForCheckoutThatOutlivedItsPaw(t *testing.T) {
	w := newWorld(t)
	p, _, release := partial(t, w)
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := w.m.Create(soon, []Plan{p}, nil); !errors.Is(err, gitdir.ErrBusy) {
		t.Errorf("it did not wait: %v", err)
	}
	release()
	if _, err := w.m.Create(t.Context(), []Plan{p}, nil); err != nil {
		t.Fatal(err)
	}
	w.whole(p)
	if kept, _ := filepath.Glob(filepath.Join(w.m.Trash().dir(), "*")); len(kept) != 0 {
		t.Errorf("the finished checkout was thrown away: %q", kept)
	}
}

func TestCreateWaitsForRegistrationThatOutlivedItsPaw(t *testing.T) {
	w := newWorld(t)
	p := w.plan("agent")
	fifo := filepath.Join(realTemp(t), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	running := w.paw("", shim(t, `case "$*" in *"worktree add"*) : >'`+fifo+`.here'; read go <'`+fifo+`';; esac`), p)
	running.start.Close()
	waitFor(t, "git worktree add", func() bool { return disk.Exists(fifo + ".here") })
	if err := running.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	running.cmd.Wait()
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := w.m.Create(soon, []Plan{p}, nil); !errors.Is(err, gitdir.ErrBusy) {
		t.Errorf("it did not wait: %v", err)
	}
	writeFile(t, fifo, "go\n")
	if _, err := w.m.Create(t.Context(), []Plan{p}, nil); err != nil {
		t.Fatal(err)
	}
	w.whole(p)
	w.healthy(2)
}

func TestCreateRunsHookThatDeathPrevented(t *testing.T) {
	w := newWorld(t)
	log := filepath.Join(w.Dir, "..", "hook.log")
	w.hook("post-checkout", "echo ran >>"+log)
	p := w.made("agent")
	admin := filepath.Join(w.m.Repository.CommonDir, "worktrees", "agent")
	if err := os.Remove(gitdir.FilledMark(admin)); err != nil { // killed after the checkout, before the hook
		t.Fatal(err)
	}
	if _, err := w.m.Create(t.Context(), []Plan{p}, nil); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, log); got != "ran\nran\n" {
		t.Errorf("the hook %q", got)
	}
	if kept, _ := filepath.Glob(filepath.Join(w.m.Trash().dir(), "*")); len(kept) != 0 {
		t.Errorf("the trash holds %q", kept)
	}
	if err := os.Remove(gitdir.FilledMark(admin)); err != nil { // killed in that second checkout
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(admin, "index.lock"), "half")
	if _, err := w.m.Create(t.Context(), []Plan{p}, nil); err != nil {
		t.Fatal(err)
	}
	w.whole(p)
}

func TestGitNeverLooksAboveTheWorktree(t *testing.T) {
	w := newWorld(t)
	if out, err := git.In(filepath.Join(w.Dir, "dir")).Output(t.Context(), "rev-parse", "--show-toplevel"); err == nil {
		t.Errorf("it found %s", out)
	}
}

func TestCreateTakesCancelledCheckoutBack(t *testing.T) {
	w := newWorld(t)
	w.write(".gitattributes", "z.slow filter=slow\n")
	w.write("z.slow", "x\n")
	w.commit("slow")
	here := filepath.Join(realTemp(t), "here")
	w.git("config", "filter.slow.smudge", ": >"+here+"; sleep 60")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := w.m.Create(ctx, []Plan{w.plan("agent")}, nil)
		done <- err
	}()
	waitFor(t, "the filter", func() bool { return disk.Exists(here) })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	w.git("config", "filter.slow.smudge", "cat")
	w.noLeftover("main")
}
