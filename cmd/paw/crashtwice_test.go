package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stepsOf runs the command of a case to its end, and returns its steps in the form of
// PAW_TEST_KILL.
func (w *world) stepsOf(c crashCase) []string {
	w.t.Helper()
	list := filepath.Join(w.root, "steps")
	w.ok(w.pawWith(c.environment("PAW_TEST_STEPS="+list), c.command...))
	data, err := os.ReadFile(list)
	if err != nil {
		w.t.Fatal(err)
	}
	var steps []string
	seen := map[string]int{}
	for _, step := range strings.Fields(string(data)) {
		seen[step]++
		steps = append(steps, fmt.Sprintf("%s:%d", step, seen[step]))
	}
	return steps
}

// kill runs a command that is killed after a step. A command without that step ends normally.
func (w *world) kill(at string, command ...string) {
	w.t.Helper()
	if out := w.pawWith([]string{"PAW_TEST_KILL=" + at}, command...); out.code != 137 && out.code != 0 {
		w.t.Fatalf("neither killed at %s nor done: exit code %d\n%s%s", at, out.code, out.stdout, out.stderr)
	}
	// The killed paw may have begun to start a server a moment before, which no later command can know: as a client of tmux, or
	// as a copy of itself that is to become one.
	begun := strings.Join(command, " ")
	waitFor(w.t, "nothing goes on with what was killed", func() bool {
		for line := range strings.Lines(w.run(w.root, nil, "ps", "axeww", "-o", "comm=,command=").stdout) {
			client := strings.HasPrefix(line, "tmux") && !strings.HasPrefix(line, "tmux: server")
			if strings.Contains(line, w.root) && (client || strings.Contains(line, begun)) {
				return false
			}
		}
		return true
	})
}

// TestKilledTwice kills a command after each of its steps, and then the recover after it, each time
// at another step. The next recover must lead to the same world as the command that was not killed.
func TestKilledTwice(t *testing.T) {
	t.Parallel()
	two := []string{"start", "--cli", "one=demo,two=demo", "--detach"}
	started := func(w *world) { w.ok(w.paw(two...)) }
	lost := func(w *world) {
		started(w)
		killServer(w.socket)
		w.awaitDead("one", "two")
		if err := os.RemoveAll(w.worktree("one")); err != nil {
			w.t.Fatal(err)
		}
	}
	recover := []string{"recover", "--detach"}
	for _, c := range []crashCase{
		{name: "start", command: two},
		{name: "recover", prepare: lost, command: recover},
		{name: "remove", prepare: started, command: []string{"remove", "one"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			whole := newWorld(t)
			whole.given(c)
			steps := whole.stepsOf(c)
			want := whole.state()
			w := newWorld(t)
			w.given(c)
			w.kill(steps[0], c.command...)
			again := w.stepsOf(crashCase{command: recover})
			for i, first := range steps {
				second := again[i%len(again)]
				t.Run(first+" "+second, func(t *testing.T) {
					w := newWorld(t)
					w.given(c)
					w.kill(first, c.command...)
					w.kill(second, recover...)
					w.ok(w.paw(recover...))
					if diff := cmp.Diff(want, w.state()); diff != "" {
						t.Errorf("the world differs (-uninterrupted +killed)\n%s", diff)
					}
				})
			}
		})
	}
}

// given prepares the world for the command of a case.
func (w *world) given(c crashCase) {
	w.t.Helper()
	if c.prepare != nil {
		c.prepare(w)
	}
}

// nothing fails the test unless the world is as before start: a start must not leave more than that
// after a purge, wherever it was killed.
func (w *world) nothing() {
	w.t.Helper()
	if left := w.git(w.repo, "for-each-ref", "--format=%(refname)"); left != "refs/heads/main\n" {
		w.t.Errorf("refs are left:\n%s", left)
	}
	if left := w.git(w.repo, "worktree", "list"); strings.Count(left, "\n") != 1 {
		w.t.Errorf("worktrees are left:\n%s", left)
	}
	// A tmux server still answers for a moment after its last session has ended.
	waitFor(w.t, "no tmux server is left", func() bool { return w.tmux("list-sessions").code != 0 })
	if left := w.view().Sessions; len(left) != 0 {
		w.t.Errorf("records are left: %+v", left)
	}
	state := filepath.Join(w.root, "home/.local/state/paw")
	for _, dir := range []string{filepath.Join(w.root, "shop.paw"), state + "/launch/shop", state + "/agents/shop", state + "/turns/shop"} {
		if _, err := os.Lstat(dir); err == nil {
			w.t.Errorf("files are left:\n%s", w.files(dir))
		}
	}
}

// TestKilledStartIsStoppedOrPurged kills start after each of its steps. A purge must then leave
// nothing, and after a stop, recover must complete the session.
func TestKilledStartIsStoppedOrPurged(t *testing.T) {
	t.Parallel()
	start := []string{"start", "--cli", "one=demo,two=demo", "--detach"}
	whole := newWorld(t)
	steps := whole.stepsOf(crashCase{command: start})
	want := whole.state()
	for _, at := range steps {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.kill(at, start...)
			w.ok(w.paw("purge", "--yes", "--tags"))
			w.nothing()
			w.kill(at, start...)
			w.ok(w.paw("stop"))
			if left := w.tmux("list-sessions").stdout; left != "" { // the server itself may answer for a moment
				t.Errorf("stop left a tmux session: %s", left)
			}
			w.ok(w.paw("recover", "shop", "--detach"))
			if diff := cmp.Diff(want, w.state()); diff != "" {
				t.Errorf("killed, stopped, recovered: the world differs (-uninterrupted +killed)\n%s", diff)
			}
		})
	}
}

// TestKilledPurge kills purge after each of its steps; the next one leaves nothing.
func TestKilledPurge(t *testing.T) {
	t.Parallel()
	purge := []string{"purge", "shop", "--yes", "--tags"}
	prepare := func(t *testing.T) *world {
		w := newWorld(t)
		w.ok(w.paw("start", "--cli", "one=demo,two=demo", "--detach"))
		w.ok(w.paw("stop"))
		w.ok(w.paw("run", "one", "--prompt", "do: say hello"))
		return w
	}
	whole := prepare(t)
	steps := whole.stepsOf(crashCase{command: purge})
	whole.nothing()
	for _, at := range steps {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			w := prepare(t)
			w.kill(at, purge...)
			w.ok(w.paw(purge...))
			w.nothing()
		})
	}
}
