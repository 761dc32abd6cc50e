package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A terminal only shows what agents do: attaching and detaching many times, during every kind of
// turn, changes no state.
func TestTerminalsComeAndGo(t *testing.T) {
	t.Parallel()
	const times = 20
	w := started(t, "p", "asks", "idle", "busy", "failed", "works")
	w.spawn("p", "--cli", "c=demo", "--prompt", w.held("c"))
	for agent, prompt := range map[string]string{
		"asks": "do: ask really", "busy": "do: hang", "failed": "do: fail overloaded", "p": "do: run paw wait --notify",
		"works": fmt.Sprintf("do: run echo > %s/works; until test -e %s/go_on; do echo x >> out.txt; sleep 0.1; done", w.root, w.root),
	} {
		w.ok(w.paw("send", agent, prompt))
	}
	want := []string{
		"p waiting_children waits for c (0 of 1 done)", "asks waiting_input really", "idle idle ", "busy running ", "failed error overloaded",
		"works running ", "c running ",
	}
	waitFor(t, "all are at it", func() bool { return cmp.Equal(want, w.statesAsShown(false)) })
	before := w.statesAsShown(true)

	watch := w.begin("status", "--watch", "--json") // another terminal, which only watches
	defer watch.cmd.Process.Kill()
	terminal := w.terminal(fmt.Sprintf(`i=0; while test $i -lt %d; do paw attach shop; i=$((i+1)); echo $i > %s/times; done`, times, w.root))
	for i := range times {
		terminal.awaits("[paw-shop] 0:")
		// tmux would take an answer of the terminal that it reads after a detach for keys at the
		// next attach. It waits for no answer longer than three seconds.
		attached := time.Now()
		waitFor(t, "tmux has read the last answer of the terminal", func() bool {
			return strings.TrimSpace(w.tmux("list-clients", "-F", "#{client_termtype}").stdout) != "" || time.Since(attached) > 4*time.Second
		})
		if i%5 == 0 {
			if diff := cmp.Diff(before, w.statesAsShown(true)); diff != "" {
				t.Fatalf("attached for the time %d: states (-before +now)\n%s", i+1, diff)
			}
		}
		w.ok(w.tmux("detach-client", "-s", "=paw-shop"))
		waitFor(t, "it is gone again", func() bool {
			data, _ := os.ReadFile(filepath.Join(w.root, "times"))
			return strings.TrimSpace(string(data)) == fmt.Sprint(i+1)
		})
	}
	waitFor(t, "the terminal has ended", func() bool { return terminal.ended() })
	if diff := cmp.Diff(before, w.statesAsShown(true)); diff != "" {
		t.Errorf("after all terminals: states (-before +after)\n%s", diff)
	}

	// All agents go on.
	w.write(w.root, "go_on", "")
	w.release("c")
	w.ok(w.tmux("send-keys", "-t", *w.agent("asks").PaneID, "y"))
	waitFor(t, "all that was under way is over", func() bool { return w.paw("wait", "works", "asks", "c", "--timeout", "10s").code == 0 })
	waitFor(t, "the parent was told", func() bool { return len(w.deliveries("p")) == 1 })
}

// statesAsShown lists the agents with their states; with detail, also since when.
func (w *world) statesAsShown(detail bool) []string {
	w.t.Helper()
	var lines []string
	for _, a := range w.view().Sessions[0].Agents {
		reason, since := "", ""
		if a.Reason != nil {
			reason = *a.Reason
		}
		if detail && a.StateSince != nil {
			since = a.StateSince.String()
		}
		lines = append(lines, fmt.Sprintf("%s %s %s%s", a.Name, a.State, reason, since))
	}
	return lines
}

// outerTerminal is a terminal outside the world's tmux server.
type outerTerminal struct {
	w      *world
	socket string
}

// terminal runs a shell script on a terminal of its own: the pane of another tmux server.
func (w *world) terminal(script string) outerTerminal {
	w.t.Helper()
	return w.sized(100, 30, script)
}

