//go:build clis

package main

import (
	"fmt"
	"strings"
	"testing"

	"paw/orchestrator/cli/fakemodel"
)

// TestCLIsAnswerRaces changes what a real CLI asks while paw is about to answer: the user answers
// in the pane, another question takes the place of the first, or the CLI dies. paw types no wrong
// answer, and says what has happened.
func TestCLIsAnswerRaces(t *testing.T) {
	startEach(t, fakemodel.TUIs, func(t *testing.T, w *cliWorld) {
		cli := w.cli
		w.awaitState("idle")
		tmux := fmt.Sprintf("tmux -S %s", w.socket)
		allow := fmt.Sprintf("sleep 1.5; %s send-keys -t %s %s", tmux, *w.agent(cli).PaneID, strings.Join(fakemodel.MannersOf[cli].Allow, " "))
		meanwhile := func(step, script string, args ...string) output {
			t.Helper()
			out := w.pawWith([]string{"PAW_TEST_AT=" + step, "PAW_TEST_DO=" + script}, append([]string{"answer", cli}, args...)...)
			t.Logf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			return out
		}

		w.during(t, "the user answers", func(t *testing.T) {
			before := w.last().Number
			w.send("do: ask touch one.txt")
			w.question(cli)
			out := meanwhile("answer.begun", fmt.Sprintf("%s; until test -e %s/one.txt; do sleep 0.1; done; sleep 2", allow, w.worktree(cli)), "no")
			if out.code != 3 || !strings.Contains(out.stderr, "is not asking anything") {
				t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}
			w.finished(before)
			if one := w.work("do: say the box was empty"); one.Prompt != "do: say the box was empty" {
				t.Errorf("the next prompt is %q", one.Prompt)
			}
		})

		w.during(t, "another question", func(t *testing.T) {
			before := w.last().Number
			w.send("do: ask touch two.txt\ndo: ask touch three.txt")
			w.question(cli)
			out := meanwhile("answer.begun", fmt.Sprintf("%s; until %s capture-pane -p -J -t %s | tail -30 | grep -q 'sh -c .touch three.txt'; do sleep 0.1; done; sleep 1", allow, tmux, *w.agent(cli).PaneID), "no")
			if out.code != 3 || !strings.Contains(out.stderr, "asks something else by now: ") {
				t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}
			w.await("the other question can be answered", func() bool { return w.paw("answer", cli, "yes").code == 0 })
			w.finished(before)
			if !w.has("two.txt") || !w.has("three.txt") {
				t.Error("a command was refused")
			}
		})

		w.during(t, "it dies", func(t *testing.T) {
			w.send("do: ask touch four.txt")
			w.question(cli)
			// A killed process may exist for long, until its threads have ended; tmux says when it
			// has gone. qwen and copilot work in a child of it.
			out := meanwhile("answer.begun", fmt.Sprintf("kill -9 -%d; until test \"$(%s display-message -p -t %s '#{pane_dead}')\" = 1; do sleep 0.1; done", *w.agent(cli).PID, tmux, *w.agent(cli).PaneID), "yes")
			if out.code != 1 || !strings.Contains(out.stderr, cli+": is stopped\npaw: hint: paw recover "+cli) {
				t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}
			if w.has("four.txt") {
				t.Error("the command has run")
			}
		})
	})
}

// TestCLIsAnswerAlways answers a question of opencode with "always": the question says what that allows.
func TestCLIsAnswerAlways(t *testing.T) {
	w := newCLIWorld(t, "opencode")
	w.ok(w.paw("start", "--cli", "opencode", "--detach"))
	w.awaitState("idle")
	w.send("do: ask touch one.txt\ndo: ask touch two.txt")
	w.question("opencode")
	if out := w.ok(w.paw("answer", "opencode")); !strings.Contains(out.stdout, "2  Allow always  allow always: env *") {
		t.Error(out.stdout)
	}
	w.ok(w.paw("answer", "opencode", "always"))
	w.finished(0)
	if !w.has("one.txt") || !w.has("two.txt") {
		t.Error("it was not allowed always")
	}
}

// TestCLIsAnswerBelowAMenu answers a question of opencode that a menu covers, or has covered, since
// paw has read the question: it still counts as the same question.
func TestCLIsAnswerBelowAMenu(t *testing.T) {
	w := newCLIWorld(t, "opencode")
	w.ok(w.paw("start", "--cli", "opencode", "--detach"))
	w.work("do: say Ready.")
	open := func() { w.toggle([]string{"C-x", "m"}, "Select model", true) }
	shut := func() { w.toggle([]string{"Escape"}, "Select model", false) }
	for _, c := range []struct {
		file, answer          string
		before, since, behind func()
	}{
		{file: "covered.txt", answer: "yes", before: func() {}, since: open, behind: shut},
		{file: "bared.txt", answer: "no", before: open, since: shut, behind: func() {}},
	} {
		before := w.last().Number
		c.before()
		w.send("do: ask touch " + c.file + "\ndo: say Over.")
		asked := w.question("opencode")
		c.since()
		out := w.paw("answer", "opencode", c.answer, "--question", asked.ID)
		if out.code != 0 {
			t.Errorf("%s: exit code %d\n%s%s\n%s", c.file, out.code, out.stdout, out.stderr, w.visible())
		}
		c.behind()
		w.await("the turn is over", func() bool { return w.last().Number > before && w.agent("opencode").State == "idle" })
		if w.has(c.file) != (c.answer == "yes") {
			t.Errorf("%s after %s: %v", c.file, c.answer, w.has(c.file))
		}
	}
}
