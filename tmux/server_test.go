package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain keeps the user's tmux, home and locale out of every test. The test binary is also what runs in panes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "__pane" {
		paneMain(os.Args[2:])
		return
	}
	for _, name := range []string{"TMUX", "TMUX_PANE", "TMUX_TMPDIR", "LC_ALL", "LC_CTYPE"} {
		_ = os.Unsetenv(name)
	}
	home, err := os.MkdirTemp("", "pawhome")
	if err != nil {
		panic(err)
	}
	for _, kv := range []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "LANG=C.UTF-8", "TERM=xterm-256color",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"} {
		name, value, _ := strings.Cut(kv, "=")
		_ = os.Setenv(name, value)
	}
	code := m.Run()
	_ = os.RemoveAll(home)
	os.Exit(code)
}

// shortDir is a directory whose path leaves room for a socket's name.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "paw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// privateClient is a client of a server that does not run yet, and ends with the test.
func privateClient(t *testing.T) *Client {
	t.Helper()
	c := &Client{Socket: filepath.Join(shortDir(t), "s"), ConfigFile: "/dev/null", Timeout: 20 * time.Second, WithLabels: true}
	t.Cleanup(func() { endServer(t, c) })
	return c
}

// confFile is a configuration of tmux.
func confFile(t *testing.T, conf string) string {
	t.Helper()
	file := filepath.Join(shortDir(t), "tmux.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func endServer(t *testing.T, c *Client) {
	t.Helper()
	pid := 0
	if server, _, err := c.Panes(context.Background()); err == nil {
		pid = server.PID
	}
	_ = exec.Command("tmux", "-S", c.Socket, "kill-server").Run() // fails when there is none
	if pid != 0 {
		waitFor(t, "the server to end", func() bool {
			_, err := inspect(pid) // the signal 0 still reaches a zombie
			return errors.Is(err, errNoProcess)
		})
	}
}

// raw runs a tmux command of the test itself, with full names and nothing of the client's care.
func raw(t *testing.T, c *Client, args ...string) string {
	t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", c.Socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// serverOf is all that can be told of a server and of one session of it that is the user's.
func serverOf(t *testing.T, c *Client, session string) string {
	t.Helper()
	var all strings.Builder
	for _, what := range []string{
		"show-options -s", "show-options -g", "show-options -g -w", "show-hooks -g", "show-environment -g", "list-keys", "list-buffers",
		"show-options -t S", "show-hooks -t S", "show-environment -t S", "show-options -w -t S", "show-options -p -t S",
		"list-panes -s -t S -F #{session_id}|#{window_id}|#{window_name}|#{window_layout}|#{window_flags}|#{pane_id}|#{pane_pid}|#{pane_title}",
	} {
		args := strings.Fields(strings.ReplaceAll(what, " S", " "+session))
		all.WriteString(what + "\n" + raw(t, c, args...) + "\n")
	}
	for window := range strings.Lines(raw(t, c, "list-windows", "-t", session, "-F", "#{window_id}")) {
		all.WriteString(raw(t, c, "show-options", "-w", "-t", strings.TrimSpace(window)) + "\n")
	}
	return all.String()
}

func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Second)
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("no sign of %s within 10 s", what)
		case <-tick.C:
		}
	}
}

// self is the test binary.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// agentPane runs a shell script the way a launcher is run: PROGRAM __agent SESSION AGENT GENERATION.
func agentPane(t *testing.T, session, agent, script string) AgentPane {
	t.Helper()
	launcher := filepath.Join(shortDir(t), "the paw")
	text := fmt.Sprintf("#!/bin/sh\n%s\n", script)
	if script == "" {
		text = fmt.Sprintf("#!/bin/sh\nexec '%s' __pane read\n", self(t))
	}
	if err := os.WriteFile(launcher, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return AgentPane{Identity: Identity{session, agent, 1}, Argv: []string{launcher, "__agent", session, agent, "1", "/launch file"}}
}

// agentPanes are agents a1, a2, ... that wait for input.
func agentPanes(t *testing.T, session string, n int) []AgentPane {
	t.Helper()
	agents := make([]AgentPane, n)
	for i := range agents {
		agents[i] = agentPane(t, session, fmt.Sprintf("a%d", i+1), "exec sleep 1000")
	}
	return agents
}

func newSession1(t *testing.T, session string, n int) NewSession {
	t.Helper()
	return NewSession{Name: "paw-" + session, PawSession: session, Dir: shortDir(t), Agents: agentPanes(t, session, n)}
}

func create(t *testing.T, c *Client, s NewSession) Created {
	t.Helper()
	made, err := c.Create(context.Background(), s)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return made
}

func panes(t *testing.T, c *Client) []Pane {
	t.Helper()
	_, all, err := c.Panes(context.Background())
	if err != nil {
		t.Fatalf("panes: %v", err)
	}
	return all
}

// agentsOf lists a session's agents as tmux shows them, by identity.
func agentsOf(t *testing.T, c *Client, session string) map[string]Pane {
	t.Helper()
	found := map[string]Pane{}
	for _, p := range panes(t, c) {
		if p.Identity != nil && p.Identity.Session == session {
			found[p.Identity.Agent] = p
		}
	}
	return found
}

// windowOf is the id of the window that a pane is in, sessionOf the name of its session.
func windowOf(t *testing.T, c *Client, p Pane) string {
	t.Helper()
	return raw(t, c, unaliased("display-message"), "-p", "-t", p.ID, "#{window_id}")
}

func sessionOf(t *testing.T, c *Client, p Pane) string {
	t.Helper()
	return raw(t, c, unaliased("display-message"), "-p", "-t", p.ID, "#{session_name}")
}

func paneByID(t *testing.T, c *Client, id string) *Pane {
	t.Helper()
	for _, p := range panes(t, c) {
		if p.ID == id {
			return &p
		}
	}
	return nil
}

// paneMain is what the test binary does inside a pane.
func paneMain(args []string) {
	switch args[0] {
	case "argv":
		_ = os.WriteFile(args[1], []byte(strings.Join(args[2:], "\x00")), 0o600)
	case "attach":
		attachMain(args[1:])
	}
}
