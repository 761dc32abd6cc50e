//go:build clis

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/orchestrator/cli/fakemodel"
)

// TestCLIsSideBySide has claude and codex work at the same time, six turns in all.
func TestCLIsSideBySide(t *testing.T) { t.Run("claude and codex", sideBySide) }

func sideBySide(t *testing.T) {
	w := newCLIWorld(t, "claude", "codex")
	w.ok(w.paw("start", "--cli", "claude,codex", "--detach"))
	claude, codex := w.as("claude"), w.as("codex")
	base := w.oid("main")

	// The first turns run at the same time: each until its gate opens.
	gate := func(name string) string { return filepath.Join(w.root, name) }
	claude.send("do: write c1.txt 1\ndo: run " + untilExists(gate("one")) + "\ndo: commit Claude one")
	w.states("claude running 1")
	codex.send("do: write x1.txt 1\ndo: run " + untilExists(gate("two")))
	w.states("claude running 1", "codex running 1")
	w.write(w.root, "one", "")
	c1 := claude.finished(0)
	w.states("claude idle", "codex running 1")
	w.write(w.root, "two", "")
	x1 := codex.finished(0)
	w.states("claude idle", "codex idle")

	// In the second turns, one agent waits for an answer while the other works.
	codex.send("do: ask touch granted.txt\ndo: commit Codex two")
	codex.awaitState("waiting_input")
	c2 := claude.work("do: write c2.txt 2")
	w.states("claude idle", "codex waiting_input 2")
	codex.answer(fakemodel.MannersOf["codex"].Allow)
	x2 := codex.finished(1)
	w.states("claude idle", "codex idle")

	// A person edits between the turns: the change belongs to no turn of claude.
	w.write(w.worktree("claude"), "README.md", "hello\nby a human\n")
	c3 := claude.work("do: append README.md by claude\ndo: commit Claude three")
	if got := w.ok(w.paw("diff", "claude", "3")).stdout; !strings.Contains(got, "\n+by claude\n") || strings.Contains(got, "+by a human") || strings.Contains(got, "c2.txt") {
		t.Errorf("paw diff claude 3:\n%s", got)
	}
	if got := w.ok(w.paw("diff", "claude", "2..3")).stdout; !strings.Contains(got, "\n+by a human\n") {
		t.Errorf("paw diff claude 2..3 has no human's edit:\n%s", got)
	}
	x3 := codex.work("Note this down")

	// Each tag is on the commit that was HEAD at the end of its turn.
	for _, c := range []struct {
		name string
		turn turnJSON
		want string
	}{
		{"claude 1", c1, w.oid("paw/shop/claude~1")},
		{"claude 2", c2, w.oid("paw/shop/claude~1")},
		{"claude 3", c3, w.oid("paw/shop/claude")},
		{"codex 1", x1, base},
		{"codex 2", x2, w.oid("paw/shop/codex~1")},
		{"codex 3", x3, w.oid("paw/shop/codex")},
	} {
		agent, n, _ := strings.Cut(c.name, " ")
		if got := w.oid("afk-shop_" + agent + "-" + n); got != c.want || text(c.turn.CommitHash) != c.want {
			t.Errorf("the tag of %s is on %s, its turn on %s, want %s", c.name, got, text(c.turn.CommitHash), c.want)
		}
	}
	if n := len(strings.Fields(w.git(w.repo, "tag", "--list", "afk-*"))); n != 8 {
		t.Errorf("%d turn tags, want six and two for the start", n)
	}
	if w.oid("main") != base || w.oid("paw/shop/claude~2") != base || w.oid("paw/shop/codex~2") != base {
		t.Error("a commit is on another branch than its agent's")
	}
	w.lookForTraces()
	w.ok(w.paw("stop"))
	w.checkTurns("claude")
	w.checkTurns("codex")
	w.lookForTraces()
}

// states compares paw status with lines of the form "AGENT STATE [TURN]".
func (w *cliWorld) states(want ...string) {
	w.t.Helper()
	for _, one := range want {
		a := w.agent(strings.Fields(one)[0])
		got := a.Name + " " + a.State
		if a.CurrentTurn != nil {
			got += fmt.Sprint(" ", *a.CurrentTurn)
		}
		if got != one {
			w.t.Errorf("paw status says %q (reason %s, source %s), want %q", got, text(a.Reason), a.StateSource, one)
		}
	}
}

