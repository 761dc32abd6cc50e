package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// killsPerCall keeps one call under tmux's message size of 16 KB.
const killsPerCall = 150

// KillPanes kills panes by id; a pane that is already gone is no error. tmux closes a window with
// its last pane, and a session with its last window; windows and panes of the user stay. Where no
// server answers, the error is ErrNoServer, also when the panes may still run; see Revive.
func (c *Client) KillPanes(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if err := checkID('%', id); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(ids, killsPerCall) {
		if err := c.killPanes(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// killPanes puts each kill-pane into an if-shell, so that a missing pane does not stop the commands
// after it, and then reads which panes are left. Windows arranged by paw that keep some panes are
// tiled again.
func (c *Client) killPanes(ctx context.Context, ids []string) error {
	mark := nonce()
	before := nonce()
	facts := before + " " + arrangedByPaw + " #{window_id} #{window_width} #{pane_id}"
	// list-panes fails on a server without sessions, and must not stop the commands after it
	// either.
	commands := []command{{"if-shell", "-F", "1", unaliased("list-panes") + ` -a -F "` + facts + `"`}}
	for _, id := range ids {
		commands = append(commands, command{"if-shell", "-F", "1", unaliased("kill-pane") + " -t " + id})
	}
	list := unaliased("list-panes") + ` -a -F "` + mark + ` #{pane_id} "`
	commands = append(commands, command{"if-shell", "-F", "1", list})
	r, err := c.call(ctx, commands...)
	if err != nil {
		return named(err, "kill-pane")
	}
	for _, id := range ids {
		if strings.Contains(r.out, mark+" "+id+" ") {
			return fmt.Errorf("tmux pane %s: still there: %s", id, lastLine(r.errors))
		}
	}
	_, _ = c.callPieces(ctx, closeRanks(r.out, before, ids)) // The panes are gone; a layout that could not be set is no error of the kill.
	return nil
}

// closeRanks returns the commands that tile windows arranged by paw which have lost some of their
// panes. out lists the panes from before the kill, gone are the ids of the killed ones.
func closeRanks(out, mark string, gone []string) []command {
	left, width, lost := map[string][]string{}, map[string]int{}, map[string]bool{}
	var windows []string
	for line := range strings.Lines(out) {
		_, text, ok := strings.Cut(line, mark+" ")
		f := strings.Fields(text)
		if !ok || len(f) != 4 || f[0] != "1" {
			continue
		}
		window, pane := f[1], f[3]
		if width[window] == 0 {
			windows = append(windows, window)
			width[window], _ = strconv.Atoi(f[2])
		}
		switch {
		case slices.Contains(gone, pane):
			lost[window] = true
		case !slices.Contains(left[window], pane): // list-panes -a lists a window once for each session that it is linked into
			left[window] = append(left[window], pane)
		}
	}
	var commands []command
	for _, window := range windows {
		if panes := left[window]; lost[window] && len(panes) > 0 {
			commands = append(commands, tile(panes[0], len(panes), width[window])...)
		}
	}
	return commands
}

var errNoProcess = errors.New("no such process")

// IsServer reports whether a process is named like a tmux server. Nothing more can be found out
// about a server of which only the PID is known.
func IsServer(pid int) bool {
	if pid <= 1 {
		return false
	}
	name, err := inspect(pid)
	return err == nil && isServer(name)
}

// Revive asks a tmux server (SIGUSR1) to make its socket anew after the socket file was deleted.
// Otherwise its agents would run on out of reach, and the next new-session would start a second
// server on the same path. The caller must know that pid is the server of that socket; if no tmux
// server has that PID, the error is ErrNoServer. The socket appears a moment later; Revive makes
// its directory if needed.
func Revive(pid int, socket string) error {
	err := ErrNoServer
	if IsServer(pid) {
		_ = os.MkdirAll(filepath.Dir(socket), 0o700) // A server cannot make the socket's directory itself.
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

// isServer matches the process names that tmux sets: "tmux: server" and "tmux: client" on Linux,
// "tmux" elsewhere.
func isServer(name string) bool { return name == "tmux: server" || name == "tmux" }
