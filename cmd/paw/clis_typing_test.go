//go:build clis

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paw/config/poll"
	"paw/orchestrator/cli/fakemodel"
)

// byChannel are the CLIs that take prompts although something stands in their boxes.
var byChannel = map[string]bool{"qwen": true, "opencode": true}

// TestCLIsKeepWhatIsHalfTyped: what the user has begun to type is not sent with a prompt of paw, and stays.
func TestCLIsKeepWhatIsHalfTyped(t *testing.T) {
	startEach(t, fakemodel.CLIs, func(t *testing.T, w *cliWorld) {
		cli := w.cli
		w.work("do: say Ready.")
		w.ok(w.tmux("send-keys", "-t", *w.agent(cli).PaneID, "-l", "rm everything"))
		w.await("the words are on the screen", func() bool { return strings.Contains(w.visible(), "rm everything") })
		before := w.last().Number
		if byChannel[cli] {
			if one := w.work("do: say Only look."); one.Prompt != "do: say Only look." || one.Number != before+1 {
				t.Errorf("turn %d: %q", one.Number, one.Prompt)
			}
			if screen := w.visible(); !strings.Contains(screen, "rm everything") {
				t.Errorf("the screen:\n%s", screen)
			}
			return
		}
		if out := w.pawInput("do: say Only look.", "send", cli); out.code != 3 || !strings.Contains(out.stderr, "text that is not paw's") {
			t.Errorf("send: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
		}
		if screen := w.visible(); !strings.Contains(screen, "rm everything") || strings.Contains(screen, "Only look") {
			t.Errorf("the screen:\n%s", screen)
		}
		if w.last().Number != before {
			t.Errorf("turn %d began", w.last().Number)
		}
	})
}

// TestCLIsTakeAPromptAfterAnEarlyEsc: some CLIs put a prompt that is stopped before the first word back into their box;
// the next one does not run together with it. An Esc before codex has sent the prompt to its model would send it once more.
func TestCLIsTakeAPromptAfterAnEarlyEsc(t *testing.T) {
	startEach(t, fakemodel.CLIs, func(t *testing.T, w *cliWorld) {
		w.work("do: say Ready.")
		const stopped = "do: sleep 60\ndo: say Deleted."
		w.send(stopped)
		w.awaitState("running")
		w.await("the model is asked", func() bool { _, asked := w.model.Asked(stopped, 0); return asked })
		w.escape()
		w.awaitState("idle")
		one := w.work("do: say Only looked.")
		if strings.TrimSpace(one.Prompt) != "do: say Only looked." {
			t.Errorf("the prompt of turn %d: %q", one.Number, one.Prompt)
		}
	})
}

// TestCLIsTakeAPromptAtTheEndOfATurn: the hook of a turn's end returns before the CLI has drawn its box again. A prompt that is
// sent at that instant is the next turn, whole.
func TestCLIsTakeAPromptAtTheEndOfATurn(t *testing.T) {
	startEach(t, fakemodel.CLIs, func(t *testing.T, w *cliWorld) {
		cli := w.cli
		for n := 1; n <= 6; n++ {
			prompt := fmt.Sprintf("do: say Turn %d.", n)
			w.send(prompt)
			tag := filepath.Join(w.repo, ".git/refs/tags", fmt.Sprintf("afk-shop_%s-%d", cli, n))
			if !poll.Until(t.Context(), poll.Tick, cliPatience, func() bool { _, err := os.Stat(tag); return err == nil }) {
				t.Fatalf("turn %d has no tag", n)
			}
			if one := w.turn(n); strings.TrimSpace(one.Prompt) != prompt {
				t.Errorf("the prompt of turn %d: %q", n, one.Prompt)
			}
		}
		if last := w.finished(5); last.Number != 6 {
			t.Errorf("%d turns", last.Number)
		}
	})
}

// TestClaudeGetsPromptsAsTheUsersWord: whatever the length, claude does not mark a prompt as pasted from somewhere else. In
// a pane that is too low for that the prompt is the same all the same.
func TestClaudeGetsPromptsAsTheUsersWord(t *testing.T) {
	w := newCLIWorld(t, "claude")
	w.ok(w.paw("start", "--cli", "claude", "--detach"))
	image := filepath.Join(w.root, "a.png")
	w.write(w.root, "a.png", "\x89PNG\r\n\x1a\n")
	for _, rows := range []string{"30", "14", "8"} {
		w.ok(w.tmux("resize-window", "-t", *w.agent("claude").PaneID, "-x", "80", "-y", rows))
		for _, prompt := range []string{
			"do: say One.\ntwo\n\n  four\n\n\nseven",
			"do: say Long. " + strings.Repeat("0123456789 ", 300) + "end",
			"do: say Lines.\n" + strings.Repeat("a line of some words, as long as such lines are\n", 60) + "end",
			"do: say Images.\n" + image + "\nand " + image + "\nend",
		} {
			if rows == "8" && strings.Contains(prompt, image) {
				continue // in a paste of several lines claude attaches it
			}
			if one := w.work(prompt); one.Prompt != prompt {
				t.Errorf("%s rows: paw turns has %q, want %q", rows, one.Prompt, prompt)
			}
			asked := false
			for _, e := range w.model.Last(5) {
				asked = asked || strings.HasPrefix(e.Prompt, prompt[:12])
				if rows != "8" && strings.Contains(e.Prompt, "pasted_content") {
					t.Errorf("%s rows: the model got %q", rows, e.Prompt)
				}
			}
			if !asked && rows != "8" {
				t.Errorf("%s rows: the model was not asked for %.20q", rows, prompt)
			}
		}
	}
}

// TestCLIsRefuseCommands: what a CLI takes for itself is refused, and does nothing.
func TestCLIsRefuseCommands(t *testing.T) {
	for cli, prompts := range map[string][]string{
		"claude": {"/clear", "/model", "/help x", "exit", ":q", "\u200b/clear"}, "gemini": {"/quit"}, "qwen": {"/quit", "exit"},
		"copilot": {"!ls", "exit", "help"}, "opencode": {"exit", "quit", ":q"},
	} {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			w.ok(w.paw("start", "--cli", cli, "--detach"))
			for _, prompt := range prompts {
				if out := w.pawInput(prompt, "send", cli); out.code != 2 {
					t.Errorf("send %q: exit code %d\n%s%s", prompt, out.code, out.stdout, out.stderr)
				}
			}
			w.work("do: say Still here.")
		})
	}
}

