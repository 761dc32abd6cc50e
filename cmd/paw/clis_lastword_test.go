//go:build clis

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"paw/orchestrator/cli/fakemodel"
)

// lastWords open a menu at the cursor in one CLI or another, mean something before Enter, or are changed by an input box.
var lastWords = []string{
	"@alice", "@", "docs/al", "$alice", "$", "/help", "/", "#1", "#", "!", "&", "?", "~", ":smile", `\`, "re\u0301sume\u0301", "ﬁ", "\u212b", "a\u00a0b", "\u200d", "x\u0301",
}

// TestCLIsLastWord: whatever the last word of a prompt is, the prompt arrives as it was sent.
func TestCLIsLastWord(t *testing.T) {
	startEach(t, fakemodel.CLIs, func(t *testing.T, w *cliWorld) {
		w.write(filepath.Join(w.worktree(w.cli), "docs"), "ALICE.md", "alice\n")
		w.work("do: say Ready.")
		for _, word := range lastWords {
			prompt := "do: say asked " + word
			out := w.pawInput(prompt, "send", w.cli)
			refused := out.code == 2 || out.code == 3
			if out.code == 0 {
				if one := w.finished(w.last().Number - 1); strings.TrimSpace(one.Prompt) != prompt {
					t.Logf("%q: the turn has %q", word, one.Prompt)
				}
			} else {
				t.Errorf("%q: exit code %d, refused %v\n%s\n%s", word, out.code, refused, out.stderr, w.visible())
				w.press("Escape", "C-u")
			}
			if entries := w.model.Last(1); len(entries) == 1 && out.code == 0 && strings.TrimSpace(entries[0].Text) != strings.TrimSpace("asked "+word) {
				t.Logf("%q: the model has said %q", word, entries[0].Text)
			}
		}
	})
}
