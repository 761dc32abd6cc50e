package tmux

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// painted is what a terminal shows, with colours as escape sequences.
func painted(t *testing.T, outer *Client) string {
	t.Helper()
	text := raw(t, outer, "capture-pane", "-p", "-e", "-t", "=terminal:")
	return strings.ReplaceAll(text, "\x1b[0m\x1b[39m", "\x1b[0m") // the second one says nothing, and tmux 3.5 leaves it out
}

func setLabels(t *testing.T, c *Client, labels map[string]Label) {
	t.Helper()
	if err := c.SetLabels(t.Context(), labels); err != nil {
		t.Fatal(err)
	}
}

// Each state has a colour on the border of its pane; one that waits for its user fills it. The count is in the status line.
func TestStatesAreSeen(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 4)
	s.Counts = true
	made := create(t, c, s)
	setLabels(t, c, map[string]Label{
		made.Panes["a1"]: {"a1: waits for you", "waiting_input"}, made.Panes["a2"]: {"a2: running", "running"},
		made.Panes["a3"]: {"a3: error", "error"}, made.Panes["a4"]: {"a4: waits for you", "waiting_input"},
	})
	outer, _ := attached(t, c, made.SessionID, made.Panes["a4"], "outside")
	for _, want := range []string{
		"\x1b[1m\x1b[30m\x1b[43m a1: waits for you \x1b[0m\x1b[43m      ", "\x1b[32m a2: running ", "\x1b[1m\x1b[31m a3: error ",
		"\x1b[1m\x1b[43m 2 wait \x1b[38;5;255m\x1b[48;5;160m 1 failed \x1b[0m\x1b[30m\x1b[42m 1 run  C-b d leaves", "[paw-s] \x1b[1m\x1b[43m0:agents 2 wait*\x1b[0m\x1b[30m\x1b[42m ",
	} {
		waitFor(t, fmt.Sprintf("%q", want), func() bool {
			found := strings.Contains(painted(t, outer), want)
			return found
		})
	}
	setLabels(t, c, map[string]Label{made.Panes["a1"]: {"a1: idle", "idle"}, made.Panes["a4"]: {"a4: running", "running"}})
	waitFor(t, "nobody waits any more", func() bool {
		now := painted(t, outer)
		return !strings.Contains(now, "wait") && strings.Contains(now, " 2 run ") && strings.Contains(now, " 1 idle ") && strings.Contains(now, "0:agents*")
	})
}

// Where the agents have several windows, each names its own, and the one that needs the user is marked.
func TestWindowsNameTheirAgents(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 6)
	s.Width, s.Height = 80, 24
	made := create(t, c, s)
	raw(t, c, "rename-window", "-t", made.Panes["a3"], "mine")
	setLabels(t, c, map[string]Label{made.Panes["a6"]: {"a6: waits for you", "waiting_input"}})
	raw(t, c, "select-layout", "-t", made.Panes["a1"], "main-vertical") // or it would be arranged for this terminal
	raw(t, c, "select-layout", "-t", made.Panes["a3"], "main-vertical")
	raw(t, c, "select-layout", "-t", made.Panes["a5"], "main-vertical")
	outer, _ := attached(t, c, made.SessionID, made.Panes["a1"], "outside")
	waitFor(t, "the window list", func() bool { return strings.Contains(screen(t, outer), "0:a1 a2* 1:mine  2:a5 a6 1 wait") })
}

// bells counts what the bells of a session's panes set off.
func bells(t *testing.T, c *Client, session string) func() int {
	t.Helper()
	file := filepath.Join(shortDir(t), "bells")
	raw(t, c, "set-hook", "-t", session, "alert-bell", "run-shell -b 'echo x >> "+file+"'")
	return func() int {
		data, _ := os.ReadFile(file)
		return strings.Count(string(data), "x")
	}
}

func TestOneRingsWhenItBeginsToWait(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 3)
	s.Bell, s.Layout = true, LayoutWindows
	made := create(t, c, s)
	rang := bells(t, c, made.SessionID)
	waits, works := Label{"x: waits for you", "waiting_input"}, Label{"x: running", "running"}
	setLabels(t, c, map[string]Label{made.Panes["a1"]: works, made.Panes["a2"]: waits})
	waitFor(t, "the first bell", func() bool { return rang() == 1 })
	setLabels(t, c, map[string]Label{made.Panes["a1"]: works, made.Panes["a2"]: waits}) // it waits still
	setLabels(t, c, map[string]Label{made.Panes["a2"]: works})
	setLabels(t, c, map[string]Label{made.Panes["a3"]: waits})
	waitFor(t, "the second bell", func() bool { return rang() == 2 })
	if got := raw(t, c, "list-windows", "-t", made.SessionID, "-F", "#{window_bell_flag}"); got != "0\n1\n1" {
		t.Errorf("bells of the windows: %q", got)
	}
}

