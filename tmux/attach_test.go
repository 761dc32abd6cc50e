package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// attachMain is a paw that attaches, run in a pane of another server, which is its terminal. It reports to a file.
func attachMain(args []string) {
	socket, session, pane, report := args[0], args[1], args[2], args[3]
	if len(args) > 4 {
		_ = os.Unsetenv("TMUX") // a terminal that is not tmux
	}
	c := &Client{Socket: socket, ConfigFile: "/dev/null"}
	err := c.Attach(context.Background(), session, pane, os.Stdin, os.Stdout, os.Stderr)
	var attach *AttachError
	text := fmt.Sprintf("%v|%t|%t|%t", err, errors.As(err, &attach), errors.Is(err, ErrNestedServer), errors.Is(err, ErrNotATerminal))
	_ = os.WriteFile(report+".new", []byte(text), 0o600)
	_ = os.Rename(report+".new", report)
}

// terminal is a server of its own whose only pane is an 100x30 terminal that runs argv.
func terminal(t *testing.T, env []string, argv ...string) *Client {
	t.Helper()
	outer := privateClient(t)
	args := []string{"new-session", "-d", "-s", "terminal", "-x", "100", "-y", "30"}
	for _, kv := range env {
		args = append(args, "-e", kv)
	}
	raw(t, outer, append(append(args, argv...), ";", "set-option", "-w", "remain-on-exit", "on", ";", "set-option", "status", "off")...)
	return outer
}

func attached(t *testing.T, c *Client, session, pane string, options ...string) (outer *Client, report string) {
	t.Helper()
	report = filepath.Join(shortDir(t), "report")
	return terminal(t, nil, append([]string{self(t), "__pane", "attach", c.Socket, session, pane, report}, options...)...), report
}

func screen(t *testing.T, outer *Client) string {
	t.Helper()
	return raw(t, outer, "capture-pane", "-p", "-t", "=terminal:")
}

// showOnTerminal attaches, returns what the terminal shows, and detaches.
func showOnTerminal(t *testing.T, c *Client, session string) string {
	t.Helper()
	outer, report := attached(t, c, session, "", "outside")
	waitFor(t, "the attached client", func() bool { return raw(t, c, "list-clients") != "" })
	waitFor(t, "the status line", func() bool { return strings.Contains(screen(t, outer), "[paw-") })
	shown := screen(t, outer)
	raw(t, c, "detach-client", "-s", session)
	readReport(t, report)
	return shown
}

func readReport(t *testing.T, report string) string {
	t.Helper()
	var text []byte
	waitFor(t, "the end of attach", func() bool {
		var err error
		text, err = os.ReadFile(report)
		return err == nil
	})
	return string(text)
}

func TestAttachOutsideTmux(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 3)
	s.Layout = LayoutWindows
	made := create(t, c, s)
	_, report := attached(t, c, made.SessionID, made.Panes["a2"], "outside")
	waitFor(t, "the attached client", func() bool {
		return raw(t, c, "list-clients", "-F", "#{session_id} #{pane_id} #{client_width}x#{client_height}") ==
			made.SessionID+" "+made.Panes["a2"]+" 100x30"
	})
	waitFor(t, "the window to follow the terminal", func() bool {
		return raw(t, c, "display-message", "-p", "-t", made.Panes["a2"], "#{window_width}") == "100"
	})
	raw(t, c, "detach-client", "-s", made.SessionID)
	if got := readReport(t, report); got != "<nil>|false|false|false" {
		t.Errorf("attach ended with %s", got)
	}
	if n := len(agentsOf(t, c, "s")); n != 3 {
		t.Errorf("%d agents after detach", n)
	}
}

func TestAttachToWhatIsGone(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 1))
	for _, target := range [][2]string{{"$99", ""}, {made.SessionID, "%99"}} {
		_, report := attached(t, c, target[0], target[1], "outside")
		if got := readReport(t, report); !strings.Contains(got, "can't find ") || !strings.HasSuffix(got, "|true|false|false") {
			t.Errorf("attach to %v: %s", target, got)
		}
	}
}