// TestCLIsTakeOneWordForText: a word that is no command of a CLI arrives as a prompt.
func TestCLIsTakeOneWordForText(t *testing.T) {
	for cli, words := range map[string][]string{
		"claude": {"help", "doctor", "#note", "?"}, "codex": {"exit", "help", "#note", "?"}, "opencode": {"help", "#note", "?"},
		"gemini": {"exit", "help", "#note", "?"}, "qwen": {"help", "#note", "?"}, "copilot": {"clear", "#note", "?"},
	} {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			w.ok(w.paw("start", "--cli", cli, "--detach"))
			for _, word := range words {
				if one := w.work(word); one.Prompt != word {
					t.Errorf("%q arrived as %q", word, one.Prompt)
				}
			}
		})
	}
}

// TestCodexIsNotAnsweredForTheUser: codex asks whether to trust a repository, and which model to take; both would be
// written into its settings.
func TestCodexIsNotAnsweredForTheUser(t *testing.T) {
	w := newCLIWorld(t, "codex")
	config := filepath.Join(w.root, "home/.codex/config.toml")
	read := func() string {
		content, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	trusting := read()
	settings, _, _ := strings.Cut(trusting, "\n[projects.")
	w.write(filepath.Dir(config), "config.toml", settings)
	w.write(filepath.Join(w.root, "home/.config/paw"), "config.toml", "") // with further folders codex does not ask
	w.ok(w.paw("start", "--cli", "codex", "--detach"))
	w.await("codex asks", func() bool { return strings.Contains(w.visible(), "Trust") || strings.Contains(w.visible(), "trust") })
	began := time.Now()
	if out := w.pawInput("say hello", "send", "codex"); out.code != 3 || !strings.Contains(out.stderr, "asks whether to trust the folder") {
		t.Errorf("send: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("refused after %s", took)
	}
	if got := read(); strings.Contains(got, "trust_level") || !strings.HasPrefix(got, settings) {
		t.Errorf("codex's settings became\n%s", got)
	}
}

// TestCLIsAreNotTypedToInAMenu: /model is a list of choices of which Enter takes one.
func TestCLIsAreNotTypedToInAMenu(t *testing.T) {
	startEach(t, fakemodel.CLIs, func(t *testing.T, w *cliWorld) {
		cli := w.cli
		w.work("do: say Ready.")
		models := func() int { return strings.Count(strings.ToLower(w.screen(cli)), "model") }
		none := models()
		w.ok(w.tmux("send-keys", "-t", *w.agent(cli).PaneID, "-l", "/model"))
		w.await("the command is typed and listed", func() bool { return models() >= none+2 })
		w.openMenu()
		before := w.last().Number
		if byChannel[cli] { // it is done when the menu is closed, or behind it
			w.send("do: say hello there")
			w.press("Escape")
			if one := w.finished(before); one.Number != before+1 || one.Prompt != "do: say hello there" {
				t.Errorf("turn %d: %q", one.Number, one.Prompt)
			}
			return
		}
		if out := w.pawInput("do: say hello there", "send", cli); out.code != 3 {
			t.Errorf("send: exit code %d\n%s%s\n%s", out.code, out.stdout, out.stderr, w.visible())
		}
		if strings.Contains(w.visible(), "hello there") || w.last().Number != before {
			t.Errorf("it was typed:\n%s", w.visible())
		}
	})
}

// openMenu presses Enter behind /model until the menu is open. gemini loses an Enter while it still looks for commands.
func (w *cliWorld) openMenu() {
	w.t.Helper()
	var pressed time.Time
	w.await("the menu is open", func() bool { // of which a low pane shows the end
		if screen := strings.ToLower(w.screen(w.cli)); strings.Contains(screen, "select model") || strings.Contains(screen, "unavailable models") {
			return true
		}
		if time.Since(pressed) > 5*time.Second {
			w.press("Enter")
			pressed = time.Now()
		}
		return false
	})
}
