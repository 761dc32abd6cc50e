package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// In a session of the user's own on the same tmux server, paw next switches the user's terminal to
// the agent that waits, and from there to the next one. paw attach without an agent also shows the
// agent that waits.
func TestNextFromInsideTmux(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.tmux("new-session", "-d", "-s", "mine", "-x", "90", "-y", "30", "exec sleep 1000"))
	w.start("one", "two", "three")
	w.ok(w.paw("send", "two", "do: ask first?"))
	waitFor(t, "two waits", func() bool { return strings.Contains(w.paw("status").stdout, "first?") })
	w.ok(w.paw("send", "three", "do: ask second?"))
	waitFor(t, "three waits", func() bool { return strings.Contains(w.paw("next", "-n").stdout, "shop/two") })
	terminal := w.terminal("tmux -S " + w.socket + " attach -t =mine")
	shown := func() string {
		return strings.TrimSpace(w.tmux("list-clients", "-F", "#{session_name} #{@paw_agent}").stdout)
	}
	waitFor(t, "the user's session is shown", func() bool { return shown() == "mine" })
	next := "TMUX_PANE=#{pane_id} HOME=" + filepath.Join(w.root, "home") + " PAW_TMUX_SOCKET=" + w.socket + " " + pawForTests() + " next"
	press := func() {
		terminal.press("C-b", "N")
	}
	w.ok(w.tmux("bind-key", "N", "run-shell", next))
	press()
	waitFor(t, "two is shown", func() bool { return shown() == "paw-shop shop/two" })
	press()
	waitFor(t, "three is shown", func() bool { return shown() == "paw-shop shop/three" })
	press()
	waitFor(t, "two is shown again", func() bool { return shown() == "paw-shop shop/two" })
	w.ok(w.tmux("select-pane", "-t", "=paw-shop:.0"))
	w.ok(w.tmux("detach-client", "-s", "=paw-shop"))
	killServer(terminal.socket)

	outside := w.terminal("paw attach")
	waitFor(t, "the agent that waits is shown", func() bool { return shown() == "paw-shop shop/two" })
	killServer(outside.socket)

	w.ok(w.paw("answer", "two", "no"))
	w.ok(w.paw("answer", "three", "no"))
	w.ready("two", "three")
	w.ok(w.paw("seen", "two"))
	w.ok(w.paw("seen", "three"))
	again := w.terminal("tmux -S " + w.socket + " attach -t =mine")
	waitFor(t, "the user's session is shown", func() bool { return shown() == "mine" })
	again.press("C-b", "N")
	again.awaits("paw: nobody needs you")
}
