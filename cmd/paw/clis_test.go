//go:build clis

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paw/orchestrator/cli/fakemodel"
	"paw/session/history"
)

// TestCLIs drives each real CLI through a day's work with paw.
func TestCLIs(t *testing.T) {
	for _, cli := range fakemodel.TUIs {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			t.Logf("%s %s", cli, strings.TrimSpace(w.run(w.root, nil, cli, "--version").stdout))
			w.ok(w.paw("start", "--cli", cli, "--detach"))
			day := []struct {
				name string
				do   func(*testing.T, *cliWorld)
			}{
				{"edit without commit", editWithoutCommit},
				{"commit", commitTurn},
				{"permission", permission},
				{"interrupt", interrupt},
				{"API error", apiError},
				{"queued prompt", queuedPrompt},
				{"crash", crashInTurn},
				{"stop", stopAndLook},
			}
			for _, scenario := range day {
				if !w.during(t, scenario.name, func(t *testing.T) { scenario.do(t, w) }) {
					t.Fatalf("what comes after %s was not tried", scenario.name)
				}
			}
		})
	}
}

// editWithoutCommit: the tag is on HEAD, the work is in the snapshot and in the diff.
func editWithoutCommit(t *testing.T, w *cliWorld) {
	base := w.oid("main")
	one := w.work("do: write draft.txt unfinished\ndo: say The draft is there.")
	if one.Number != 1 || w.oid("paw/shop/"+w.cli) != base || *one.CommitHash != base {
		t.Errorf("turn %d of %s, base %s: %s", one.Number, w.cli, base, *one.CommitHash)
	}
	if one.Snapshot == nil || *one.Snapshot == base {
		t.Fatalf("no snapshot of its own: %v", one.Snapshot)
	}
	if got := w.git(w.repo, "show", *one.Snapshot+":draft.txt"); got != "unfinished\n" {
		t.Errorf("draft.txt in the snapshot: %q", got)
	}
	want := w.git(w.repo, "diff", "--binary", "--full-index", "--no-color", base, *one.Snapshot)
	if got := w.ok(w.paw("diff", w.cli, "1")).stdout; got != want || strings.Count(got, "\n+") != 2 || !strings.Contains(got, "\n+unfinished\n") {
		t.Errorf("paw diff %s 1:\n%s\nwant:\n%s", w.cli, got, want)
	}
	if got := w.git(w.worktree(w.cli), "status", "--porcelain", "--ignored"); got != "?? draft.txt\n" {
		t.Errorf("the worktree after the turn: %q", got)
	}
	if said := text(one.Message); said != "The draft is there." {
		t.Errorf("message %q", said)
	}
}

// commitTurn: a prompt without steps is noted and committed by the scripted model.
func commitTurn(t *testing.T, w *cliWorld) {
	before := w.last().Number
	one := w.work("Make it faster")
	if one.Number != before+1 || *one.CommitHash == w.oid("main") || *one.CommitHash != w.oid("paw/shop/"+w.cli) {
		t.Errorf("turn %d ended on %s, the branch is at %s", one.Number, *one.CommitHash, w.oid("paw/shop/"+w.cli))
	}
	if text(one.Outcome) != "success" || !strings.HasPrefix(text(one.Message), "Make it faster\n") {
		t.Errorf("outcome %s, message %q", text(one.Outcome), text(one.Message))
	}
	if got := w.ok(w.paw("diff", w.cli, fmt.Sprint(one.Number), "--stat")).stdout; !strings.Contains(got, "NOTES.md") || strings.Contains(got, "draft.txt") {
		t.Errorf("paw diff --stat of a commit of NOTES.md and of the draft of the turn before:\n%s", got)
	}
}

