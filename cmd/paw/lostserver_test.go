package main

import (
	"strings"
	"testing"
)

// A terminal whose tmux server is killed says so in one sentence, and how to go on.
func TestTerminalOfADeadServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	w.ready("demo")
	terminal := w.terminal("paw attach shop; echo ended with $?")
	waitFor(t, "the terminal shows the session", func() bool { return strings.Contains(terminal.screen(), "[paw-shop] 0:") })
	killServer(w.socket)
	defer func() {
		if t.Failed() {
			t.Logf("the terminal shows\n%s", terminal.screen())
		}
	}()
	waitFor(t, "attach has ended", func() bool { return strings.Contains(terminal.screen(), "ended with 1") })
	if shown := terminal.screen(); !strings.Contains(shown, "paw: error: shop: its tmux server has died\npaw: hint: paw recover shop\nended with 1") {
		t.Errorf("the terminal shows\n%s", shown)
	}
}