func TestAttachInsideTheSameServer(t *testing.T) {
	c := privateClient(t)
	one := create(t, c, newSession1(t, "one", 1))
	two := create(t, c, newSession1(t, "two", 2))
	attached(t, c, one.SessionID, "", "outside")
	shows := func() string { return raw(t, c, "list-clients", "-F", "#{session_id} #{pane_id}") }
	waitFor(t, "the attached client", func() bool { return shows() == one.SessionID+" "+one.Panes["a1"] })
	report := filepath.Join(shortDir(t), "report")
	raw(t, c, "split-window", "-t", one.Panes["a1"], self(t), "__pane", "attach", c.Socket, two.SessionID, two.Panes["a2"], report)
	if got := readReport(t, report); got != "<nil>|false|false|false" {
		t.Errorf("attach ended with %s", got)
	}
	if got, want := shows(), two.SessionID+" "+two.Panes["a2"]; got != want {
		t.Errorf("client shows %s, want %s", got, want)
	}
}

// TestEndOfASessionThatAClientWasSwitchedTo: the client goes back to the session it came from. A terminal that was
// attached from outside is left alone.
func TestEndOfASessionThatAClientWasSwitchedTo(t *testing.T) {
	c := privateClient(t)
	one := create(t, c, newSession1(t, "one", 1))
	two := create(t, c, newSession1(t, "two", 2))
	_, outside := attached(t, c, one.SessionID, "", "outside")
	shows := func() string { return raw(t, c, "list-clients", "-F", "#{session_id}") }
	waitFor(t, "the attached client", func() bool { return shows() == one.SessionID })
	report := filepath.Join(shortDir(t), "report")
	raw(t, c, "split-window", "-t", one.Panes["a1"], self(t), "__pane", "attach", c.Socket, two.SessionID, "", report)
	readReport(t, report)
	waitFor(t, "the switched client", func() bool { return shows() == two.SessionID })
	if err := c.KillPanes(context.Background(), []string{two.Panes["a1"], two.Panes["a2"]}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the client's return", func() bool { return shows() == one.SessionID })
	if _, err := os.Stat(outside); err == nil {
		t.Errorf("attach ended with %s", readReport(t, outside))
	}
	// Nobody was switched to this one: its end is the end of the client.
	three := create(t, c, newSession1(t, "three", 1))
	_, left := attached(t, c, three.SessionID, "", "outside")
	waitFor(t, "the second client", func() bool { return strings.Contains(shows(), three.SessionID) })
	if err := c.KillPanes(context.Background(), []string{three.Panes["a1"]}); err != nil {
		t.Fatal(err)
	}
	if got := readReport(t, left); got != "<nil>|false|false|false" {
		t.Errorf("attach ended with %s", got)
	}
}

func TestAttachInsideAnotherServerIsRefused(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 1))
	_, report := attached(t, c, made.SessionID, "")
	if got := readReport(t, report); !strings.HasSuffix(got, "|true|true|false") {
		t.Errorf("attach ended with %s", got)
	}
	if clients := raw(t, c, "list-clients"); clients != "" {
		t.Errorf("clients %s", clients)
	}
}

func TestAttachNeedsATerminal(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 1))
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	err = c.Attach(context.Background(), made.SessionID, "", null, null, null)
	var attach *AttachError
	if !errors.As(err, &attach) || !errors.Is(err, ErrNotATerminal) || err.Error() != "attach: not a terminal" {
		t.Errorf("error %v", err)
	}
	t.Setenv("TMUX", "/nonexistent/socket,1,0") // stale
	if err := c.Attach(context.Background(), made.SessionID, "", null, null, null); !errors.Is(err, ErrNotATerminal) {
		t.Errorf("with a stale $TMUX: %v", err)
	}
}

func TestAttachKeepsTmuxsWordsAboutTheTerminal(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 1))
	for term, words := range map[string]string{"dumb": "terminal does not support", "nosuch": "missing or unsuitable terminal"} {
		report := filepath.Join(shortDir(t), "report")
		terminal(t, nil, "env", "TERM="+term, self(t), "__pane", "attach", c.Socket, made.SessionID, "", report, "outside")
		if got := readReport(t, report); !strings.Contains(got, words) || !strings.HasSuffix(got, "|true|false|false") {
			t.Errorf("TERM=%s: %s", term, got)
		}
	}
	if n := len(agentsOf(t, c, "s")); n != 1 {
		t.Errorf("%d agents after failed attach", n)
	}
}