// sized is terminal with another size.
func (w *world) sized(width, height int, script string) outerTerminal {
	w.t.Helper()
	bin := filepath.Join(w.root, "bin")
	w.script(bin, "paw", fmt.Sprintf("#!/bin/sh\nunset TMUX TMUX_PANE\nexec %s \"$@\"\n", pawForTests()))
	o := outerTerminal{w: w, socket: filepath.Join(w.root, "o")}
	w.t.Cleanup(func() { killServer(o.socket) })
	w.ok(o.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", w.repo,
		"PATH="+bin+":$PATH; "+script, ";", "set-option", "-w", "remain-on-exit", "on"))
	return o
}

// tmux runs tmux with the terminal's own server.
func (o outerTerminal) tmux(args ...string) output {
	o.w.t.Helper()
	return o.w.run(o.w.root, nil, "tmux", append([]string{"-S", o.socket}, args...)...)
}

// screen returns what the terminal shows.
func (o outerTerminal) screen() string {
	o.w.t.Helper()
	return o.tmux("capture-pane", "-p").stdout
}

// ended reports whether the script has ended.
func (o outerTerminal) ended() bool {
	o.w.t.Helper()
	return strings.TrimSpace(o.tmux("display-message", "-p", "#{pane_dead}").stdout) == "1"
}

// The screen before paw status --watch is back after it.
func TestWatchLeavesTheScreenAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "one=demo", "--detach"))
	terminal := w.terminal("trap : INT; echo; echo before; paw status --watch; echo after; exec cat")
	terminal.awaits("Ctrl-C ends this", "AGENT  CLI")
	if strings.Contains(terminal.screen(), "before") {
		t.Errorf("it is not on the other screen:\n%s", terminal.screen())
	}
	terminal.press("C-c")
	terminal.awaits("after")
	if got := strings.Fields(terminal.screen()); len(got) < 2 || got[0] != "before" || got[1] != "after" {
		t.Errorf("after it:\n%s", terminal.screen())
	}
}

// paw status --watch ends when its terminal has gone, even if no SIGHUP arrives.
func TestWatchEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "one=demo", "--detach"))
	terminal := w.terminal("trap '' HUP; paw status --watch; echo > " + w.root + "/ended")
	terminal.awaits("AGENT  CLI")
	killServer(terminal.socket)
	w.awaitFile(w.root + "/ended")
}

// Long output goes through git's pager on a terminal, and not into a pipe.
func TestPager(t *testing.T) {
	t.Parallel()
	w := started(t, "one")
	w.git(w.repo, "config", "core.pager", "sed 's/^/paged: /'; echo left")
	terminal := w.terminal("echo; paw turns; paw turns | cat; paw --no-pager turns; GIT_PAGER=true paw turns; echo $?; exec cat")
	waitFor(t, "all is shown, paged where it is to be", func() bool {
		return strings.Contains(strings.Join(strings.Fields(terminal.screen()), " "), "paged: no turns yet left no turns yet no turns yet 0")
	})
}

// TestQueueIsShownOnTerminal: on a terminal a change of the queue ends with the queue as it is then.
// In a pipe paw queue add prints the id alone, for scripts.
func TestQueueIsShownOnTerminal(t *testing.T) {
	t.Parallel()
	w := started(t, "a")
	w.ok(w.paw("send", "a", "do: sleep 600"))
	if out := w.ok(w.paw("queue", "add", "a", "one")).stdout; out != "t1\n" {
		t.Errorf("in a pipe: %q", out)
	}
	w.terminal("paw queue add a two; paw queue hold t2; echo end; exec cat").awaits("t2  waiting  a", "t2  held     a", "you", "end")
}

// TestLeavingASessionSaysWhatGoesOn: who leaves a session reads that its agents go on, and how to come back.
func TestLeavingASessionSaysWhatGoesOn(t *testing.T) {
	t.Parallel()
	w := started(t, "a", "b")
	o := w.terminal("paw attach; echo end; exec cat")
	o.awaits("C-b d leaves")
	w.ok(o.tmux("set-option", "-g", "prefix", "C-q", ";", "send-keys", "C-b", "d"))
	o.awaits("paw: note: 2 agents go on; paw opens the desk, paw attach shop comes back", "end")
}