// permission: paw status says that the CLI waits, and nothing is typed into its question.
func permission(t *testing.T, w *cliWorld) {
	before := w.last().Number
	w.send("do: ask touch granted.txt\ndo: say Granted.")
	var a agentJSON
	w.await("it waits with the question", func() bool { // that it waits can be known a moment before what it asks
		a = w.agent(w.cli)
		return a.State == "waiting_input" && strings.Contains(text(a.Reason), "touch granted.txt")
	})
	if a.CurrentTurn == nil || *a.CurrentTurn != before+1 {
		t.Errorf("it waits with reason %q in turn %v", text(a.Reason), a.CurrentTurn)
	}
	if out := w.pawInput("never into a question", "send", w.cli); out.code != 3 {
		t.Errorf("send into the question: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if w.has("granted.txt") {
		t.Error("the command ran before it was allowed")
	}
	w.answer(fakemodel.MannersOf[w.cli].Allow)
	w.await("the permission is granted", func() bool { return w.has("granted.txt") })
	one := w.finished(before)
	if one.Number != before+1 || *one.FilesChanged != 1 {
		t.Errorf("turn %d changed %d files", one.Number, *one.FilesChanged)
	}
}

// answer presses keys in the CLI's question until that is gone. The first keys
// may be ignored, and one that comes before the question is typed into the next prompt.
func (w *cliWorld) answer(keys []string) {
	w.t.Helper()
	asks := func() bool { return strings.Contains(w.visible(), fakemodel.MannersOf[w.cli].Asks) }
	w.await("the question is on the screen", asks)
	var pressed time.Time
	w.await("the question is answered", func() bool {
		if asks() && time.Since(pressed) > 2*time.Second {
			w.press(keys...)
			pressed = time.Now()
		}
		return !asks()
	})
}

// interrupt: an Esc leaves the agent idle, and the next prompt finds the turn interrupted.
func interrupt(t *testing.T, w *cliWorld) {
	n := w.last().Number + 1
	w.hang(n, "half.txt")
	w.escape()
	a := w.awaitState("idle")
	if text(a.Reason) != "turn interrupted" {
		t.Errorf("idle with reason %q, source %s", text(a.Reason), a.StateSource)
	}
	next := w.work("do: say Once more.")
	if cut := w.turn(n); cut.State != "aborted" || text(cut.Reason) != "interrupted" || cut.Tag != nil {
		t.Errorf("the turn is %s, reason %s, tag %s", cut.State, text(cut.Reason), text(cut.Tag))
	} else if got := w.git(w.repo, "show", *cut.Snapshot+":half.txt"); got != "unfinished\n" {
		t.Errorf("what the turn left: %q", got)
	}
	if next.Number != n+1 || next.Prompt != "do: say Once more." {
		t.Errorf("the next turn is %d: %q", next.Number, next.Prompt)
	}
}

// escape interrupts the turn.
func (w *cliWorld) escape() {
	w.t.Helper()
	w.ok(w.paw("interrupt", w.cli))
}

// hang begins turn n, which makes a file, and waits until its model is silent in the midst of the answer.
func (w *cliWorld) hang(n int, file string) {
	w.t.Helper()
	prompt := fmt.Sprintf("do: write %s unfinished\ndo: hang", file)
	w.send(prompt)
	w.await("the model hangs", func() bool { _, asked := w.model.Asked(prompt, 1); return asked })
	if a := w.agent(w.cli); a.State != "running" || a.CurrentTurn == nil || *a.CurrentTurn != n {
		w.t.Errorf("%s in turn %v, want running in %d", a.State, a.CurrentTurn, n)
	}
}

// apiError: the agent is in error, and the turn was aborted for it. It takes the
// next prompt as soon as paw says so.
func apiError(t *testing.T, w *cliWorld) {
	for range 3 {
		n := w.last().Number + 1
		w.send("do: fail 400 scripted overload")
		a := w.awaitState("error")
		if !strings.Contains(text(a.Reason), "scripted overload") {
			t.Errorf("in error because of %q", text(a.Reason))
		}
		next := w.work("do: say Works again.")
		if failed := w.turn(n); failed.State != "aborted" || text(failed.Reason) != "error" || failed.Tag != nil {
			t.Errorf("the turn is %s, reason %s, tag %s", failed.State, text(failed.Reason), text(failed.Tag))
		}
		if next.Number != n+1 {
			t.Errorf("the next turn is %d", next.Number)
		}
	}
}

// queuedPrompt: a prompt that arrives while a turn runs is done, too.
func queuedPrompt(t *testing.T, w *cliWorld) {
	n := w.last().Number + 1
	gate := filepath.Join(w.root, "gate")
	w.send("do: write first.txt 1\ndo: run " + untilExists(gate))
	w.await("the command of its last step runs", func() bool { return exec.Command("pgrep", "-f", gate).Run() == nil })
	out := w.pawInput("do: write second.txt 2\ndo: say Both done.", "send", w.cli)
	t.Logf("exit code %d: %s%s", out.code, out.stdout, out.stderr)
	if out.code != 0 {
		t.Errorf("a prompt for a busy %s: exit code %d\n%s%s", w.cli, out.code, out.stdout, out.stderr)
	}
	background := fakemodel.MannersOf[w.cli].Background
	if !background {
		w.write(w.root, "gate", "")
	}
	w.await("both prompts are done", func() bool { return w.has("second.txt") })
	last := w.finished(n - 1)
	if background {
		w.write(w.root, "gate", "")
		if last = w.finished(n); last.Type != "task-notification" {
			t.Errorf("turn %d after the end of the command is of type %s", last.Number, last.Type)
		}
	}
	t.Logf("%d turn(s) for two prompts", last.Number-n+1)
	if files := w.git(w.repo, "ls-tree", "--name-only", *last.Snapshot); !strings.Contains(files, "first.txt\n") || !strings.Contains(files, "second.txt\n") {
		t.Errorf("the last snapshot has %q", files)
	}
}

// untilExists is a command that ends once a file exists, or its folder does no more. gemini runs none with a
// substitution.
func untilExists(file string) string {
	return fmt.Sprintf("while test -d '%s' && ! test -e '%s'; do sleep 0.1; done", filepath.Dir(file), file)
}

// crashInTurn: the tmux server dies with a turn open; recover brings the conversation back.
func crashInTurn(t *testing.T, w *cliWorld) {
	w.work("do: say The parrot is called Kiki.")
	n := w.last().Number + 1
	w.hang(n, "cut.txt")
	conversation := *w.agent(w.cli).ConversationID
	killServer(w.socket)
	var a agentJSON
	w.await("the CLI is dead", func() bool {
		a = w.agent(w.cli)
		return a.PID == nil
	})
	t.Logf("after the crash: %s, %s", a.State, text(a.Reason))
	if a.State != "suspended" || a.Reason == nil {
		t.Errorf("after the crash: %s, reason %s", a.State, text(a.Reason))
	}
	out := w.ok(w.paw("recover", "--detach"))
	if !strings.Contains(out.stdout, "resumed") {
		t.Errorf("recover:\n%s%s", out.stdout, out.stderr)
	}
	w.await("the CLI shows the old messages", func() bool { return strings.Contains(w.screen(w.cli), "Kiki") })
	if cut := w.turn(n); cut.State != "aborted" || text(cut.Reason) != "crash" || cut.Tag != nil {
		t.Errorf("the cut turn is %s, reason %s; tag %s", cut.State, text(cut.Reason), text(cut.Tag))
	} else if got := w.git(w.repo, "show", *cut.Snapshot+":cut.txt"); got != "unfinished\n" {
		t.Errorf("what the cut turn left: %q", got)
	}
	next := w.work("do: say After all.")
	if a := w.agent(w.cli); a.ConversationID == nil || *a.ConversationID != conversation || next.Number != n+1 {
		t.Errorf("turn %d in conversation %s, want %d in %s", next.Number, text(a.ConversationID), n+1, conversation)
	}
}

// stopAndLook: everything is off, the tags are right, and paw has left nothing in the trees.
func stopAndLook(t *testing.T, w *cliWorld) {
	w.work("do: commit Everything")
	w.lookForTraces()
	w.await("its record has the last answer", func() bool { // that of qwen is behind where much else runs
		all := w.readLog(w.cli).Messages
		return len(all) > 0 && all[len(all)-1].Role == history.RoleAssistant && len(all[len(all)-1].ToolCalls) == 0
	})
	w.ok(w.paw("stop"))
	if a := w.agent(w.cli); a.PID != nil || a.State != "suspended" {
		t.Errorf("after stop: %s, pid %v", a.State, a.PID)
	}
	if out := w.tmux("list-panes", "-a"); out.code == 0 {
		t.Errorf("panes after stop:\n%s", out.stdout)
	}
	w.checkTurns(w.cli)
	w.lookForTraces()
	if hooks, err := os.ReadFile(filepath.Join(w.root, "home/.local/state/paw/hooks.log")); err == nil {
		t.Errorf("hooks failed:\n%s", hooks)
	}
	w.checkLog(w.cli)
}

// lookForTraces looks for files that paw must not leave in the main checkout and in worktrees whose agents committed all.
func (w *cliWorld) lookForTraces() {
	w.t.Helper()
	dirs := []string{w.repo}
	for _, s := range w.view().Sessions {
		for _, a := range s.Agents {
			dirs = append(dirs, a.WorktreePath)
		}
	}
	for _, dir := range dirs {
		if got := w.git(dir, "status", "--porcelain", "--ignored", "--untracked-files=all"); got != "" {
			w.t.Errorf("git status --ignored in %s:\n%s", dir, got)
		}
	}
}
