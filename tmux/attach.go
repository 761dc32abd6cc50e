package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// Reasons of an AttachError.
var (
	// ErrNotATerminal says that standard input or output is no terminal.
	ErrNotATerminal = errors.New("not a terminal")
	// ErrNestedServer says that the terminal is a pane of another tmux server. Two nested tmux
	// clients would both take the prefix key.
	ErrNestedServer = errors.New("inside another tmux server")
	// ErrOtherTerminal says that the terminal is neither the pane that started it nor a new one, as
	// far as can be told: an editor's, say, in the pane or in a window of its own.
	ErrOtherTerminal = errors.New("on a terminal of a program that a pane started")
	// ErrUnseen says that no terminal shows the pane in which paw was called.
	ErrUnseen = errors.New("in a pane that no terminal shows")
)

// AttachError says that a session could not be attached to a terminal. The session is unchanged.
type AttachError struct {
	// Reason is ErrNotATerminal, ErrNestedServer, ErrOtherTerminal, ErrUnseen, or an *Error with
	// tmux's own message, such as one about a TERM that tmux does not know.
	Reason error
	Client string // the client that shows the pane, of ErrOtherTerminal
}

func (e *AttachError) Error() string { return "attach: " + e.Reason.Error() }
func (e *AttachError) Unwrap() error { return e.Reason }

// usualScreen undoes what tmux sets on a terminal: alternate screen, hidden cursor, colours, keypad
// mode, mouse and focus reports, bracketed paste.
const usualScreen = "\x1b[?1049l\x1b[?25h\x1b[0m\x1b[?1l\x1b>\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\r\n"

// detachDelay limits how long the tmux client may take to restore the terminal after the context
// has ended.
const detachDelay = 2 * time.Second

// Attach shows a session on the terminal, and selects the pane paneID if one is given. Attach
// returns when the user detaches or the session ends. Inside a pane of the same tmux server it
// switches the client in which the user acts to the session, and returns at once.
func (c *Client) Attach(ctx context.Context, sessionID, paneID string, in *os.File, out, errw *os.File) error {
	if err := checkID('$', sessionID); err != nil {
		return err
	}
	var commands []command
	if paneID != "" {
		if err := checkID('%', paneID); err != nil {
			return err
		}
		commands = append(commands, command{"select-window", "-t", paneID}, command{"select-pane", "-t", paneID})
	}
	if client, at := here(ctx); at != outside {
		return c.switchClient(ctx, client, at, sessionID, append(commands,
			command{"set-option", "-t", sessionID, "detach-on-destroy", "off"}, ofClient(client, "switch-client", "-t", sessionID)))
	}
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return &AttachError{Reason: ErrNotATerminal}
	}
	if width, height, err := term.GetSize(int(out.Fd())); err == nil {
		_ = c.Arrange(ctx, sessionID, width, height) // A session that could not be arranged can still be looked at.
	}
	return c.attach(ctx, append(commands, command{"attach-session", "-t", sessionID}), in, out, errw)
}

// Tell shows a message for a moment in the tmux client that paw was called from.
func (c *Client) Tell(ctx context.Context, text string) error {
	client, at := here(ctx)
	if at != inside {
		return errNoClient
	}
	_, err := c.callHere(ctx, ofClient(client, "display-message", strings.ReplaceAll(text, "#", "##")))
	return err
}

var errNoClient = errors.New("paw was not called from tmux")

// ofClient returns a command for one client, "" for the one that tmux finds.
func ofClient(client string, words ...string) command {
	if client == "" {
		return words
	}
	return append(command{words[0], "-c", client}, words[1:]...)
}

