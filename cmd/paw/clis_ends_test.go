//go:build clis

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"paw/orchestrator/cli/fakemodel"
)

// farewell holds the commands by which a CLI is left, and by which it begins a new conversation.
type farewell struct {
	leave string // typed before an Enter
	clear string
}

var farewells = map[string]farewell{
	"claude":   {leave: "/exit", clear: "/clear"},
	"codex":    {leave: "/quit", clear: "/clear"},
	"opencode": {leave: "/exit", clear: "/new"},
	"qwen":     {leave: "/quit", clear: "/clear"},
	"copilot":  {leave: "/exit", clear: "/clear"},
	"pi":       {leave: "/quit", clear: "/new"},
}

// TestCLIsEnd ends each real CLI in the ways in which users and machines do, and brings the CLI
// back.
func TestCLIsEnd(t *testing.T) {
	for _, cli := range fakemodel.TUIs {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			w.ok(w.paw("start", "--cli", cli, "--detach"))
			w.work("do: write one.txt 1\ndo: say The parrot is called Kiki.")
			for _, scenario := range []struct {
				name string
				do   func(*testing.T, *cliWorld)
			}{
				{"rewind", rewindAndUndo},
				{"left by the user", leftByTheUser},
				{"killed while idle", killedIdle},
				{"killed in a turn", diesInTurn},
				{"server killed while idle", serverKilledIdle},
				{"reboot", rebooted},
				{"another conversation", anotherConversation},
				{"three of one CLI", threeOfOne},
			} {
				if !w.during(t, scenario.name, func(t *testing.T) { scenario.do(t, w) }) {
					t.Fatalf("what comes after %s was not tried", scenario.name)
				}
			}
		})
	}
}

// typed types a command of the CLI and presses Enter until the CLI has taken it.
func (w *cliWorld) typed(command string) {
	w.t.Helper()
	pane := *w.agent(w.cli).PaneID
	w.ok(w.tmux("send-keys", "-t", pane, "-l", command))
	w.await(command+" is on the screen", func() bool { return strings.Contains(w.visible(), command) })
	var pressed time.Time
	w.await(command+" is taken", func() bool {
		if time.Since(pressed) < 2*time.Second {
			return true
		}
		w.ok(w.tmux("send-keys", "-t", pane, "Enter"))
		pressed = time.Now()
		return false
	})
}

// back recovers the session, and expects the CLI to go on with its conversation.
func (w *cliWorld) back() {
	w.t.Helper()
	w.reaped()
	out := w.ok(w.paw("recover", "shop", "--detach"))
	if !strings.Contains(out.stdout, "resumed") {
		w.t.Errorf("recover:\n%s%s", out.stdout, out.stderr)
	}
	w.await("the CLI shows the old messages", func() bool { return strings.Contains(w.screen(w.cli), "Kiki") })
	conversation := w.agent(w.cli).ConversationID
	before := w.last().Number
	if next := w.work("do: say Still Kiki."); next.Number != before+1 {
		w.t.Errorf("the next turn is %d after %d", next.Number, before)
	}
	if now := w.agent(w.cli).ConversationID; text(now) != text(conversation) {
		w.t.Errorf("conversation %s became %s", text(conversation), text(now))
	}
}

// reaped waits until the processes that had copilot's conversations open have gone. For copilot
// even a zombie keeps a conversation in use, and copilot then asks whether to resume it.
func (w *cliWorld) reaped() {
	w.t.Helper()
	locks, _ := filepath.Glob(filepath.Join(w.root, "home/.copilot/session-state/*/inuse.*.lock"))
	for _, lock := range locks {
		pid, err := strconv.Atoi(strings.Split(filepath.Base(lock), ".")[1])
		if err != nil {
			w.t.Fatal(err)
		}
		w.await(lock+" is of nobody", func() bool { return syscall.Kill(pid, 0) != nil })
	}
}

