// Package standby restores the terminal of a desk that was killed. Begin with Start.
package standby

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"paw/orchestrator/app"
)

// A desk that is killed cannot restore its terminal. Therefore a second process stands by, and
// restores the terminal when the desk ends while it uses the terminal. The desk tells that process
// by single bytes whether it does.
const (
	HasTerminal  = "+"
	LeftTerminal = "-"
)

// usualScreen undoes what the desk sets on a terminal, such as the alternate screen, mouse reports
// and extended keys.
const usualScreen = "\x1b[<1u\x1b[>4m\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?2026l\x1b[0m\x1b[?25h\x1b[?1049l\r\n"

// Guard is the desk's end of the pipe to the process that stands by. Without that process it does
// nothing.
type Guard struct {
	mu   sync.Mutex
	pipe *os.File
	has  string
}

// guardDelay delays the start of the process that stands by until the desk has drawn its first
// frame.
const guardDelay = 300 * time.Millisecond

// Start starts a process that stands by to restore the present modes of the terminal.
func Start(h *app.App, terminal *os.File) *Guard {
	g := &Guard{has: HasTerminal}
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

// Tell tells the process that stands by whether the desk uses the terminal.
func (g *Guard) Tell(has string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.has = has; g.pipe != nil {
		_, _ = g.pipe.WriteString(has)
	}
}

// Dismiss ends the process that stands by, and leaves the terminal as it is.
func (g *Guard) Dismiss() {
	g.Tell(LeftTerminal)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.has = ""; g.pipe != nil {
		g.pipe.Close()
	}
}

// Restore is the process that stands by, with the modes that Start has found. has says whether the desk uses
// the terminal, because the desk may be killed before it can write to the pipe.
func Restore(modes, has string) error {
	said, err := io.ReadAll(os.NewFile(app.LetGo, "pipe"))
	if err != nil || !strings.HasSuffix(has+string(said), HasTerminal) {
		return err
	}
	state, err := hex.DecodeString(modes)
	if err != nil {
		return err
	}
	var was unix.Termios
	if _, err := binary.Decode(state, binary.NativeEndian, &was); err != nil {
		return err
	}
	_, err = os.Stdin.WriteString(usualScreen)
	return errors.Join(err, unix.IoctlSetTermios(int(os.Stdin.Fd()), setTermios, &was))
}
