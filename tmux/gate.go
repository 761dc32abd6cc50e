package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Program identifies a process that was started in a pane. The PID tells it from a program that was
// started later in the same pane.
type Program struct {
	Pane string
	PID  int
}

// Cause says why nothing can be typed to a program.
type Cause int

// Causes, in the order in which Program.closed tests them.
const (
	PaneGone     Cause = iota + 1 // tmux has no such pane
	OtherProgram                  // the pane runs another process now
	ProgramEnded                  // the pane is dead
	InMode                        // tmux itself takes the keys: copy mode, choose-tree, view mode
	Synchronized                  // keys would also go to other panes of the window (synchronize-panes)
	InputOff                      // the pane takes no input (select-pane -d)
)

// ClosedError says why nothing could be typed to a program.
type ClosedError struct {
	Program Program
	Cause   Cause
	Mode    string // for InMode, tmux's name of the mode: "copy-mode", "view-mode", "tree-mode"
	PID     int    // for OtherProgram, the PID of the pane's process now
}

func (e *ClosedError) Error() string {
	return "pane " + e.Program.Pane + ": " + map[Cause]string{
		PaneGone:     "not found",
		OtherProgram: fmt.Sprintf("runs pid %d, not pid %d", e.PID, e.Program.PID),
		ProgramEnded: "its program has ended",
		InMode:       "is in " + e.Mode,
		Synchronized: "is synchronized with other panes",
		InputOff:     "takes no input",
	}[e.Cause]
}

// Is makes a ClosedError with the cause PaneGone match ErrNotFound.
func (e *ClosedError) Is(err error) bool { return err == ErrNotFound && e.Cause == PaneGone }

// Passing reports whether the user can end the cause with a key or an option, and the program still
// runs.
func (e *ClosedError) Passing() bool {
	return e.Cause == InMode || e.Cause == Synchronized || e.Cause == InputOff
}

// gateFormat gives the facts of a pane that decide whether its program can be typed to. gateLook
// adds the fields from which closed tells the cause.
const (
	gateFormat = "#{pane_pid}|#{pane_dead}|#{pane_in_mode}|#{pane_synchronized}|#{pane_input_off}"
	gateLook   = gateFormat + "|#{pane_id}|#{pane_mode}"
)

// opens returns a tmux format that is true while the program can be typed to.
func (p Program) opens() string { return fmt.Sprintf("#{==:%s,%d|0|0|0|0}", gateFormat, p.PID) }

// closed parses an expanded gateLook, and returns a *ClosedError, or nil when the program can be
// typed to.
func (p Program) closed(look string) error {
	f := strings.Split(look, "|")
	if len(f) != 7 {
		return fmt.Errorf("tmux: display-message printed %q", look)
	}
	e := &ClosedError{Program: p}
	switch {
	case f[5] != p.Pane:
		e.Cause = PaneGone
	case f[0] != strconv.Itoa(p.PID):
		e.Cause = OtherProgram
		e.PID, _ = strconv.Atoi(f[0])
	case f[1] != "0":
		e.Cause = ProgramEnded
	case f[2] != "0":
		e.Cause, e.Mode = InMode, f[6]
	case f[3] != "0":
		e.Cause = Synchronized
	case f[4] != "0":
		e.Cause = InputOff
	default:
		return nil
	}
	return e
}

// Type pastes a text into the pane of a program, none if text is "", and then presses keys by their
// tmux names, such as Enter or C-c. No other function of paw types into a pane. Checking and typing
// are one client call, so nothing can come in between. The error is a *ClosedError when the program
// could not be typed to; then nothing was typed.
//
// The text is a bracketed paste: a program that supports it takes line breaks as text and not as
// Enter. The text travels through standard input into a paste buffer of its own, never through a
// tmux command line. Keys without a text are sent after a load-buffer, too: a server that hangs
// until the call has timed out then has no client to read the buffer from, and does not type later.
func (c *Client) Type(ctx context.Context, p Program, text string, keys ...string) error {
	if err := checkID('%', p.Pane); err != nil {
		return err
	}
	mark, buffer := nonce(), "paw-"+nonce()
	unload := command{"delete-buffer", "-b", buffer}
	open := []command{unload}
	if text != "" {
		open = []command{{"paste-buffer", "-p", "-d", "-b", buffer, "-t", p.Pane}}
	}
	if len(keys) > 0 {
		open = append(open, append(command{"send-keys", "-t", p.Pane}, keys...))
	}
	open = append(open, command{"display-message", "-p", mark + "typed"})
	r, err := c.callWith(ctx, strings.NewReader(cmp.Or(text, "keys")), nil,
		command{"load-buffer", "-b", buffer, "-"},
		command{"display-message", "-p", "-t", p.Pane, mark + " " + gateLook},
		command{"if-shell", "-F", "-t", p.Pane, p.opens(), quotedScript(open), quotedScript([]command{unload})})
	if err != nil {
		return p.gone(named(err, "send-keys"))
	}
	if strings.Contains(r.out, mark+"typed") {
		return nil
	}
	if err := p.closed(lineOf(r.out, mark)); err != nil {
		return err
	}
	return &Error{Args: []string{"send-keys"}, Stderr: r.errors, Err: errors.New("nothing was typed")}
}

