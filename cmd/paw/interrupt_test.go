package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// interrupted starts two agents whose set-up command does not end, and sends paw a signal during
// the set-up.
func (w *world) interrupted(setup string, sig syscall.Signal) output {
	w.t.Helper()
	return w.interruptedIn(nil, setup, sig, "start", "--cli", "one=demo,two=demo", "--detach")
}

// interruptedIn does the same for any command that sets worktrees up.
func (w *world) interruptedIn(env []string, setup string, sig syscall.Signal, args ...string) output {
	w.t.Helper()
	w.configure("[worktree]\nsetup = \"" + setup + "; touch " + w.root + "/started; sleep 1000\"\n")
	run := w.beginWith(env, args...)
	w.awaitFile(filepath.Join(w.root, "started"))
	run.signal(sig)
	return run.end()
}

func TestInterruptedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if out := w.interrupted("true", sig); out.code != 130 {
				t.Errorf("exit code %d, want 130\n%s", out.code, out.stderr)
			}
			w.nothing()
		})
	}
}

func TestInterruptedStartKeepsWhatTheSetUpMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := w.interrupted("echo work > made-by-set-up; case $PWD in */two) sleep 1000 ;; esac", syscall.SIGINT)
	if out.code != 130 || !strings.Contains(out.stderr, "paw: hint: paw recover shop\n") {
		t.Errorf("exit code %d, said %s", out.code, out.stderr)
	}
	w.configure("")
	w.ok(w.paw("recover", "--detach"))
	data, err := os.ReadFile(filepath.Join(w.worktree("one"), "made-by-set-up"))
	if err != nil || string(data) != "work\n" {
		t.Errorf("what the set-up made is gone: %v", err)
	}
	if a := w.agent("one"); a.PID == nil {
		t.Errorf("not recovered: %+v", a)
	}
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