// switchClient shows the session in the tmux client in which the user acts. With
// detach-on-destroy off, the client goes to another session when this one ends, instead of leaving
// tmux.
func (c *Client) switchClient(ctx context.Context, client string, at where, sessionID string, commands []command) error {
	path, err := c.SocketPath()
	if err != nil {
		return err
	}
	if !sameFile(insideSocket(), path) {
		return &AttachError{Reason: ErrNestedServer}
	}
	switch {
	case at == unsure:
		return &AttachError{Reason: ErrOtherTerminal, Client: client}
	case client == "":
		return &AttachError{Reason: ErrUnseen}
	}
	if r, err := c.callHere(ctx, ofClient(client, "display-message", "-p", "#{client_width} #{client_height}")); err == nil {
		var width, height int
		if _, err := fmt.Sscan(r.out, &width, &height); err == nil {
			_ = c.Arrange(ctx, sessionID, width, height)
		}
	}
	if _, err := c.callHere(ctx, commands...); err != nil {
		return &AttachError{Reason: named(err, "switch-client")}
	}
	return nil
}

// attach runs a tmux client on the terminal. The client stays in paw's process group, since a
// background group may not read from the terminal.
func (c *Client) attach(ctx context.Context, commands []command, in, out, errw *os.File) error {
	cmd, err := c.process(ctx, commands, argv(commands))
	if err != nil {
		return notRun(command{"attach-session"}, err)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // On SIGTERM the tmux client restores the terminal.
	cmd.WaitDelay = detachDelay
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &stderr
	before, _ := term.GetState(int(in.Fd()))
	runErr := cmd.Run()
	if runErr != nil && stderr.Len() == 0 && before != nil {
		// The tmux server restores the terminal when a client leaves. A server that was killed has
		// not done so.
		_ = term.Restore(int(in.Fd()), before)
		_, _ = out.WriteString(usualScreen)
	}
	if runErr != nil {
		return &AttachError{Reason: c.failure(ctx, command{"attach-session"}, cmd, stderr.String(), runErr)}
	}
	_, err = errw.Write(stderr.Bytes())
	return err
}

func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// View says which terminals are attached to the server, and whether the user looks at a given pane.
type View struct {
	Terminals []string // device paths of all terminals attached to the server
	// Focused is the time of the last key on a terminal that shows the pane, and of which tmux has the
	// focus; zero without one. A terminal that never reports its focus keeps it for ever, so that an
	// old time tells nothing.
	Focused time.Time
	// LastKey is the time of the last key pressed on a terminal that shows the pane, where tmux asks
	// for no focus; zero without one.
	LastKey time.Time
}

// Formats for list-clients and list-panes. Without the option focus-events tmux gives every client
// the flag "focused", so viewerFormat asks for the option as well.
const (
	viewerFormat = "#{client_tty}\t#{session_id}\t#{client_activity}\t#{?focus-events,told,}\t#{client_flags}"
	shownFormat  = "#{pane_id}\t#{session_id}\t#{&&:#{window_active},#{||:#{pane_active},#{!:#{window_zoomed_flag}}}}"
)

// View reads who looks at a pane. A pane counts as shown where a terminal shows its window, and no
// other pane of the window is zoomed.
func (c *Client) View(ctx context.Context, paneID string) (View, error) {
	if err := checkID('%', paneID); err != nil {
		return View{}, err
	}
	const between = "panes"
	r, err := c.call(ctx, command{"list-clients", "-F", viewerFormat}, command{"display-message", "-p", between}, command{"list-panes", "-a", "-F", shownFormat})
	if err != nil {
		return View{}, err
	}
	clients, panes, found := strings.Cut(r.out, between+"\n")
	if !found {
		return View{}, fmt.Errorf("tmux: list-clients printed %q", r.out)
	}
	shown := map[string]bool{} // sessions in which the pane can be seen
	for line := range strings.Lines(panes) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) == 3 && f[0] == paneID && f[2] == "1" {
			shown[f[1]] = true
		}
	}
	var v View
	for line := range strings.Lines(clients) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 {
			continue
		}
		v.Terminals = append(v.Terminals, f[0])
		seconds, err := strconv.ParseInt(f[2], 10, 64)
		key := time.Unix(seconds, 0)
		tells, focused, control := f[3] != "", strings.Contains(f[4], "focused"), strings.Contains(f[4], "control-mode")
		switch {
		case !shown[f[1]] || err != nil:
		case !tells && key.After(v.LastKey):
			v.LastKey = key
		case tells && focused && !control && key.After(v.Focused): // the program behind a control client shows the panes as it likes
			v.Focused = key
		}
	}
	return v, nil
}