// Look returns a screenshot of the program's pane, and a *ClosedError when the program cannot be
// typed to now.
func (c *Client) Look(ctx context.Context, p Program) (Screenshot, error) {
	if err := checkID('%', p.Pane); err != nil {
		return Screenshot{}, err
	}
	mark, shots := nonce(), map[string]Screenshot{}
	r, err := c.call(ctx, append([]command{{"display-message", "-p", "-t", p.Pane, mark + " " + gateLook}}, screenshotOf(p.Pane)...)...)
	if err == nil {
		_, screen, _ := strings.Cut(r.out, mark+" ")
		_, screen, _ = strings.Cut(screen, "\n")
		err = parseScreenshots(screen, []string{p.Pane}, shots)
	}
	if err == nil {
		err = p.closed(lineOf(r.out, mark))
	}
	return shots[p.Pane], p.gone(err)
}

// gone turns ErrNotFound, with which some tmux versions and commands answer for a missing pane,
// into a *ClosedError.
func (p Program) gone(err error) error {
	var closed *ClosedError
	if !errors.Is(err, ErrNotFound) || errors.As(err, &closed) {
		return err
	}
	return &ClosedError{Program: p, Cause: PaneGone}
}

// lineOf returns the rest of the line that starts with mark.
func lineOf(out, mark string) string {
	_, rest, _ := strings.Cut(out, mark+" ")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// Capture returns the visible text of a pane, without colours and without the scrollback.
func (c *Client) Capture(ctx context.Context, paneID string) (string, error) {
	return c.onPane(ctx, paneID, "capture-pane", "-p")
}

// CaptureTail returns the visible text of a pane with up to history lines of scrollback before it.
// Of a dead pane Capture can miss the last line: tmux scrolls the pane by one line to say that it
// is dead.
func (c *Client) CaptureTail(ctx context.Context, paneID string, history int) (string, error) {
	return c.onPane(ctx, paneID, "capture-pane", "-p", "-S", strconv.Itoa(-history))
}

// Screenshot holds the visible text and the cursor of a pane at one moment.
type Screenshot struct {
	Text             string // the lines from the top, with colours and attributes as escape sequences
	Width, Height    int
	CursorX, CursorY int // column and line, counted from 0
	CursorShown      bool
}

// screenFields is the tmux format that parseScreenshots reads before a pane's text.
const screenFields = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag}"

// Screenshot reads the visible text and the cursor of one pane.
func (c *Client) Screenshot(ctx context.Context, paneID string) (Screenshot, error) {
	shots, err := c.Screenshots(ctx, []string{paneID})
	return shots[paneID], err
}

// screenshotOf returns the commands whose output parseScreenshots reads.
func screenshotOf(paneID string) []command {
	return []command{{"display-message", "-p", "-t", paneID, screenFields}, {"capture-pane", "-p", "-e", "-t", paneID}}
}

// screensAtOnce limits the panes that one client call reads: tmux takes at most 16 KB of commands,
// about 130 bytes of them for each pane.
const screensAtOnce = 100

// Screenshots reads several panes, up to screensAtOnce of them with one client call. With an error
// it returns the panes read so far: tmux stops at a pane that is gone, and does not read those
// after it.
func (c *Client) Screenshots(ctx context.Context, paneIDs []string) (map[string]Screenshot, error) {
	shots := map[string]Screenshot{}
	for some := range slices.Chunk(paneIDs, screensAtOnce) {
		var commands []command
		for _, id := range some {
			if err := checkID('%', id); err != nil {
				return shots, err
			}
			commands = append(commands, screenshotOf(id)...)
		}
		r, err := c.call(ctx, commands...)
		if parseErr := parseScreenshots(r.out, some, shots); err == nil {
			err = parseErr
		}
		if err != nil {
			return shots, err
		}
	}
	return shots, nil
}

// parseScreenshots reads the output of screenshotOf for each pane in turn: one line in
// screenFields, then as many lines as the pane is high.
func parseScreenshots(out string, paneIDs []string, shots map[string]Screenshot) error {
	lines := strings.SplitAfter(out, "\n")
	for _, id := range paneIDs {
		if len(lines) <= 1 {
			return nil
		}
		var s Screenshot
		var shown int
		if _, err := fmt.Sscan(lines[0], &s.Width, &s.Height, &s.CursorX, &s.CursorY, &shown); err != nil {
			return fmt.Errorf("tmux: display-message printed %q", lines[0])
		}
		if lines = lines[1:]; len(lines) <= s.Height {
			return nil // The client was cut off in the middle of this pane.
		}
		s.Text, s.CursorShown = strings.Join(lines[:s.Height], ""), shown != 0
		shots[id], lines = s, lines[s.Height:]
	}
	return nil
}
