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

// Why a terminal cannot be attached.
var (
	// ErrNotATerminal: standard input or output is no terminal.
	ErrNotATerminal = errors.New("not a terminal")
	// ErrNestedServer: the terminal is a pane of another tmux server; two tmux in each other fight for the prefix key.
	ErrNestedServer = errors.New("inside another tmux server")
)

// AttachError is an attach that did not come about. The session is as it was.
type AttachError struct {
	// Reason is ErrNotATerminal, ErrNestedServer, or the *Error with tmux's own message, such as that of a terminal
	// that tmux cannot use.
	Reason error
}

func (e *AttachError) Error() string { return "attach: " + e.Reason.Error() }
func (e *AttachError) Unwrap() error { return e.Reason }

// usualScreen takes back what tmux asks of a terminal: the other screen, a hidden cursor, colours, the keypad, reports of
// the mouse and of the focus, marks around what is pasted.
const usualScreen = "\x1b[?1049l\x1b[?25h\x1b[0m\x1b[?1l\x1b>\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\r\n"

// detachDelay is how long tmux gets to restore the terminal when the context ends.
const detachDelay = 2 * time.Second

// Attach shows a session, with the pane paneID selected when that is not empty, and returns when the user detaches or
// the session ends. Inside the same server it switches the client there and returns at once.
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
	own := insideSocket()
	if own != "" && listening(own) {
		return c.switchClient(ctx, own, sessionID, append(commands,
			command{"set-option", "-t", sessionID, "detach-on-destroy", "off"}, command{"switch-client", "-t", sessionID}))
	}
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return &AttachError{ErrNotATerminal}
	}
	if width, height, err := term.GetSize(int(out.Fd())); err == nil {
		_ = c.Arrange(ctx, sessionID, width, height) // it can be seen as it is, too
	}
	return c.attach(ctx, append(commands, command{"attach-session", "-t", sessionID}), in, out, errw)
}

// Tell shows a line for a moment in the tmux client that the call comes from.
func (c *Client) Tell(ctx context.Context, text string) error {
	_, err := c.callHere(ctx, command{"display-message", strings.ReplaceAll(text, "#", "##")})
	return err
}

// switchClient shows the session in the tmux client that the user is looking at. At the end of the session the client
// goes back to where it came from, instead of leaving tmux.
func (c *Client) switchClient(ctx context.Context, own, sessionID string, commands []command) error {
	path, err := c.SocketPath()
	if err != nil {
		return err
	}
	if !sameFile(own, path) {
		return &AttachError{ErrNestedServer}
	}
	if r, err := c.callHere(ctx, command{"display-message", "-p", "#{client_width} #{client_height}"}); err == nil {
		var width, height int
		if _, err := fmt.Sscan(r.out, &width, &height); err == nil {
			_ = c.Arrange(ctx, sessionID, width, height)
		}
	}
	if _, err := c.callHere(ctx, commands...); err != nil {
		return &AttachError{named(err, "switch-client")}
	}
	return nil
}

// attach runs tmux on the terminal. It stays in paw's process group, so that it may read from it.
func (c *Client) attach(ctx context.Context, commands []command, in, out, errw *os.File) error {
	cmd, err := c.process(ctx, commands, argv(commands))
	if err != nil {
		return notRun(command{"attach-session"}, err)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // tmux restores the terminal on it
	cmd.WaitDelay = detachDelay
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &stderr
	before, _ := term.GetState(int(in.Fd()))
	runErr := cmd.Run()
	if runErr != nil && stderr.Len() == 0 && before != nil {
		// It is the server that sets up the terminal and clears up after it: one that was killed has not.
		_ = term.Restore(int(in.Fd()), before)
		_, _ = out.WriteString(usualScreen)
	}
	if runErr != nil {
		return &AttachError{c.failure(ctx, command{"attach-session"}, cmd, stderr.String(), runErr)}
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

// View is who looks at a pane.
type View struct {
	Terminals []string // paths of all terminals that are attached to the server
	// Focused: the pane can be seen on one that has the focus, and tells when it loses that.
	Focused bool
	// LastKey is when a key was pressed last on one that shows the pane and does not tell of the focus; zero where there is none.
	LastKey time.Time
}

// viewerFormat and shownFormat are asked of the clients, and of the pane in each session that shows it. Without the option
// focus-events every client counts as focused for ever.
const (
	viewerFormat = "#{client_tty}\t#{session_id}\t#{client_activity}\t#{?focus-events,told,}\t#{client_flags}"
	shownFormat  = "#{pane_id}\t#{session_id}\t#{&&:#{window_active},#{||:#{pane_active},#{!:#{window_zoomed_flag}}}}"
)

// View says who looks at a pane: it has to be in the window that a terminal shows, and no other one zoomed there.
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
		switch tells := f[3] != ""; {
		case !shown[f[1]]:
		case tells:
			v.Focused = v.Focused || strings.Contains(f[4], "focused")
		case err == nil && key.After(v.LastKey):
			v.LastKey = key
		}
	}
	return v, nil
}
