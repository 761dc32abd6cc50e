//go:build clis

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCLIsVimMode: with claude's vim keys a prompt arrives in INSERT and in NORMAL mode. In VISUAL
// mode, where Enter sends nothing, paw types no prompt.
func TestCLIsVimMode(t *testing.T) {
	w := newCLIWorld(t, "claude")
	w.write(filepath.Join(w.root, "home/.claude"), "settings.json", w.withSetting("editorMode", `"vim"`))
	w.ok(w.paw("start", "--cli", "claude", "--detach"))
	shows := func(mode string, there bool) {
		t.Helper()
		w.await(mode, func() bool { return strings.Contains(w.visible(), mode) == there })
	}
	w.awaitState("idle")
	shows("-- INSERT --", true)
	w.work("do: say Inserted.")
	w.press("Escape")
	shows("-- INSERT --", false)
	w.work("do: say In normal mode.")
	if !strings.Contains(w.visible(), "-- INSERT --") {
		w.press("i")
		shows("-- INSERT --", true)
	}
	w.press("Escape")
	shows("-- INSERT --", false)
	w.press("v")
	shows("-- VISUAL --", true)
	before := w.last().Number
	if out := w.pawInput("do: say Never.", "send", "claude"); out.code != 3 || strings.Contains(w.visible(), "Never") || w.last().Number != before {
		t.Errorf("send in VISUAL: exit code %d, turn %d\n%s%s\n%s", out.code, w.last().Number, out.stdout, out.stderr, w.visible())
	}
	w.press("Escape")
	shows("-- VISUAL --", false)
	w.work("do: say In normal mode again.")
}
