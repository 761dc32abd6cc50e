//go:build clis

package main

import (
	"strings"
	"testing"

	"paw/orchestrator/cli/fakemodel"
)

// TestCLIsComeBackAfterAnEscInTheFirstTurn: after an Esc in the first turn and a stop, recover
// starts a CLI that takes prompts.
func TestCLIsComeBackAfterAnEscInTheFirstTurn(t *testing.T) {
	startEach(t, []string{"qwen", "copilot", "opencode", "pi"}, func(t *testing.T, w *cliWorld) {
		w.awaitState("idle")
		w.hang(1, "cut.txt")
		w.escape()
		w.awaitState("idle")
		w.ok(w.paw("stop"))
		out := w.ok(w.paw("recover", "shop", "--detach"))
		t.Log(out.stdout)
		w.awaitState("idle")
		if one := w.work("do: say Back."); one.Number != 2 {
			t.Errorf("turn %d", one.Number)
		}
	})
}

// TestCLIsLandAfterRecover: an agent that was brought back and that paw status calls idle lands and is updated, before its CLI has had
// a prompt.
func TestCLIsLandAfterRecover(t *testing.T) {
	startEach(t, fakemodel.TUIs, func(t *testing.T, w *cliWorld) {
		w.work("do: write a.txt 1")
		w.ok(w.paw("stop"))
		w.ok(w.paw("recover", "shop", "--detach"))
		w.awaitState("idle")
		w.write(w.worktree(w.cli), "hand.txt", "of the user")
		w.ok(w.paw("update", w.cli))
		w.ok(w.paw("land", w.cli))
		if got := w.git(w.repo, "show", "main:hand.txt"); got != "of the user" {
			t.Errorf("main has %q", got)
		}
	})
}

// TestCLIsAskTwiceInATurn: the second permission in a turn is seen and answered like the first.
func TestCLIsAskTwiceInATurn(t *testing.T) {
	startEach(t, fakemodel.TUIs, func(t *testing.T, w *cliWorld) {
		w.work("do: say Ready.")
		before := w.last().Number
		w.send("do: ask touch y1\ndo: ask touch y2\ndo: say Both.")
		for _, file := range []string{"y1", "y2"} {
			w.await(w.cli+" waits with the question about "+file, func() bool {
				a := w.agent(w.cli)
				return a.State == "waiting_input" && strings.Contains(text(a.Reason), "touch "+file)
			})
			w.question(w.cli)
			w.ok(w.paw("answer", w.cli, "yes"))
			w.await("it is done", func() bool { return w.has(file) })
		}
		w.finished(before)
	})
}
