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

// Revive asks a recorded server to make its socket anew, which is how a server comes back whose socket file was deleted:
// without it, its agents run on unseen, and the next new-session starts a second server on the same path. The signal goes
// only to a tmux process that did not start after the recorded start (Unix seconds); when the process is another one or
// gone, the server is dead, and the error is ErrNoServer. The socket is back a moment later: wait for Answers.
func Revive(serverPID int, serverStarted int64) error {
	if serverPID <= 1 || serverStarted <= 0 {
		return fmt.Errorf("tmux server %d: no server is recorded: %w", serverPID, ErrNoServer)
	}
	p, err := inspect(serverPID)
	switch {
	case errors.Is(err, errNoProcess):
		return fmt.Errorf("tmux server %d: %w", serverPID, ErrNoServer)
	case err != nil:
		return fmt.Errorf("tmux server %d: %w", serverPID, err)
	case !isServer(p.name), p.started.After(time.Unix(serverStarted, 0).Add(startTolerance)):
		return fmt.Errorf("tmux server %d: the process of that number is now %q: %w", serverPID, p.name, ErrNoServer)
	}
	if err := syscall.Kill(serverPID, syscall.SIGUSR1); err != nil {
		if errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("tmux server %d: %w", serverPID, ErrNoServer)
		}
		return fmt.Errorf("tmux server %d: %w", serverPID, err)
	}
	return nil
}

// isServer knows how tmux calls its processes: "tmux: server" and "tmux: client" on Linux, "tmux" elsewhere.
func isServer(name string) bool { return name == "tmux: server" || name == "tmux" }