func TestNoBellWithoutTheOption(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 2)
	made := create(t, c, s)
	rang := bells(t, c, made.SessionID)
	setLabels(t, c, map[string]Label{made.Panes["a1"]: {"a1: waits for you", "waiting_input"}})
	raw(t, c, "run-shell", "-t", made.Panes["a2"], "printf '\\007' > #{pane_tty}") // one of its program
	waitFor(t, "the program's bell", func() bool { return rang() >= 1 })
	if n := rang(); n != 1 {
		t.Errorf("%d bells", n)
	}
}

// The mouse is on where there is no configuration: neither a file, which the caller knows, nor one that the server was
// started with.
func TestMouse(t *testing.T) {
	for _, one := range []struct {
		asked bool
		conf  string
		want  string
	}{{true, "", "on"}, {false, "", ""}, {true, "/dev/null", ""}} {
		c := privateClient(t)
		c.ConfigFile = one.conf
		s := newSession1(t, "s", 1)
		s.Mouse = one.asked
		made := create(t, c, s)
		got := raw(t, c, "show-options", "-q", "-v", "-t", made.SessionID, "mouse")
		global := raw(t, c, "show-options", "-g", "-v", "mouse")
		if got != one.want || global != "off" {
			t.Errorf("asked for: %t, configuration %q: the session has %q, want %q, and the server %s", one.asked, one.conf, got, one.want, global)
		}
	}
}

func TestConfigured(t *testing.T) {
	for _, place := range []string{".tmux.conf", ".config/tmux/tmux.conf", "elsewhere/tmux/tmux.conf"} {
		home := shortDir(t)
		config := filepath.Join(home, "elsewhere")
		if Configured(home, config) {
			t.Errorf("%s: before it is there", place)
		}
		file := filepath.Join(home, place)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if !Configured(home, config) {
			t.Errorf("%s: not seen", place)
		}
	}
}

