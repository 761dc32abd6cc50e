package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// moveWorld returns a world in which an agent has written mine.txt in the first turn, and the user
// has committed m.txt and README.md since.
func moveWorld(t *testing.T) *world {
	t.Helper()
	w := started(t, "one")
	w.ok(w.paw("send", "one", "do: write mine.txt x"))
	w.ok(w.paw("wait", "one"))
	w.write(w.repo, "m.txt", "important\n")
	w.write(w.repo, "README.md", "the user's\n")
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "user's own work")
	return w
}

// TestKilledMoveNeverLandsAsADeletion kills commands that move a worktree's files across commits of
// main, back and forth, after each of their steps. Whatever the user does next, with or without
// recover: main keeps the user's commits, and the agent's files land.
func TestKilledMoveNeverLandsAsADeletion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		before  [][]string
		command []string
	}{
		{"update", nil, []string{"update", "one"}},
		{"undo of an update", [][]string{{"update", "one"}}, []string{"rewind", "one", "--undo"}},
		{"rewind to before an update", [][]string{{"update", "one"}}, []string{"rewind", "one", "1"}},
		{"undo of that", [][]string{{"update", "one"}, {"rewind", "one", "1"}}, []string{"rewind", "one", "--undo"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := moveWorld(t)
			dir := w.worktree("one")
			for _, command := range c.before {
				w.ok(w.paw(command...))
			}
			before := w.keep()
			check := func(at, next string) {
				t.Helper()
				if got := w.run(w.repo, nil, "git", "show", "main:m.txt", "main:README.md").stdout; got != "important\nthe user's\n" {
					t.Fatalf("killed after %s, then %s: main has %q", at, next, got)
				}
			}
			steps := w.stepsOf(crashCase{command: c.command})
			if len(steps) < 4 {
				t.Fatalf("its steps are %q", steps)
			}
			for _, at := range steps {
				w.putBack(before)
				w.kill(at, c.command...)
				open, killed := w.moveOpen(dir), w.keep()
				for _, next := range []string{"paw recover", "paw land one", "paw update one", "paw rewind one --undo", "paw rewind one 1", "paw send one do:", "git commit -qam x"} {
					w.putBack(killed)
					var out output
					if program, args, _ := strings.Cut(next, " "); program == "git" {
						out = w.run(dir, nil, "git", strings.Fields(args)...)
					} else if args := strings.Fields(args); args[0] == "send" {
						out = w.paw("send", "one", "do: say hello")
					} else {
						out = w.paw(args...)
					}
					check(at, next)
					reads := next == "paw land one" || next == "paw update one" || next == "paw rewind one 1" || strings.HasPrefix(next, "paw send")
					if open && reads && (out.code != 3 || !strings.Contains(out.stderr, "was cut short") || !strings.Contains(out.stderr, "paw recover one")) {
						t.Errorf("killed after %s, then %s: exit code %d\n%s%s", at, next, out.code, out.stdout, out.stderr)
					}
					half := w.head(dir)
					if strings.HasPrefix(next, "paw send") {
						w.ready("one")
					}
					w.ok(w.paw("recover", "--detach"))
					if w.git(w.repo, "for-each-ref", "--contains="+half, "--count=1") == "" {
						t.Errorf("killed after %s, then %s, then recovered: no ref has the commit that HEAD was at", at, next)
					}
					if w.moveOpen(dir) {
						t.Errorf("killed after %s, then %s, then recovered: a move is open", at, next)
					}
					w.ok(w.paw("land", "one"))
					check(at, next+" and paw land")
					if got := w.git(w.repo, "show", "main:mine.txt"); got != "x\n" {
						t.Errorf("killed after %s, then %s: mine.txt landed as %q", at, next, got)
					}
					w.ok(w.paw("land", "--undo"))
				}
			}
			w.git(w.repo, "fsck", "--no-progress")
		})
	}
}

// head returns the commit of a checkout.
func (w *world) head(dir string) string {
	w.t.Helper()
	return strings.TrimSpace(w.git(dir, "rev-parse", "HEAD"))
}

// moveOpen reports whether a worktree has the journal of a move.
func (w *world) moveOpen(dir string) bool {
	w.t.Helper()
	file, err := os.ReadFile(filepath.Join(dir, ".git"))
	admin, linked := strings.CutPrefix(strings.TrimSpace(string(file)), "gitdir: ")
	if err != nil || !linked {
		w.t.Fatalf("%s is no worktree: %v", dir, err)
	}
	_, err = os.Lstat(filepath.Join(admin, "paw-journal"))
	return err == nil
}

// TestCutShortMoveIsShown kills a rewind of one agent: status and forecast name that agent, and
// show the others as usual.
func TestCutShortMoveIsShown(t *testing.T) {
	t.Parallel()
	w := started(t, "one", "two")
	for _, name := range []string{"one", "two"} {
		w.ok(w.paw("send", name, "do: write "+name+".txt x"))
		w.ok(w.paw("wait", name))
	}
	steps := w.stepsOf(crashCase{command: []string{"rewind", "one", "0"}})
	w.ok(w.paw("rewind", "one", "--undo"))
	for _, at := range steps {
		if w.kill(at, "rewind", "one", "0"); w.moveOpen(w.worktree("one")) {
			break
		}
	}
	if !w.moveOpen(w.worktree("one")) {
		t.Fatal("no kill leaves the move open")
	}
	const cut = "a paw rewind was cut short"
	out := w.paw("status")
	w.ok(out)
	for line := range strings.Lines(out.stdout) {
		if strings.HasPrefix(line, "  one ") != strings.Contains(line, cut) {
			t.Errorf("status: %s", line)
		}
	}
	out = w.paw("forecast")
	w.ok(out)
	for _, row := range []string{`one +0 +unknown: a paw rewind was cut short, paw recover ends it`, `two +1 +fits`, `best order to land: two`} {
		if !regexp.MustCompile(`(?m)^` + row).MatchString(out.stdout) {
			t.Errorf("forecast has no %q:\n%s", row, out.stdout)
		}
	}
	out = w.paw("forecast", "--json", "one")
	w.ok(out)
	if !strings.Contains(strings.ReplaceAll(out.stdout, ": ", ":"), `"cut_short":"paw rewind"`) {
		t.Error(out.stdout)
	}
	w.ok(w.paw("recover", "--detach"))
	if out := w.paw("status"); strings.Contains(out.stdout, cut) {
		t.Error(out.stdout)
	}
}

// TestKilledRewindThatMovedNothing: a rewind that was killed before it changed a file leaves the
// agent where it was, and landings stay landed.
func TestKilledRewindThatMovedNothing(t *testing.T) {
	t.Parallel()
	w := started(t, "one")
	w.ok(w.paw("send", "one", "do: write mine.txt x"))
	w.ok(w.paw("wait", "one"))
	w.ok(w.paw("land", "one"))
	w.ok(w.paw("rewind", "one", "0"))
	for _, at := range []string{"rewind.intended:1", "rewind.move.locked:1"} {
		if out := w.pawWith([]string{"PAW_TEST_KILL=" + at}, "rewind", "one", "1"); out.code != 137 {
			t.Fatalf("not killed at %s: exit code %d\n%s%s", at, out.code, out.stdout, out.stderr)
		}
		w.ok(w.paw("recover", "--detach"))
		w.ok(w.paw("land", "one"))
		if got := w.git(w.repo, "show", "main:mine.txt"); got != "x\n" {
			t.Fatalf("killed after %s: main has %q", at, got)
		}
	}
}
