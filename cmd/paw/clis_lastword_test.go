//go:build clis

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paw/orchestrator/cli/clis"
	"paw/orchestrator/cli/fakemodel"
)

// lastWords open a menu at the cursor in one CLI or another, mean something before Enter, or are changed by an input box.
var lastWords = []string{
	"@alice", "@", "docs/al", "$alice", "$", "/help", "/", "#1", "#", "!", "&", "?", "~", ":smile", `\`, "re\u0301sume\u0301", "ﬁ", "\u212b", "a\u00a0b", "\u200d", "x\u0301",
}

// TestCLIsLastWord: whatever the last word of a prompt is, the prompt arrives as it was sent, but for what the box of that CLI makes
// of every text: turn and model have the same.
func TestCLIsLastWord(t *testing.T) {
	startEach(t, fakemodel.TUIs, func(t *testing.T, w *cliWorld) {
		w.write(filepath.Join(w.worktree(w.cli), "docs"), "ALICE.md", "alice\n")
		w.work("do: say Ready.")
		driver, _ := clis.New(nil).Get(w.cli)
		for _, word := range lastWords {
			out := w.pawInput("do: say asked "+word, "send", w.cli)
			if out.code != 0 {
				t.Errorf("%+q: exit code %d\n%s\n%s", word, out.code, out.stderr, w.visible())
				w.press("Escape", "C-u")
				continue
			}
			one := w.finished(w.last().Number - 1)
			for what, got := range map[string]string{"turn": one.Prompt, "model": "do: say " + w.lastSaid("asked")} {
				if driver.Canonical(got) != driver.Canonical("do: say asked "+word) {
					t.Errorf("%+q: the %s has %+q", word, what, got)
				}
				if got = strings.TrimSpace(got); got != strings.TrimSpace("do: say asked "+word) {
					t.Logf("%+q became %+q for the %s", word, got, what)
				}
			}
		}
	})
}

// lastSaid returns the newest answer of the model that begins so. A CLI may have asked for a title since.
func (w *cliWorld) lastSaid(begin string) string {
	w.t.Helper()
	for _, e := range slices.Backward(w.model.Last(10)) {
		if strings.HasPrefix(e.Text, begin) {
			return e.Text
		}
	}
	w.t.Fatalf("the model has not said %q", begin)
	return ""
}
