package tmux

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// process is what the system knows of a running process.
type process struct {
	name    string
	started time.Time // exact to about a second
}

var errNoProcess = errors.New("no such process")

// startTolerance covers that the system tells start times in whole seconds since a boot time that is rounded, too.
const startTolerance = 2 * time.Second

// ServerAlive tells whether the recorded server still runs: a tmux process of
// that number that did not start after the recorded start (Unix seconds). A
// socket that does not answer is no proof of the contrary.
func ServerAlive(serverPID int, serverStarted int64) bool {
	return findServer(serverPID, serverStarted) == nil
}

// Revive asks a recorded server to make its socket anew, which is how a server comes back whose socket file was deleted:
// without it, its agents run on unseen, and the next new-session starts a second server on the same path. The signal goes
// only to the server that was recorded; when the process of its number is another one or gone, the server is dead, and the
// error is ErrNoServer. The socket is back a moment later: wait for Answers.
func Revive(serverPID int, serverStarted int64) error {
	if err := findServer(serverPID, serverStarted); err != nil {
		return err
	}
	err := syscall.Kill(serverPID, syscall.SIGUSR1)
	if errors.Is(err, syscall.ESRCH) {
		err = ErrNoServer
	}
	if err != nil {
		return fmt.Errorf("tmux server %d: %w", serverPID, err)
	}
	return nil
}

// findServer fails with ErrNoServer where the recorded server does not run, and otherwise where that cannot be told.
func findServer(pid int, started int64) error {
	if pid <= 1 || started <= 0 {
		return fmt.Errorf("tmux server %d: no server is recorded: %w", pid, ErrNoServer)
	}
	p, err := inspect(pid)
	switch {
	case errors.Is(err, errNoProcess):
		return fmt.Errorf("tmux server %d: %w", pid, ErrNoServer)
	case err != nil:
		return fmt.Errorf("tmux server %d: %w", pid, err)
	case !isServer(p.name), p.started.After(time.Unix(started, 0).Add(startTolerance)):
		return fmt.Errorf("tmux server %d: the process of that number is now %q: %w", pid, p.name, ErrNoServer)
	}
	return nil
}

// isServer knows how tmux calls its processes: "tmux: server" and "tmux: client" on Linux, "tmux" elsewhere.
func isServer(name string) bool { return name == "tmux: server" || name == "tmux" }
