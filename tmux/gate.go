package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Program is a process that was started in a pane. The pid tells it from whatever else somebody has started there since.
type Program struct {
	Pane string // id of the pane
	PID  int
}

// Cause is why nothing can be typed to a program.
type Cause int

// The causes, in the order in which they are looked for.
const (
	PaneGone     Cause = iota + 1 // tmux has no such pane
	OtherProgram                  // the pane was respawned
	ProgramEnded                  // the pane is dead
	InMode                        // tmux takes the keys: copy mode, a tree to choose from, output that is shown in the pane
	Synchronized                  // keys would go to other panes of the window too
	InputOff                      // the pane takes no input (select-pane -d)
)

// ClosedError says why nothing was typed to a program.
type ClosedError struct {
	Program Program
	Cause   Cause
	Mode    string // for InMode, as tmux names it: "copy-mode", "view-mode", "tree-mode"
	PID     int    // for OtherProgram, the process that the pane was started with last
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

// Is has a pane that is gone count as ErrNotFound.
func (e *ClosedError) Is(err error) bool { return err == ErrNotFound && e.Cause == PaneGone }

// Passing reports whether the user can end what keeps the program from being typed to.
func (e *ClosedError) Passing() bool {
	return e.Cause == InMode || e.Cause == Synchronized || e.Cause == InputOff
}

// The gate compares gateFormat, which tmux fills in for the pane, with what an open gate has there. gateLook says more, for
// the reason.
const (
	gateFormat = "#{pane_pid}|#{pane_dead}|#{pane_in_mode}|#{pane_synchronized}|#{pane_input_off}"
	gateLook   = gateFormat + "|#{pane_id}|#{pane_mode}"
)

// opens is the format that is true while the program can be typed to.
func (p Program) opens() string { return fmt.Sprintf("#{==:%s,%d|0|0|0|0}", gateFormat, p.PID) }

// closed says by a filled in gateLook why the program cannot be typed to, nil when it can.
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

// Type pastes a text into the pane of a program, "" for none, and presses keys by their tmux names, such as Enter or C-c.
// Nothing else in paw types. One client call looks and types, and nothing comes in between: the error is a *ClosedError
// when the program could not be typed to, and nothing was typed.
//
// The text is a bracketed paste: a program that asked for it takes the line breaks for text and not for Enter. It travels
// through standard input and a buffer of its own, byte for byte, and never through a tmux command line. Keys alone come
// behind a buffer, too: a server that hangs for longer than the call waits then finds nobody to read it from, and does not
// type later.
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

// Look is what the pane of a program shows and, as a *ClosedError, why the program cannot be typed to now.
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

// gone is a *ClosedError where tmux says that the pane is not there, which it does not in all versions and commands.
func (p Program) gone(err error) error {
	var closed *ClosedError
	if !errors.Is(err, ErrNotFound) || errors.As(err, &closed) {
		return err
	}
	return &ClosedError{Program: p, Cause: PaneGone}
}

// lineOf is what stands behind a mark on its line.
func lineOf(out, mark string) string {
	_, rest, _ := strings.Cut(out, mark+" ")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}