// rewindAndUndo: after a rewind, every file is as at the end of the turn; after the undo, as before
// the rewind.
func rewindAndUndo(t *testing.T, w *cliWorld) {
	n := w.last().Number
	w.work("do: write one.txt changed\ndo: write two.txt 2")
	tree := w.worktree(w.cli)
	w.write(tree, "mine.txt", "by hand\n")
	if err := os.Chmod(filepath.Join(tree, "two.txt"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := w.files(tree)
	w.ok(w.paw("rewind", w.cli, fmt.Sprint(n)))
	if w.has("two.txt") || w.has("mine.txt") {
		t.Error("files of later are still there")
	}
	if got, err := os.ReadFile(filepath.Join(tree, "one.txt")); string(got) != "1\n" {
		t.Errorf("one.txt after the rewind: %q, %v", got, err)
	}
	w.ok(w.paw("rewind", w.cli, "--undo"))
	if after := w.files(tree); after != before {
		t.Errorf("after --undo:\n%s\nwant:\n%s", after, before)
	}
	if err := os.Remove(filepath.Join(tree, "mine.txt")); err != nil {
		t.Fatal(err)
	}
}

// leftByTheUser: an agent whose user has left the CLI is completed, and recover brings it back only
// if the session is named.
func leftByTheUser(t *testing.T, w *cliWorld) {
	w.typed(farewells[w.cli].leave)
	if a := w.awaitState("completed"); !strings.Contains(text(a.Reason), "exited") {
		t.Errorf("left, with reason %q", text(a.Reason))
	}
	if out := w.ok(w.paw("recover", "--detach")); !strings.Contains(out.stdout, "completed") {
		t.Errorf("recover without a name:\n%s", out.stdout)
	}
	w.back()
}

// killedIdle: an agent whose CLI was killed while idle is shown as killed, and comes back.
func killedIdle(t *testing.T, w *cliWorld) {
	last := w.last().Number
	w.killCLI()
	if a := w.awaitState("error"); !strings.Contains(text(a.Reason), "signal 9") {
		t.Errorf("killed, with reason %q", text(a.Reason))
	}
	if now := w.last().Number; now != last {
		t.Errorf("turn %d began with the end of the CLI", now)
	}
	w.back()
}

// diesInTurn: a turn whose CLI was killed is aborted as a crash, with the files that the CLI has
// left.
func diesInTurn(t *testing.T, w *cliWorld) {
	n := w.last().Number + 1
	w.hang(n, "killed.txt")
	w.killCLI()
	w.awaitState("error")
	w.back()
	if cut := w.turn(n); cut.State != "aborted" || text(cut.Reason) != "crash" || cut.Tag != nil {
		t.Errorf("the cut turn is %s, reason %s, tag %s", cut.State, text(cut.Reason), text(cut.Tag))
	} else if got := w.git(w.repo, "show", *cut.Snapshot+":killed.txt"); got != "unfinished\n" {
		t.Errorf("what the cut turn left: %q", got)
	}
}

// killCLI kills the process that paw status names.
func (w *cliWorld) killCLI() {
	w.t.Helper()
	a := w.agent(w.cli)
	if a.PID == nil {
		w.t.Fatalf("%s has no pid: %s", w.cli, a.State)
	}
	if err := syscall.Kill(*a.PID, syscall.SIGKILL); err != nil {
		w.t.Fatal(err)
	}
	w.await("the CLI is dead", func() bool { return w.agent(w.cli).PID == nil })
}

// serverKilledIdle: after the tmux server was killed, the agent is suspended, and comes back.
func serverKilledIdle(t *testing.T, w *cliWorld) {
	last := w.last()
	w.crash()
	if a := w.agent(w.cli); a.State != "suspended" || !strings.Contains(text(a.Reason), "crash") {
		t.Errorf("after the crash: %s, %s", a.State, text(a.Reason))
	}
	if now := w.last(); now.Number != last.Number || now.State != last.State {
		t.Errorf("turn %d %s became turn %d %s", last.Number, last.State, now.Number, now.State)
	}
	w.back()
}

// crash kills the tmux server and waits for the CLI's end.
func (w *cliWorld) crash() {
	w.t.Helper()
	killServer(w.socket)
	w.await("the CLI is dead", func() bool { return w.agent(w.cli).PID == nil })
}

// rebooted: after a reboot, which ends all processes and empties /tmp, the agent is suspended, and
// comes back.
func rebooted(t *testing.T, w *cliWorld) {
	w.reboot()
	if a := w.agent(w.cli); a.State != "suspended" || !strings.Contains(text(a.Reason), "reboot") {
		t.Errorf("after a reboot: %s, %s", a.State, text(a.Reason))
	}
	w.back()
}

// anotherConversation: after a crash, the conversation of the last prompt comes back, and not an
// earlier one that the user has left.
func anotherConversation(t *testing.T, w *cliWorld) {
	old := w.agent(w.cli).ConversationID
	w.typed(farewells[w.cli].clear)
	w.await("the screen is cleared", func() bool { return !strings.Contains(w.visible(), "Still Kiki") })
	w.work("do: say The cat is called Momo.")
	if now := w.agent(w.cli).ConversationID; text(now) == text(old) {
		t.Errorf("the conversation is still %s", text(now))
	}
	w.crash()
	out := w.ok(w.paw("recover", "--detach"))
	if !strings.Contains(out.stdout, "resumed") {
		t.Errorf("recover:\n%s%s", out.stdout, out.stderr)
	}
	w.await("the CLI shows the new conversation", func() bool { return strings.Contains(w.screen(w.cli), "Momo") })
	if strings.Contains(w.screen(w.cli), "Kiki") {
		t.Error("the conversation that the user left is back")
	}
}

// threeOfOne: three agents with the same CLI do not get each other's prompts.
func threeOfOne(t *testing.T, w *cliWorld) {
	w.ok(w.paw("stop"))
	cli := w.cli
	names := []string{"one", "two", "three"}
	var items []string
	for _, name := range names {
		items = append(items, name+"="+cli)
	}
	w.ok(w.paw("start", "--name", "trio", "--cli", strings.Join(items, ","), "--detach"))
	for _, name := range names {
		w.await(name+" takes a prompt", func() bool {
			return w.pawInput("do: write "+name+".txt "+name, "send", name, "--session", "trio").code == 0
		})
	}
	for _, name := range names {
		var turns []turnJSON
		w.await(name+" has done its turn", func() bool {
			turns = w.turnsIn("trio", name)
			return len(turns) > 0 && turns[len(turns)-1].Tag != nil
		})
		if len(turns) != 1 {
			t.Errorf("%s has %d turns", name, len(turns))
			continue
		}
		var new []string
		for _, file := range strings.Fields(w.git(w.repo, "ls-tree", "--name-only", *turns[0].Snapshot)) {
			if slices.Contains([]string{"one.txt", "two.txt", "three.txt"}, file) {
				new = append(new, file)
			}
		}
		if !slices.Equal(new, []string{name + ".txt"}) {
			t.Errorf("the snapshot of %s has %v", name, new)
		}
	}
	w.ok(w.paw("stop", "trio"))
}
