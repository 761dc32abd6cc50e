package main

import (
	"strings"
	"testing"
)

// A terminal whose tmux server was killed shows one sentence about it, and how to go on.
func TestTerminalOfADeadServer(t *testing.T) {
	t.Parallel()
	w := started(t, "demo")
	terminal := w.terminal("paw attach shop; echo ended with $?; exec cat")
	terminal.awaits("[paw-shop] 0:")
	killServer(w.socket)
	terminal.awaits("ended with 1")
	if shown := terminal.screen(); !strings.Contains(shown, "paw: error: shop: its tmux server has died\npaw: hint: paw recover shop\nended with 1") {
		t.Errorf("the terminal shows\n%s", shown)
	}
}
