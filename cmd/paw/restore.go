package main

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"paw/orchestrator/app"
)

// A desk that is killed cannot give its terminal back. So another process stands by, which does that when the desk ends
// while it has the terminal. The desk tells it by single bytes whether it has.
const (
	hasTerminal  = "+"
	leftTerminal = "-"
)

// usualScreen takes back what the desk asks of a terminal: the other screen, a hidden cursor, styles, reports of the mouse,
// marks around what is pasted, and ways to tell more of keys.
const usualScreen = "\x1b[<1u\x1b[>4m\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?2026l\x1b[0m\x1b[?25h\x1b[?1049l\r\n"

// guard is the desk's end of the process that stands by; without one it does nothing.
type guard struct {
	mu   sync.Mutex
	pipe *os.File
	has  string
}

// guardDelay keeps the start of the process that stands by out of the desk's first frame.
const guardDelay = 300 * time.Millisecond

// guardTerminal lets a process stand by that restores the terminal as it is now.
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
		if g.pipe, err = h.StandBy([]string{"__restore", hex.EncodeToString(state)}, terminal); err == nil {
			_, _ = g.pipe.WriteString(g.has)
		}
	})
	return g
}

// tell says whether the desk has the terminal.
func (g *guard) tell(has string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.has = has; g.pipe != nil {
		_, _ = g.pipe.WriteString(has)
	}
}

// dismiss ends the process that stands by.
func (g *guard) dismiss() {
	g.tell(leftTerminal)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.has = ""; g.pipe != nil {
		g.pipe.Close()
	}
}

// newRestore is the process that stands by.
func newRestore(*invocation) *cobra.Command {
	return &cobra.Command{
		Use:    "__restore STATE",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			said, err := io.ReadAll(os.NewFile(app.LetGo, "pipe"))
			if err != nil || !strings.HasSuffix(string(said), hasTerminal) {
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
