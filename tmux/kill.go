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

// killsPerCall keeps one call under tmux's message size.
const killsPerCall = 150

// KillPanes ends panes by id. Panes that are gone are fine. A window goes with its last pane and a session with its last
// window; windows and panes of the user are not touched. ErrNoServer is returned as it is: see Revive.
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

// killPanes runs each kill as a command of its own, which does not end the chain where a pane is gone, and judges by
// what is left. Windows that paw has arranged and that keep some of their panes are tiled again.
func (c *Client) killPanes(ctx context.Context, ids []string) error {
	mark := nonce()
	before := nonce()
	facts := before + " " + arrangedByPaw + " #{window_id} #{window_width} #{pane_id}"
	// list-panes fails on a server that has lost its last session: in a command of its own, too.
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
	_, _ = c.callPieces(ctx, closeRanks(r.out, before, ids)) // how they stand is not what was asked for
	return nil
}

// closeRanks are the commands that tile again what is left of arranged windows, by a list of the panes from before.
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
		case !slices.Contains(left[window], pane): // a window that is linked twice is listed twice
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
