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

// byChannel are the CLIs that take prompts while text is in their boxes.
var byChannel = map[string]bool{"qwen": true, "opencode": true, "pi": true}

// TestCLIsKeepWhatIsHalfTyped: text that the user has begun to type is not sent with a prompt of
// paw, and stays in the box.
func TestCLIsKeepWhatIsHalfTyped(t *testing.T) {
	startEach(t, fakemodel.TUIs, func(t *testing.T, w *cliWorld) {
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

// TestCLIsTakeAPromptAfterAnEarlyEsc: some CLIs put a prompt that was stopped before the first word
// back into their box; the next prompt is not appended to it. The Esc comes after codex has sent
// the prompt to its model, since codex would send it again after an earlier one.
func TestCLIsTakeAPromptAfterAnEarlyEsc(t *testing.T) {
	startEach(t, fakemodel.TUIs, func(t *testing.T, w *cliWorld) {
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

// TestCLIsTakeAPromptAtTheEndOfATurn: the hook of a turn's end returns before the CLI has drawn its
// box again. A prompt sent at that moment becomes the next turn, complete.
func TestCLIsTakeAPromptAtTheEndOfATurn(t *testing.T) {
	startEach(t, fakemodel.TUIs, func(t *testing.T, w *cliWorld) {
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

// TestClaudeGetsPromptsAsTheUsersWord: claude does not mark a prompt as pasted, whatever its
// length. In a pane that is too low for paw's way of typing, the prompt is still the same.
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
				continue // in a paste of several lines, claude attaches the image
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

// TestCLIsRefuseCommands: paw refuses prompts that a CLI would take for commands of its own, and
// types nothing.
func TestCLIsRefuseCommands(t *testing.T) {
	for cli, prompts := range map[string][]string{
		"claude": {"/clear", "/model", "/help x", "exit", ":q", "\u200b/clear"}, "qwen": {"/quit", "exit"},
		"copilot": {"!ls", "exit", "help"}, "opencode": {"exit", "quit", ":q"}, "pi": {"/new", " /quit", "!ls"},
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

// TestCLIsTakeOneWordForText: a word that is no command of the CLI arrives as a prompt.
func TestCLIsTakeOneWordForText(t *testing.T) {
	for cli, words := range map[string][]string{
		"claude": {"help", "doctor", "#note", "?"}, "codex": {"exit", "help", "#note", "?"}, "opencode": {"help", "#note", "?"},
		"qwen": {"help", "#note", "?"}, "copilot": {"clear", "#note", "?"},
		"pi": {"exit", "help", "#note", "?"},
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

// TestCodexIsNotAnsweredForTheUser: codex asks whether to trust a repository, and which model to
// use. Both answers would go into codex's settings, so paw gives none.
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
	w.write(filepath.Join(w.root, "home/.config/paw"), "config.toml", "") // with additional folders, codex does not ask
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

// TestCLIsAreNotTypedToInAMenu: after /model, a CLI shows a list, of which Enter would choose an
// entry.
func TestCLIsAreNotTypedToInAMenu(t *testing.T) {
	startEach(t, fakemodel.TUIs, func(t *testing.T, w *cliWorld) {
		cli := w.cli
		w.work("do: say Ready.")
		models := func() int { return strings.Count(strings.ToLower(w.screen(cli)), "model") }
		none := models()
		w.ok(w.tmux("send-keys", "-t", *w.agent(cli).PaneID, "-l", "/model"))
		w.await("the command is typed and listed", func() bool { return models() >= none+2 })
		w.openMenu()
		before := w.last().Number
		if byChannel[cli] { // the prompt becomes a turn, behind the menu or after the menu is closed
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

// openMenu presses Enter after /model until the menu is open.
func (w *cliWorld) openMenu() {
	w.t.Helper()
	var pressed time.Time
	w.await("the menu is open", func() bool { // a low pane shows only the end of the menu
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
