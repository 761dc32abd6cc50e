package tmux

import (
	"context"
	"strconv"
)

// Capture returns the text a pane shows, without colours and without its history.
func (c *Client) Capture(ctx context.Context, paneID string) (string, error) {
	if err := checkID('%', paneID); err != nil {
		return "", err
	}
	r, err := c.call(ctx, command{"capture-pane", "-p", "-t", paneID})
	return r.out, err
}

// CaptureTail returns what a pane shows with up to history lines from before. A
// pane that ended shows its last line only there: tmux scrolls by one to say that
// the pane is dead.
func (c *Client) CaptureTail(ctx context.Context, paneID string, history int) (string, error) {
	if err := checkID('%', paneID); err != nil {
		return "", err
	}
	r, err := c.call(ctx, command{"capture-pane", "-p", "-S", strconv.Itoa(-history), "-t", paneID})
	return r.out, err
}
