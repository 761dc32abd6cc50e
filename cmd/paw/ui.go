package main

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
)

func newUI(a *invocation) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "The desk: who needs you, what is new; answer, review, land",
		Long: exits(`Show the desk: all agents, those that need you first, with the pane, the turns, the diff and
the log of the selected one. Each key does what a command of paw does; ? lists them. It only
shows: leaving it, or killing it, changes nothing. paw without a command opens it, too,
on a terminal where a session exists.`, exitUsage),
		Example: `  paw
  paw ui --all`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !a.canShowDesk() {
				return errs.New(errs.Failed, "ui: not on a terminal that can show it").Hint("paw status --all")
			}
			h, err := a.paw()
			if err != nil {
				return err
			}
			return openDesk(cmd.Context(), a, h, all)
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "every session, of all repositories")
	return cmd
}

// newTmux prints key bindings for the user's tmux.conf.
func newTmux(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "tmux",
		Short: "Print key bindings for your tmux.conf; installs nothing",
		Long: exits(`Print lines for your tmux.conf: a key for the desk in a popup, one that goes to the agent that
needs you most. paw itself binds no key and changes no option of yours.`, exitUsage),
		Example: `  paw tmux
  paw tmux >> ~/.tmux.conf`,
		Args: cobra.NoArgs,
		RunE: a.withHome(func(_ *cobra.Command, h *app.App, _ []string) error {
			_, err := fmt.Fprint(a.stdout, orchestrator.TmuxBindings(h, os.Args[0]))
			return err
		}),
	}
}

// A desk that is killed cannot restore its terminal. Therefore a second process stands by, and
// restores the terminal when the desk ends while it uses the terminal. The desk tells that process
// by single bytes whether it does.
const (
	hasTerminal  = "+"
	leftTerminal = "-"
)

// usualScreen undoes what the desk sets on a terminal, such as the alternate screen, mouse reports
// and extended keys.
const usualScreen = "\x1b[<1u\x1b[>4m\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?2026l\x1b[0m\x1b[?25h\x1b[?1049l\r\n"

// guard is the desk's end of the pipe to the process that stands by. Without that process it does
// nothing.
type guard struct {
	mu   sync.Mutex
	pipe *os.File
	has  string
}

// guardDelay delays the start of the process that stands by until the desk has drawn its first
// frame.
const guardDelay = 300 * time.Millisecond

// guardTerminal starts a process that stands by to restore the present modes of the terminal.
func guardTerminal(h *app.App, terminal *os.File) *guard {
	g := &guard{has: hasTerminal}
	now, err := unix.IoctlGetTermios(int(terminal.Fd()), getTermios)
	if err != nil {
		return g
	}
	state, err := binary.Append(nil, binary.NativeEndian, now)
	if err != nil {
		return g
	}
	time.AfterFunc(guardDelay, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.has == "" { // the desk has ended
			return
		}
		g.pipe, err = h.Background().StandBy([]string{"__restore", hex.EncodeToString(state), g.has}, terminal)
	})
	return g
}

// tell tells the process that stands by whether the desk uses the terminal.
func (g *guard) tell(has string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.has = has; g.pipe != nil {
		_, _ = g.pipe.WriteString(has)
	}
}

// dismiss ends the process that stands by, and leaves the terminal as it is.
func (g *guard) dismiss() {
	g.tell(leftTerminal)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.has = ""; g.pipe != nil {
		g.pipe.Close()
	}
}

// newRestore runs the process that stands by. Its second argument says whether the desk uses the
// terminal, because the desk may be killed before it can write to the pipe.
func newRestore(*invocation) *cobra.Command {
	return &cobra.Command{
		Use:    "__restore STATE HAS",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			said, err := io.ReadAll(os.NewFile(app.LetGo, "pipe"))
			if err != nil || !strings.HasSuffix(args[1]+string(said), hasTerminal) {
				return err
			}
			state, err := hex.DecodeString(args[0])
			if err != nil {
				return err
			}
			var was unix.Termios
			if _, err := binary.Decode(state, binary.NativeEndian, &was); err != nil {
				return err
			}
			_, err = os.Stdin.WriteString(usualScreen)
			return errors.Join(err, unix.IoctlSetTermios(int(os.Stdin.Fd()), setTermios, &was))
		},
	}
}
