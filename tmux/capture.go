package tmux

import "context"

// Capture returns the text a pane shows, without colours and without its history.
func (c *Client) Capture(ctx context.Context, paneID string) (string, error) {
	if err := checkID('%', paneID); err != nil {
		return "", err
	}
	r, err := c.call(ctx, command{"capture-pane", "-p", "-t", paneID})
	return r.out, err
}
