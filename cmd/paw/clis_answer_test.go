//go:build clis

package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paw/orchestrator/cli/fakemodel"
)

// TestCLIsAnswer answers questions of the real CLIs with yes and with no, and expects an error
// where nothing is asked in a turn.
func TestCLIsAnswer(t *testing.T) {
	for _, cli := range fakemodel.TUIs {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			t.Logf("%s %s", cli, strings.TrimSpace(w.run(w.root, nil, cli, "--version").stdout))
			w.ok(w.paw("start", "--cli", cli, "--detach"))
			w.work("do: say Hello.")
			if out := w.paw("answer", cli, "yes"); out.code != 3 || !strings.Contains(out.stderr, "is not asking anything") {
				t.Errorf("an answer to nothing: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}

			before := w.last().Number
			w.send("do: ask touch granted.txt\ndo: say Granted.")
			asked := w.question(cli)
			if !strings.Contains(asked.Question+text(asked.Reason), "touch granted.txt") || len(asked.Options) < 2 {
				t.Errorf("it asks %+v", asked)
			}
			if out := w.paw("answer", cli, "Postgres"); out.code != 3 || w.has("granted.txt") {
				t.Errorf("an answer that it does not offer: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}
			out := w.paw("answer", cli, "yes")
			t.Logf("yes: exit code %d, %s%s", out.code, out.stdout, out.stderr)
			if out.code != 0 {
				t.Errorf("yes: exit code %d\n%s%s\n%s", out.code, out.stdout, out.stderr, w.visible())
			}
			w.await("the permission is granted", func() bool { return w.has("granted.txt") })
			if one := w.finished(before); one.Number != before+1 {
				t.Errorf("turn %d", one.Number)
			}

			w.send("do: ask touch refused.txt\ndo: say Refused.")
			w.question(cli)
			out = w.paw("answer", cli, "no")
			t.Logf("no: exit code %d, %s%s", out.code, out.stdout, out.stderr)
			if out.code != 0 {
				t.Errorf("no: exit code %d\n%s%s\n%s", out.code, out.stdout, out.stderr, w.visible())
			}
			w.awaitState("idle")
			if w.has("refused.txt") {
				t.Error("the command ran although it was refused")
			}

			// copilot records the refusal a moment before its dialog leaves the screen.
			late := filepath.Join(w.root, "late")
			w.await("its dialog is gone, and a prompt is taken", func() bool {
				return w.paw("send", cli, "do: ask until test -e "+late+"; do sleep 0.1; done\ndo: say Late.").code == 0
			})
			w.question(cli)
			out = w.paw("answer", cli, "yes")
			t.Logf("yes to a long command: exit code %d, %s%s", out.code, out.stdout, out.stderr)
			if out.code != 0 {
				t.Errorf("yes to a long command: exit code %d\n%s%s\n%s", out.code, out.stdout, out.stderr, w.visible())
			}
			if out := w.paw("wait", cli, "--timeout", "1ms"); out.code != 7 {
				t.Errorf("wait after the answer: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}
			if a := w.agent(cli); a.State == "waiting_input" {
				t.Errorf("the long command runs, and status says %s, %s by %s\n%s", a.State, text(a.Reason), a.StateSource, w.visible())
			}
			w.write(w.root, "late", "")
			w.awaitState("idle")
		})
	}
}

// question waits until paw can answer what the CLI asks, and returns the question.
func (w *cliWorld) question(cli string) questionJSON {
	w.t.Helper()
	var asked questionJSON
	w.await("the question is on the screen, with its answers", func() bool {
		out := w.paw("answer", cli, "--json")
		return out.code == 0 && json.Unmarshal([]byte(out.stdout), &asked) == nil
	})
	return asked
}

// TestCLIsAnswerByTheHook: a permission of claude is answered without a key and without its screen, by the hook that reported
// it. The hook's process ends when the question is over: answered by paw, by a key, by Esc, or with claude killed.
func TestCLIsAnswerByTheHook(t *testing.T) {
	w := newCLIWorld(t, "claude")
	w.ok(w.paw("start", "--cli", "claude", "--detach"))
	w.work("do: say Hello.")
	w.ok(w.tmux("resize-window", "-t", *w.agent("claude").PaneID, "-x", "34", "-y", "9")) // too low for the answers
	ended := func() {
		t.Helper()
		w.await("no hook waits", func() bool { return len(w.waitingHooks()) == 0 })
	}

	before := w.last().Number
	w.send("do: ask touch yes.txt\ndo: say Over.")
	if asked := w.question("claude"); !strings.Contains(asked.Question, "touch yes.txt") || len(w.waitingHooks()) != 1 {
		t.Errorf("it asks %+v, and %d hooks wait", asked, len(w.waitingHooks()))
	}
	w.ok(w.paw("answer", "claude", "yes"))
	if w.finished(before); !w.has("yes.txt") {
		t.Error("the command has not run")
	}
	ended()

	w.send("do: ask touch no.txt")
	w.question("claude")
	w.ok(w.paw("answer", "claude", "no"))
	w.awaitState("idle")
	if one := w.last(); one.State != "aborted" || w.has("no.txt") {
		t.Errorf("the refused turn is %+v", one)
	}
	ended()

	for _, key := range []string{"1", "Escape"} {
		w.send("do: ask touch key" + key + ".txt")
		w.question("claude")
		w.press(key)
		w.awaitState("idle")
		if w.has("key"+key+".txt") != (key == "1") {
			t.Errorf("after %s the command ran, or did not", key)
		}
		ended()
	}

	w.send("do: ask touch killed.txt")
	w.question("claude")
	w.killCLI()
	ended()
	w.ok(w.paw("recover", "shop", "--detach"))
	if one := w.work("do: say Back."); one.State != "finished" {
		t.Errorf("%+v", one)
	}
}

// waitingHooks returns the processes of claude's hooks that wait for an answer.
func (w *cliWorld) waitingHooks() (all []process) {
	for _, p := range processes("HOME=" + filepath.Join(w.root, "home")) {
		if slices.Contains(p.words, "PermissionRequest") {
			all = append(all, p)
		}
	}
	return all
}