// tricky is a prompt that a shell, tmux or a CLI could interpret.
const tricky = `it's "quoted", 'twice' and ` + "`backticked`" + ` $(touch pwned) $HOME \n %s !! ~ * #{pid} #S 🎉 é 漢字 @README.md` + `
second line; with ; and && touch pwned

-x --help
do: say Heard.
the last line ends in a semicolon;`

// commands are the first characters by which a CLI takes a prompt for a command of its own.
var commands = map[string]string{"claude": "/", "qwen": "/", "copilot": "!", "pi": "/!"}

// TestCLIsGetHostilePrompts sends tricky as the first prompt, and more such prompts later: each
// arrives byte for byte, or is refused.
func TestCLIsGetHostilePrompts(t *testing.T) {
	for _, cli := range fakemodel.TUIs {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			w.ok(w.paw("start", "--cli", cli, "--prompt", tricky, "--detach"))
			w.heard(t, "--prompt", w.finished(0), tricky)
			turns := 1
			for _, prompt := range []string{tricky, "/" + tricky, "!" + tricky, "-" + tricky} {
				if begin := commands[cli]; begin != "" && strings.ContainsAny(prompt[:1], begin) {
					if out := w.pawInput(prompt, "send", cli); out.code != 2 || !strings.Contains(out.stderr, "command") {
						t.Errorf("send %q: exit code %d\n%s%s", prompt[:2], out.code, out.stdout, out.stderr)
					}
					continue
				}
				w.heard(t, fmt.Sprintf("send %q", prompt[:2]), w.work(prompt+"\n"), prompt)
				if turns++; w.last().Number != turns {
					t.Errorf("turn %d, want %d", w.last().Number, turns)
				}
			}
			for _, dir := range []string{w.root, w.repo, w.worktree(cli), filepath.Join(w.root, "home")} {
				if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
					t.Errorf("part of a prompt was run in %s", dir)
				}
			}
		})
	}
}

// heard checks that a prompt stands in paw turns, and in a request to the model.
func (w *cliWorld) heard(t *testing.T, how string, one turnJSON, want string) {
	t.Helper()
	got := one.Prompt
	if w.cli == "opencode" { // opencode adds a space after a paste that it folds
		got = strings.TrimSuffix(got, " ")
	}
	if strings.HasPrefix(want, "/") || strings.HasPrefix(want, "!") { // paw puts a space in front, so that the CLI takes the prompt for text
		got = strings.TrimPrefix(got, " ")
	}
	if got != want {
		t.Errorf("%s: paw turns has\n%q, want\n%q", how, got, want)
	}
	if text(one.Message) != "Heard." {
		t.Errorf("%s: the answer is %q", how, text(one.Message))
	}
	for _, e := range w.model.Last(100) {
		if strings.HasPrefix(strings.TrimSpace(e.Prompt), want[:150]) {
			return
		}
	}
	t.Errorf("%s: no request has the prompt", how)
}

// longestPaste is how many bytes a CLI takes in a bearable time, for CLIs that do not take a
// megabyte in that time.
var longestPaste = map[string]int{"qwen": 50_000}

// TestCLIsGetAMegabyte sends a prompt that is longer than any command-line argument. codex takes at
// most 1,048,576 characters and leaves a longer prompt in its box. copilot gives its model the name
// of a file.
func TestCLIsGetAMegabyte(t *testing.T) {
	for _, cli := range fakemodel.TUIs {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			size := 1_000_000
			if longest := longestPaste[cli]; longest > 0 {
				size = longest
			}
			prompt := "do: say Heard.\n" + strings.Repeat(strings.Repeat("0123456789abcdef", 6)+"\n", size/97)
			prompt += strings.Repeat("e", size-len(prompt))
			w.ok(w.paw("start", "--cli", cli, "--detach"))
			w.send(prompt)
			one := w.finished(0)
			got := one.Prompt
			if cli == "opencode" { // opencode adds a space after a paste that it folds
				got = strings.TrimSuffix(got, " ")
			}
			if got != prompt {
				t.Errorf("%d of %d bytes arrived, or others", len(got), len(prompt))
			}
			if text(one.Message) != "Heard." && cli != "copilot" {
				t.Errorf("the answer is %q", text(one.Message))
			}
		})
	}
}
