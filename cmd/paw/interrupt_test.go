package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// interruptedIn runs a command that makes worktrees, in which a hook of git does not end, and sends
// paw a signal meanwhile.
func (w *world) interruptedIn(env []string, sig syscall.Signal, args ...string) output {
	w.t.Helper()
	w.checkoutHook("touch " + w.root + "/started; sleep 1000")
	run := w.beginWith(env, args...)
	w.awaitFile(filepath.Join(w.root, "started"))
	run.signal(sig)
	return run.end()
}

// checkoutHook has git run a command in each worktree that it has checked out.
func (w *world) checkoutHook(command string) {
	w.t.Helper()
	w.write(w.repo, ".git/hooks/post-checkout", "#!/bin/sh\n"+command+"\n")
	if err := os.Chmod(filepath.Join(w.repo, ".git/hooks/post-checkout"), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func TestInterruptedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if out := w.interruptedIn(nil, sig, "start", "--cli", "one=demo,two=demo", "--detach"); out.code != 130 {
				t.Errorf("exit code %d, want 130\n%s", out.code, out.stderr)
			}
			w.nothing()
		})
	}
}

// A start that waits for the set-ups is interrupted alone: they go on in the panes.
func TestInterruptedStartLeavesTheSetUpsToThePanes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure("[worktree]\nsetup = \"echo work > made-by-set-up; touch " + w.root + "/started; sleep 1000\"\n")
	out := w.pawWith([]string{"PAW_TEST_AT=panes.recorded", "PAW_TEST_DO=kill -INT $PPID"}, "start", "--cli", "one=demo", "--detach", "--wait-setup")
	if out.code != 130 || !strings.Contains(out.stderr, "its set-up still runs in its pane") || !strings.Contains(out.stderr, "paw: hint: paw status shop\n") {
		t.Errorf("exit code %d, said %s", out.code, out.stderr)
	}
	w.awaitFile(filepath.Join(w.root, "started"))
	if a := w.agent("one"); a.State != "running" {
		t.Errorf("in the end %+v", a)
	}
	w.ok(w.paw("stop"))
	w.configure("")
	w.ok(w.paw("recover", "shop", "--detach"))
	data, err := os.ReadFile(filepath.Join(w.worktree("one"), "made-by-set-up"))
	if err != nil || string(data) != "work\n" {
		t.Errorf("what the set-up made is gone: %v", err)
	}
	w.ready("one")
}

// TestStartInterruptedAfterEveryStep sends SIGINT, or SIGHUP as from a closed terminal, after each
// step of start. Either start takes everything back, or says that recover completes the session,
// and recover does.
func TestStartInterruptedAfterEveryStep(t *testing.T) {
	t.Parallel()
	start := []string{"start", "--cli", "one=demo,two=demo", "--detach"}
	whole := newWorld(t)
	steps := whole.stepsOf(crashCase{command: start})
	want := whole.state()
	for _, step := range steps {
		step, second, _ := strings.Cut(step, ":")
		if second != "1" {
			continue
		}
		for _, sig := range []string{"INT", "HUP"} {
			t.Run(step+" "+sig, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				out := w.pawWith([]string{"PAW_TEST_AT=" + step, "PAW_TEST_DO=kill -" + sig + " $PPID"}, start...)
				if out.code != 130 && out.code != 0 {
					t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
				}
				if len(w.view().Sessions) == 0 {
					if out.code == 0 {
						t.Errorf("it ended well and left no session\n%s", out.stderr)
					}
					w.nothing()
					return
				}
				if out.code != 0 && !strings.Contains(out.stderr, "paw: hint: paw recover shop\n") {
					t.Errorf("it left a session and said\n%s", out.stderr)
				}
				w.ok(w.paw("recover", "--detach"))
				if diff := cmp.Diff(want, w.state()); diff != "" {
					t.Errorf("interrupted, then recovered: the world differs (-uninterrupted +interrupted)\n%s", diff)
				}
			})
		}
	}
}
