//go:build clis

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCLIsAnswerTheirLists: paw answers numbered questions that a CLI asks before any hook, or
// outside a turn. status and send say how, and the CLI goes on.
func TestCLIsAnswerTheirLists(t *testing.T) {
	for cli, lists := range map[string][]struct{ prompt, asks, answer string }{
		"codex": {
			{"", "asks whether to trust the folder", "Trust and continue"},
			{"", "asks whether to trust hooks", "2"},
			{"do: limit 7200", "asks whether to switch to gpt-6-luna, near its rate limits", "keep current model"},
		},
		"copilot": {{"", "asks whether to trust the folder", "always"}},
	} {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			w.distrust()
			w.ok(w.paw("start", "--cli", cli, "--detach"))
			for _, list := range lists {
				if list.prompt != "" {
					w.send("do: say Ready.")
					w.awaitState("idle")
					w.send(list.prompt)
				}
				w.await(cli+" asks: "+list.asks, func() bool { return strings.HasPrefix(w.question(cli).Question, list.asks) })
				t.Logf("%s\n%s", w.paw("status").stdout, w.visible())
				if out := w.pawInput("do: say Never.", "send", cli); out.code != 3 || !strings.Contains(out.stderr, "hint: paw answer shop/"+cli) {
					t.Errorf("send: exit code %d\n%s", out.code, out.stderr)
				}
				if out := w.paw("answer", cli, list.answer); out.code != 0 {
					t.Fatalf("answer %s to %q: exit code %d\n%s%s\n%s", list.answer, list.asks, out.code, out.stdout, out.stderr, w.visible())
				}
			}
			if cli != "copilot" {
				return
			}
			w.work("do: say Ready.")
			content, err := os.ReadFile(filepath.Join(w.root, "home/.copilot/config.json"))
			if err != nil || !strings.Contains(string(content), w.repo) {
				t.Errorf("remembered: %v\n%s", err, content)
			}
			w.ok(w.paw("stop"))
			// A killed copilot leaves such a lock; here another process has its pid since.
			w.write(filepath.Join(w.root, "home/.copilot/session-state", text(w.agent(cli).ConversationID)), "inuse.1.lock", "1")
			w.ok(w.paw("recover", "shop", "--detach"))
			asks := "asks whether to resume a conversation that may be in use"
			w.await("status says so", func() bool { return text(w.agent(cli).Reason) == asks })
			t.Log(w.visible())
			w.ok(w.paw("answer", cli, "resume anyway"))
			w.work("do: say Back.")
		})
	}
}

// distrust makes the CLI not trust the repository, and gives codex a hook that codex does not
// trust.
func (w *cliWorld) distrust() {
	w.t.Helper()
	home := filepath.Join(w.root, "home")
	for _, file := range []string{".codex/config.toml", ".copilot/config.json"} {
		content, err := os.ReadFile(filepath.Join(home, file))
		if err == nil {
			w.write(filepath.Join(home, filepath.Dir(file)), filepath.Base(file), strings.ReplaceAll(string(content), w.repo, "/elsewhere"))
		}
	}
	if w.cli == "codex" {
		w.write(filepath.Join(home, ".config/paw"), "config.toml", "") // with additional folders, codex does not ask
		w.write(filepath.Join(home, ".codex"), "hooks.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}`)
	}
}