// A shell that the user splits off beside an agent is in that agent's worktree; beside a shell it is where that one is.
func TestSplitsOpenInTheWorktree(t *testing.T) {
	c := privateClient(t)
	t.Setenv("SHELL", "/bin/sh")
	s := newSession1(t, "s", 2)
	trees := map[string]string{"a1": shortDir(t), "a2": filepath.Join(shortDir(t), `odd "name" $HOME 'it`)}
	if err := os.Mkdir(trees["a2"], 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range s.Agents {
		s.Agents[i].Worktree = trees[s.Agents[i].Identity.Agent]
	}
	made := create(t, c, s)
	at := func(pane string) string {
		return raw(t, c, "display-message", "-p", "-t", pane, "#{pane_current_path} #{pane_dead}")
	}
	split := func(beside, dir string, flags ...string) string {
		return raw(t, c, append([]string{"split-window", "-P", "-F", "#{pane_id}", "-t", beside, "-c", dir}, flags...)...)
	}
	for agent, dir := range trees {
		raw(t, c, "select-pane", "-t", made.Panes[agent])
		shell := split(made.Panes[agent], s.Dir) // as a key does, which names no folder
		waitFor(t, "a shell in the worktree of "+agent, func() bool { return at(shell) == dir+" 0" })
		behind := split(shell, s.Dir, "-d")
		waitFor(t, "another beside it", func() bool { return at(behind) == dir+" 0" })
		elsewhere := split(made.Panes[agent], "/usr", "-d")
		waitFor(t, "one in a folder that was named", func() bool { return at(elsewhere) == "/usr 0" })
	}
	window := raw(t, c, "new-window", "-P", "-F", "#{pane_id}", "-t", made.SessionID+":", "-c", s.Dir)
	waitFor(t, "a window in the folder of the session", func() bool { return at(window) == s.Dir+" 0" })
}

// Whoever has a default-command keeps it.
func TestSplitsRunTheUsersCommand(t *testing.T) {
	c := privateClient(t)
	c.ConfigFile = confFile(t, "set -g default-command 'exec sleep 999'\n")
	made := create(t, c, newSession1(t, "s", 1))
	pane := raw(t, c, "split-window", "-P", "-F", "#{pane_id}", "-t", made.Panes["a1"])
	waitFor(t, "the user's command", func() bool {
		return raw(t, c, "display-message", "-p", "-t", pane, "#{pane_current_command}") == "sleep"
	})
	if got := raw(t, c, "show-options", "-q", "-t", made.SessionID, "default-command"); got != "" {
		t.Errorf("the session has %s", got)
	}
}

// Whoever has no status line of their own reads how to leave there; a line that is theirs stays.
func TestStatusLineSaysHowToLeave(t *testing.T) {
	for own, want := range map[string]string{"": "C-a d leaves", "my own": "my own"} {
		c := privateClient(t)
		c.ConfigFile = ""
		raw(t, c, "new-session", "-d", "-s", "mine", "exec sleep 1000")
		raw(t, c, "set-option", "-g", "prefix", "C-a")
		if own != "" {
			raw(t, c, "set-option", "-g", "status-right", own)
		}
		s := newSession1(t, "s", 1)
		s.Counts, s.Width, s.Height = true, 120, 24
		made := create(t, c, s)
		if got := showOnTerminal(t, c, made.SessionID); !strings.Contains(got, want) {
			t.Errorf("%q: not %q in\n%s", own, want, got)
		}
	}
}

// On a terminal that has shown another session the way back is the one to that.
func TestStatusLineSaysHowToGoBack(t *testing.T) {
	c := privateClient(t)
	c.ConfigFile = ""
	raw(t, c, "new-session", "-d", "-s", "mine", "exec sleep 1000")
	s := newSession1(t, "s", 1)
	s.Counts, s.Width, s.Height = true, 120, 24
	made := create(t, c, s)
	outer, report := attached(t, c, raw(t, c, "display-message", "-p", "-t", "=mine:", "#{session_id}"), "", "outside")
	waitFor(t, "the attached client", func() bool { return raw(t, c, "list-clients") != "" })
	raw(t, c, "switch-client", "-c", raw(t, c, "list-clients", "-F", "#{client_name}"), "-t", made.SessionID)
	waitFor(t, "the way back", func() bool { return strings.Contains(screen(t, outer), "C-b L goes back") })
	raw(t, c, "detach-client", "-s", made.SessionID)
	readReport(t, report)
}

// Nothing of the user's server is another one after all that is done to a session: options, hooks, keys, environments,
// sessions, windows and panes.
func TestTheUsersServerStaysAsItWas(t *testing.T) {
	c := privateClient(t)
	c.ConfigFile = ""
	raw(t, c, "new-session", "-d", "-s", "mine", "-n", "work", "-x", "90", "-y", "30", "exec sleep 1000")
	raw(t, c, "split-window", "-t", "=mine:", "exec sleep 1000")
	raw(t, c, "new-window", "-d", "-t", "=mine:", "-n", "agents", "exec sleep 1000")
	raw(t, c, "set-option", "-g", "status-right", "my own %H")
	raw(t, c, "set-option", "-g", "pane-border-format", "mine #P")
	raw(t, c, "set-option", "-w", "-t", "=mine:0", "pane-border-status", "bottom")
	raw(t, c, "set-hook", "-g", "client-attached", "display-message mine")
	everything := func() string { return serverOf(t, c, "=mine:") }
	before := everything()
	s := newSession1(t, "s", 8)
	s.Counts, s.Bell, s.Mouse = true, true, true
	s.Width, s.Height = 80, 24
	made := create(t, c, s)
	if _, err := c.AddPanes(t.Context(), made.SessionID, LayoutTiled, agentPanes(t, "s", 9)[8:]); err != nil {
		t.Fatal(err)
	}
	setLabels(t, c, map[string]Label{made.Panes["a1"]: {"a1: waits for you", "waiting_input"}})
	showOnTerminal(t, c, made.SessionID)
	if during := everything(); during != before {
		t.Errorf("while it runs:\n%s\nbefore:\n%s", during, before)
	}
	var ids []string
	for _, p := range agentsOf(t, c, "s") {
		ids = append(ids, p.ID)
	}
	for _, some := range [][]string{ids[:1], ids[1:]} {
		if err := c.KillPanes(t.Context(), some); err != nil {
			t.Fatal(err)
		}
	}
	if after := everything(); after != before {
		t.Errorf("after it:\n%s\nbefore:\n%s", after, before)
	}
	if left := raw(t, c, "list-sessions", "-F", "#{session_name}"); left != "mine" {
		t.Errorf("sessions %s", left)
	}
}

// TestTheUsersIntervalStays: tmux runs the user's own programs of the status line at that interval, so it is shorter only where
// labels are set anew at it.
func TestTheUsersIntervalStays(t *testing.T) {
	c := privateClient(t)
	create(t, c, newSession1(t, "first", 1))
	for _, tt := range []struct{ name, program, option, value, want string }{
		{"a", "/bin/true", "status-interval", "15", "5"},
		{"b", "/a path/paw", "status-interval", "15", ""},
		{"c", "/bin/true", "status-interval", "0", "5"},
		{"d", "/bin/true", "status-interval", "1", ""},
		{"e", "/bin/true", "status-interval", "60", "5"},
		{"f", "/bin/true", "status-left", "at #(uptime)", ""},
	} {
		raw(t, c, "set-option", "-g", tt.option, tt.value)
		s := newSession1(t, tt.name, 1)
		s.Agents[0].Refresh = []string{tt.program}
		made := create(t, c, s)
		if got := raw(t, c, "show-options", "-v", "-t", made.SessionID, "status-interval"); got != tt.want {
			t.Errorf("%s, %s %s: the interval is %q, want %q", tt.program, tt.option, tt.value, got, tt.want)
		}
	}
}
