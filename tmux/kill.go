package tmux

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
// what is left.
func (c *Client) killPanes(ctx context.Context, ids []string) error {
	mark := nonce()
	var commands []command
	for _, id := range ids {
		commands = append(commands, command{"if-shell", "-F", "1", unaliased("kill-pane") + " -t " + id})
	}
	// list-panes fails on a server that has lost its last session: in a command of its own, too.
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
	return nil
}
