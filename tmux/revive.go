package tmux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

var errNoProcess = errors.New("no such process")

// IsServer reports whether the process of that number is a tmux server. It is the most that can be told of a server of which only
// the pid is known.
func IsServer(pid int) bool {
	if pid <= 1 {
		return false
	}
	name, err := inspect(pid)
	return err == nil && isServer(name)
}

// Revive asks a server to make its socket anew, which is how a server comes back whose socket file was deleted: without it, its
// agents run on unseen, and the next new-session starts a second server on the same path. The caller knows that the process of
// that number is the server; where it is no tmux at all, the error is ErrNoServer. The socket is back a moment later, in a folder
// that is made anew where that has gone as well.
func Revive(pid int, socket string) error {
	err := ErrNoServer
	if IsServer(pid) {
		_ = os.MkdirAll(filepath.Dir(socket), 0o700) // without it the server stays as it is
		err = syscall.Kill(pid, syscall.SIGUSR1)
	}
	if errors.Is(err, syscall.ESRCH) {
		err = ErrNoServer
	}
	if err != nil {
		return fmt.Errorf("tmux server %d: %w", pid, err)
	}
	return nil
}

// isServer knows how tmux calls its processes: "tmux: server" and "tmux: client" on Linux, "tmux" elsewhere.
func isServer(name string) bool { return name == "tmux: server" || name == "tmux" }
