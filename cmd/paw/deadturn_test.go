package main

import (
	"strings"
	"syscall"
	"testing"
)

// killedInTurn returns a world with an agent, one, whose CLI was killed in the first turn after it
// had written half.txt; the user has committed main.txt since start.
func killedInTurn(t *testing.T) *world {
	t.Helper()
	w := started(t, "one")
	w.write(w.repo, "main.txt", "the user's\n")
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "user's own work")
	w.ok(w.paw("send", "one", "do: write half.txt half\ndo: sleep 1000"))
	w.awaitFile(w.worktree("one") + "/half.txt")
	if err := syscall.Kill(*w.agent("one").PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.awaitDead("one")
	return w
}

// TestDeadTurnIsClosedFirst kills a CLI in a turn. Each command that writes files first closes the
// turn as a crash, with the files that the CLI has left and without those of the command.
func TestDeadTurnIsClosedFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		command []string
	}{
		{name: "rewind", command: []string{"rewind", "one", "0"}},
		{name: "update", command: []string{"update", "one"}},
		{name: "land", command: []string{"land", "one"}},
		{name: "stop", command: []string{"stop", "one"}},
		{name: "remove", command: []string{"remove", "one", "--force"}},
		{name: "recover", command: []string{"recover", "--detach"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := killedInTurn(t)
			w.ok(w.paw(c.command...))
			if got := w.git(w.repo, "ls-tree", "-r", "--name-only", "refs/paw/shop_one/turn/1"); !strings.Contains(got, "half.txt") || strings.Contains(got, "main.txt") {
				t.Errorf("its turn ended with\n%s", got)
			}
			if c.name == "remove" {
				return
			}
			if one := w.turnsOf("one")[0]; one.State != "aborted" || one.Reason == nil || *one.Reason != "crash" {
				t.Errorf("its turn is %+v", one)
			}
		})
	}
}

// TestRewindThatChangesNothing expects --undo, after a rewind without a change, to take back the
// rewind before that one.
func TestRewindThatChangesNothing(t *testing.T) {
	t.Parallel()
	w := killedInTurn(t)
	w.ok(w.paw("rewind", "one", "0"))
	refs := w.git(w.repo, "for-each-ref")
	if out := w.ok(w.paw("rewind", "one", "0")); strings.Contains(out.stdout, "--undo") {
		t.Errorf("it says\n%s", out.stdout)
	}
	if got := w.git(w.repo, "for-each-ref"); got != refs {
		t.Errorf("refs were\n%sand are\n%s", refs, got)
	}
	w.ok(w.paw("rewind", "one", "--undo"))
	if got := w.run(w.worktree("one"), nil, "cat", "half.txt").stdout; got != "half\n" && got != "half" {
		t.Errorf("half.txt is %q", got)
	}
	if out := w.ok(w.paw("turns", "one")); strings.Contains(out.stdout, "before turn 1") {
		t.Errorf("after it was undone:\n%s", out.stdout)
	}
}
