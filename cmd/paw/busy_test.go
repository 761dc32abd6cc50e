package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A step longer than a second is shown on a terminal, in one line that is erased at the end, and
// nowhere else.
func TestWhatTakesLongSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	held := filepath.Join(w.root, "go_on")
	w.checkoutHook("until test -e " + held + "; do sleep 0.1; done")
	terminal := w.terminal("paw start --cli one=demo,two=demo --detach; echo ended with $?; paw start --name other --cli demo -d 2>/dev/null; sleep 1000")
	terminal.awaits("starting (2s)")
	w.write(w.root, "go_on", "")
	terminal.awaits("other  ")
	if screen := terminal.screen(); strings.Contains(screen, "starting (") || !strings.Contains(screen, "ended with 0") {
		t.Errorf("in the end the terminal shows\n%s", screen)
	}
}
