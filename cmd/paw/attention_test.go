package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// labels returns the labels and states on the borders of the agents' panes.
func (w *world) labels() string {
	w.t.Helper()
	return w.tmux("list-panes", "-a", "-F", "#{@paw_label} (#{@paw_state})").stdout
}

// The borders of panes are right although nobody looks at paw: after the start, during turns, and
// after a crash.
func TestBordersFromTheFirstSecond(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "one=demo,two=demo,three=demo", "--detach"))
	idle := "one: idle (idle)\ntwo: idle (idle)\nthree: idle (idle)\n"
	waitFor(t, "all borders say idle", func() bool { return w.labels() == idle })
	rang := filepath.Join(w.root, "rang")
	w.ok(w.tmux("set-hook", "-t", "=paw-shop:", "alert-bell", "run-shell -b 'echo x >> "+rang+"'"))
	w.ok(w.paw("send", "two", "do: ask really"))
	w.ok(w.paw("send", "three", "do: hang"))
	waitFor(t, "what they do", func() bool {
		return w.labels() == "one: idle (idle)\ntwo: waits for you (waiting_input)\nthree: running (running)\n"
	})
	waitFor(t, "the bell", func() bool { data, _ := os.ReadFile(rang); return string(data) == "x\n" })
	for range 3 {
		if err := syscall.Kill(w.serverPID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		w.ok(w.paw("recover", "shop", "--detach"))
		waitFor(t, "the borders say whose turn was cut", func() bool {
			return w.labels() == "one: idle (idle)\ntwo: turn cut (idle)\nthree: turn cut (idle)\n"
		})
	}
}

// paw uses the user's own tmux server, beside the user's sessions, and changes nothing of theirs,
// neither during a session of paw nor after it.
func TestPawInTheUsersServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.tmux("new-session", "-d", "-s", "mine", "-n", "agents", "-x", "90", "-y", "30", "exec sleep 1000"))
	w.ok(w.tmux("split-window", "-t", "=mine:", "exec sleep 1000"))
	w.ok(w.tmux("set-option", "-g", "status-right", "my own %H"))
	w.ok(w.tmux("set-option", "-g", "mouse", "off"))
	everything := func() string {
		all := ""
		for _, what := range []string{
			"show-options -s", "show-options -g", "show-options -g -w", "show-hooks -g", "list-keys", "show-environment -g",
			"show-options -t =mine:", "show-options -w -t =mine:0", "show-options -p -t =mine:0.0", "show-environment -t =mine:", "show-hooks -t =mine:",
			"list-panes -s -t =mine: -F #{session_id}_#{window_id}_#{window_name}_#{window_layout}_#{window_flags}_#{pane_id}_#{pane_pid}_#{pane_title}",
		} {
			all += what + "\n" + w.ok(w.tmux(strings.Fields(what)...)).stdout
		}
		return all
	}
	before := everything()
	w.start("one", "two", "three")
	w.ok(w.paw("send", "one", "do: ask really"))
	w.ok(w.paw("send", "two", "do: say hello"))
	terminal := w.terminal("paw attach")
	terminal.awaits(" one: waits for you ", " 1 wait ")
	if during := everything(); during != before {
		t.Errorf("while it runs:\n%s\nbefore:\n%s", during, before)
	}
	w.ok(w.tmux("detach-client", "-s", "=paw-shop"))
	w.ok(w.paw("add", "--cli", "four=demo"))
	w.ok(w.paw("remove", "three"))
	w.ok(w.paw("stop"))
	w.ok(w.paw("recover", "shop", "--detach"))
	w.ok(w.paw("stop"))
	w.ok(w.paw("purge", "--yes"))
	if after := everything(); after != before {
		t.Errorf("after it:\n%s\nbefore:\n%s", after, before)
	}
	if left := w.tmux("list-sessions", "-F", "#{session_name}").stdout; left != "mine\n" {
		t.Errorf("sessions: %s", left)
	}
}

// Eight agents that were started without a terminal can be used on a small terminal.
func TestEightAgentsOnASmallTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var items []string
	for i := range 8 {
		items = append(items, fmt.Sprintf("n%d=demo", i+1))
	}
	w.ok(w.paw("start", "--cli", strings.Join(items, ","), "--detach"))
	w.ready("n1", "n8")
	terminal := w.sized(80, 24, "paw attach n5")
	terminal.awaits(" n5: idle ")
	for line := range strings.Lines(w.ok(w.tmux("list-panes", "-s", "-t", "=paw-shop:", "-F", "#{pane_width} #{pane_height}")).stdout) {
		var width, height int
		if _, err := fmt.Sscan(line, &width, &height); err != nil || width < 45 || height < 10 {
			t.Errorf("a pane is %d columns wide and %d lines high: %v", width, height, err)
		}
	}
}
