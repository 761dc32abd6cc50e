//go:build clis

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCLIsAway: claude's agent view takes a conversation out of its pane. paw's settings switch the
// view off; if the user's settings switch it on, a conversation in the background still belongs to
// the agent: status says so, its turns are recorded, and stop, remove and recover act on it.
func TestCLIsAway(t *testing.T) {
	w := newCLIWorld(t, "claude")
	w.ok(w.paw("start", "--cli", "claude", "--detach"))
	w.work("do: say Hello.")
	w.press("Left") // another key at the same time would make Left an ordinary key
	w.standsStill()
	w.ok(w.tmux("send-keys", "-t", *w.agent("claude").PaneID, "-l", "behind the key"))
	w.await("what was typed behind the key is in the box", func() bool { return strings.Contains(w.visible(), "behind the key") })
	w.press("C-u")
	if a := w.agent("claude"); a.State != "idle" || a.Reason != nil {
		t.Errorf("after Left: %s, %s", a.State, text(a.Reason))
	}
	w.work("do: say Still here.")
	w.ok(w.paw("stop"))

	w.write(filepath.Join(w.root, "home/.config/paw"), "config.toml", "[clis.claude]\nargs = [\"--settings\", '{\"disableAgentView\":false}']\n")
	w.ok(w.paw("recover", "shop", "--detach"))
	w.await("the CLI shows the old messages", func() bool { return strings.Contains(w.screen("claude"), "Still here.") })
	w.awaitState("idle")
	leave := func() int {
		t.Helper()
		var pressed time.Time
		w.await("the conversation leaves its pane", func() bool {
			left := strings.Contains(text(w.agent("claude").Reason), "it left its pane")
			if !left && time.Since(pressed) > 5*time.Second { // in a box that was not empty yet, Left is an ordinary key
				w.press("Left")
				pressed = time.Now()
			}
			return left
		})
		w.press("Escape")
		_, after, _ := strings.Cut(text(w.agent("claude").Reason), "(pid ")
		number, _, _ := strings.Cut(after, ")")
		pid := 0
		for _, digit := range number {
			pid = 10*pid + int(digit-'0')
		}
		if pid <= 1 || syscall.Kill(pid, 0) != nil {
			t.Fatalf("no process works in the background: %s", text(w.agent("claude").Reason))
		}
		return pid
	}
	pid := leave()
	n := w.last().Number
	gate := filepath.Join(w.root, "gate")
	w.send("do: write lf1.txt 1\ndo: run " + untilExists(gate) + "; echo 2 > lf2.txt\ndo: say Done.")
	w.await("the turn works", func() bool { return w.has("lf1.txt") && runsWith(gate) })
	w.ok(w.paw("stop", "claude"))
	if !ended(pid) {
		t.Errorf("pid %d runs on after paw stop", pid)
	}
	if cut := w.turn(n + 1); text(cut.Reason) != "stopped" || cut.FilesChanged == nil || *cut.FilesChanged != 1 {
		t.Errorf("turn %d: %+v", n+1, cut)
	}
	w.write(w.root, "gate", "")
	w.await("its command has ended", func() bool { return !runsWith(gate) })
	if w.has("lf2.txt") {
		t.Error("it wrote after paw stop")
	}

	w.ok(w.paw("recover", "shop", "--detach"))
	w.await("the CLI shows the old messages", func() bool { return strings.Contains(w.screen("claude"), "lf1.txt") })
	w.work("do: say Recovered.")
	pid = leave()
	w.crashAway(pid)
	if a := w.agent("claude"); !strings.Contains(text(a.Reason), "runs on without its pane") {
		t.Errorf("after the crash: %s, %s", a.State, text(a.Reason))
	}
	out := w.paw("recover", "--detach")
	if out.code != 1 || !strings.Contains(out.stderr, "paw stop shop claude --only && paw recover shop") || ended(pid) {
		t.Errorf("recover: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	w.ok(w.paw("stop", "shop", "claude", "--only"))
	if out := w.ok(w.paw("recover", "shop", "--detach")); !strings.Contains(out.stdout, "resumed") {
		t.Errorf("recover:\n%s%s", out.stdout, out.stderr)
	}
	w.await("the CLI shows the old messages", func() bool { return strings.Contains(w.screen("claude"), "Recovered.") })

	w.awaitState("idle")
	pid = leave()
	tree := w.worktree("claude")
	gate = filepath.Join(w.root, "another")
	w.send("do: write rm1.txt 1\ndo: run " + untilExists(gate) + "; mkdir -p " + tree + "; echo 2 > " + tree + "/rm2.txt")
	w.await("the turn works", func() bool { return w.has("rm1.txt") && runsWith(gate) })
	w.ok(w.paw("remove", "claude", "--force"))
	w.write(w.root, "another", "")
	w.await("its command has ended", func() bool { return !runsWith(gate) })
	if _, err := os.Stat(tree); err == nil || !ended(pid) {
		t.Errorf("its worktree is there again, or pid %d", pid)
	}
}

// standsStill waits until the agent's pane has not changed for two seconds.
func (w *cliWorld) standsStill() {
	w.t.Helper()
	shown, since := w.visible(), time.Now()
	w.await("the screen stands still", func() bool {
		if now := w.visible(); now != shown {
			shown, since = now, time.Now()
		}
		return time.Since(since) > 2*time.Second
	})
}

// runsWith reports whether any process has a text in its command line.
func runsWith(text string) bool { return exec.Command("pgrep", "-f", text).Run() == nil }

// TestCLIsElsewhere: each CLI can take its conversation into another worktree, whose files are then in no turn of the agent.
// paw says so, sends nothing there, and says how the work is taken in.
func TestCLIsElsewhere(t *testing.T) {
	startEach(t, []string{"claude", "codex", "opencode", "qwen", "copilot"}, func(t *testing.T, w *cliWorld) {
		w.work(map[bool]string{true: "do: say Here.", false: "do: run mkdir sub && cd sub\ndo: run pwd\ndo: say Below."}[w.cli == "copilot"]) // copilot would ask
		if a := w.agent(w.cli); a.Reason != nil {
			t.Errorf("in a folder of its worktree: %s", text(a.Reason))
		}
		other := w.leaveWorktree()
		w.await("it is somewhere else", func() bool { return w.agent(w.cli).Reason != nil })
		a := w.awaitState("idle")
		said := "it works in " + other + ", not in its worktree"
		if w.cli == "qwen" { // its process stays, only its model knows
			said = other + " is a worktree that no turn has"
		}
		if text(a.Reason) != said {
			t.Fatalf("in another worktree: %s, %s; %q is expected", a.State, text(a.Reason), said)
		}
		if out := w.paw("doctor"); out.code != 1 || !strings.Contains(out.stdout+out.stderr, said) {
			t.Errorf("paw doctor: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
		}
		w.write(other, "there.txt", "there")
		out := w.paw("send", w.cli, "do: say more")
		if w.cli == "qwen" {
			w.finished(w.last().Number - 1)
			if out = w.paw("land", w.cli); out.code == 0 {
				t.Errorf("landed: %s%s", out.stdout, out.stderr)
			}
		}
		if out.code != 3 || !strings.Contains(out.stderr, said) {
			t.Fatalf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
		}
		_, line, _ := strings.Cut(out.stderr, "paw: hint: git ")
		line, _, _ = strings.Cut(line, "\n")
		if out, err := exec.Command("sh", "-c", "git "+line).CombinedOutput(); err != nil || !w.has("there.txt") {
			t.Errorf("git %s: %v, %s", line, err, out)
		}
		if w.cli == "qwen" { // it goes on there
			w.ok(w.paw("stop", w.cli, "--only"))
			w.ok(w.paw("recover", "shop", "--detach"))
			if a := w.awaitState("idle"); text(a.Reason) != said {
				t.Errorf("after recover: %s", text(a.Reason))
			}
			return
		}
		if w.cli == "claude" {
			w.press("do: tool ExitWorktree {\"action\":\"keep\"}")
			w.standsStill()
			w.press("Enter")
			w.await("it is back", func() bool { return w.agent(w.cli).Reason == nil })
			w.finished(w.last().Number - 1)
			return
		}
		w.ok(w.paw("stop", w.cli, "--only"))
		w.ok(w.paw("recover", "shop", "--detach"))
		w.awaitState("idle")
		if w.cli == "copilot" { // it goes on where it was
			if a := w.agent(w.cli); text(a.Reason) != said {
				t.Errorf("after recover: %s", text(a.Reason))
			}
			w.press("/cwd", "Space", w.worktree(w.cli))
			w.standsStill()
			w.press("Enter")
			w.await("it is back", func() bool { return w.agent(w.cli).Reason == nil })
		}
		if w.work("do: write back.txt 1"); !w.has("back.txt") || w.agent(w.cli).Reason != nil {
			t.Errorf("back in its worktree: %s", text(w.agent(w.cli).Reason))
		}
		if w.cli == "copilot" { // a conversation beside its own
			w.press("/new", "Space", "worktree")
			w.standsStill()
			w.press("Enter")
			w.await("it is somewhere else", func() bool { return w.agent(w.cli).Reason != nil })
			if out := w.paw("send", w.cli, "do: say more"); out.code != 3 || !strings.Contains(out.stderr, "shop.worktrees/worktree-") {
				t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}
		}
	})
}

// leaveWorktree has the agent's CLI go to another worktree, and returns that.
func (w *cliWorld) leaveWorktree() string {
	w.t.Helper()
	beside := func(pattern string) (found string) {
		w.await("the other worktree is there", func() bool {
			for line := range strings.Lines(w.git(w.repo, "worktree", "list", "--porcelain")) {
				if path, is := strings.CutPrefix(strings.TrimSpace(line), "worktree "); is && strings.Contains(path, pattern) {
					found = path
				}
			}
			return found != ""
		})
		return found
	}
	switch w.cli {
	case "claude":
		w.work("do: tool ToolSearch {\"query\":\"select:EnterWorktree,ExitWorktree\"}\ndo: tool EnterWorktree {\"name\":\"other\"}\ndo: say Entered.")
		return beside(".claude/worktrees/other")
	case "qwen":
		w.work("do: tool tool_search {\"query\":\"select:enter_worktree\"}\n" +
			"do: tool tool_call {\"name\":\"enter_worktree\",\"arguments\":{\"name\":\"other\"}}\ndo: say Entered.")
		return beside(".qwen/worktrees/other")
	case "copilot":
		w.press("/worktree", "Space", "other")
		w.standsStill()
		w.press("Enter")
		path := beside("/other")
		w.await("it is there", func() bool { return w.agent(w.cli).Reason != nil })
		return path
	}
	if w.cli == "opencode" {
		other := filepath.Join(w.root, "other")
		w.git(w.repo, "worktree", "add", "-b", "other", other)
		for _, key := range []string{"/move", "Enter", "other", "Enter"} {
			w.press(key)
			w.standsStill()
		}
		return other
	}
	w.press("/fork")
	w.standsStill()
	w.press("Enter")
	w.await("it asks where", func() bool { return strings.Contains(w.visible(), "Create new Git worktree") })
	w.press("Down")
	w.standsStill()
	w.press("Enter")
	path := beside(".codex/worktrees")
	w.await("it has gone there", func() bool { return strings.Contains(w.visible(), "Working directory changed") })
	return path
}

// crashAway kills the tmux server while the agent works as process pid outside its pane, and waits
// until the pane's process is dead.
func (w *cliWorld) crashAway(pid int) {
	w.t.Helper()
	killServer(w.socket)
	w.await("the CLI of the pane is dead", func() bool { p := w.agent(w.cli).PID; return p != nil && *p == pid })
}
