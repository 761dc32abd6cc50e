//go:build clis

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"paw/orchestrator/cli/fakemodel"
	"paw/session"
)

// slowChat makes each line of qwen's chat file a second late, as slow disks do.
const slowChat = `const fs = require('fs')
const later = () => new Promise(f => setTimeout(f, 1000))
const append = fs.promises.appendFile
fs.promises.appendFile = async function (path, ...rest) {
	if (String(path).includes('/chats/')) await later()
	return append.call(this, path, ...rest)
}
require('module').syncBuiltinESMExports()
`

// TestCLIsEscBeforeTheRecord: qwen says that it is idle long before its chat file has the turn.
func TestCLIsEscBeforeTheRecord(t *testing.T) {
	w := newCLIWorld(t, "qwen")
	w.write(w.root, "slow.cjs", slowChat)
	w.env = append(w.env, "NODE_OPTIONS=--require="+filepath.Join(w.root, "slow.cjs"))
	w.ok(w.paw("start", "--cli", "qwen", "--detach"))
	w.work("do: say Ready.")
	w.hang(2, "half.txt")
	w.escape()
	if a := w.awaitState("idle"); text(a.Reason) != "turn interrupted" {
		t.Errorf("idle with reason %q, source %s", text(a.Reason), a.StateSource)
	}
	if cut := w.turn(2); cut.State != "aborted" || text(cut.Reason) != "interrupted" {
		t.Errorf("the turn is %s, reason %s", cut.State, text(cut.Reason))
	}
	if one := w.work("do: say Once more."); one.Number != 3 {
		t.Errorf("turn %d", one.Number)
	}
}

// TestCLIsInterruptAQuestion: paw interrupt ends a turn that waits with a question, also where Esc closes the question alone, and
// nothing behind it is done. The next prompt comes alone.
func TestCLIsInterruptAQuestion(t *testing.T) {
	startEach(t, fakemodel.TUIs, func(t *testing.T, w *cliWorld) {
		w.work("do: say Ready.")
		n := w.last().Number + 1
		w.send("do: ask touch asked\ndo: run sleep 3\ndo: write after.txt 1\ndo: say Done.")
		w.question(w.cli)
		out := w.ok(w.paw("interrupt", w.cli))
		if cut := w.turn(n); cut.State != "aborted" || w.has("after.txt") {
			t.Errorf("turn %d is %s:\n%s", n, cut.State, out.stdout)
		}
		if one := w.work("do: say Next."); one.Number != n+1 || strings.TrimSpace(one.Prompt) != "do: say Next." {
			t.Errorf("turn %d: %q", one.Number, one.Prompt)
		}
	})
}

// TestCLIsEscInAHook: an Esc that comes while qwen waits for a hook of paw leaves the agent idle.
// Of a turn whose answer is there it ends the hook, and the turn ends all the same.
func TestCLIsEscInAHook(t *testing.T) {
	w := newCLIWorld(t, "qwen")
	w.ok(w.paw("start", "--cli", "qwen", "--detach"))
	w.work("do: say Ready.")
	escapeIn := func(event string) {
		unlock, err := session.Locks{Dir: filepath.Join(w.root, "home/.local/state/paw/locks")}.Turn(t.Context(), "shop", "qwen")
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		if event == "UserPromptSubmit" {
			w.press("Enter")
		}
		w.await("the hook "+event+" runs", func() bool { return exec.Command("pgrep", "-f", "hook qwen "+event).Run() == nil })
		before := w.kept("qwen-idle.json")
		w.press("Escape")
		w.await("qwen says that it is idle", func() bool { return w.kept("qwen-idle.json") != before })
	}
	w.send("do: sleep 2\ndo: say All done.")
	escapeIn("Stop")
	w.awaitState("idle")
	switch one := w.turn(2); one.State {
	case "finished":
		if text(one.Message) != "All done." {
			t.Errorf("the turn ended with %q", text(one.Message))
		}
	case "aborted": // where the chat file had no answer within two seconds
	default:
		t.Errorf("the turn is %s", one.State)
	}
	w.press("C-u", "C-u", "C-u", "C-u") // a line each
	w.ok(w.tmux("send-keys", "-l", "-t", *w.agent(w.cli).PaneID, "do: say Early."))
	w.await("the prompt is typed", func() bool { return strings.Contains(w.visible(), "> do: say Early.") })
	escapeIn("UserPromptSubmit")
	w.await("the turn is interrupted", func() bool { return w.last().Number == 3 && w.turn(3).State == "aborted" })
	if a := w.awaitState("idle"); text(a.Reason) != "turn interrupted" {
		t.Errorf("idle with reason %q, source %s", text(a.Reason), a.StateSource)
	}
	w.press("C-u", "C-u", "C-u", "C-u") // a line each
	if one := w.work("do: say Once more."); one.Number != 4 {
		t.Errorf("turn %d", one.Number)
	}
}
