package tmux

import (
	"context"
	"strings"
)

// Paste puts text into a pane as a bracketed paste: a program that asked for it
// takes the line breaks for text and not for Enter. The text travels through
// standard input and a buffer of its own, byte for byte, and never through a
// tmux command line.
func (c *Client) Paste(ctx context.Context, paneID, text string) error {
	if err := checkID('%', paneID); err != nil {
		return err
	}
	buffer := "paw-" + nonce()
	_, err := c.callWith(ctx, strings.NewReader(text), nil,
		command{"load-buffer", "-b", buffer, "-"},
		command{"paste-buffer", "-p", "-d", "-b", buffer, "-t", paneID})
	return named(err, "paste-buffer")
}

// Press sends keys by their tmux names, such as Enter or C-c.
func (c *Client) Press(ctx context.Context, paneID string, keys ...string) error {
	_, err := c.onPane(ctx, paneID, "send-keys", keys...)
	return err
}

// InMode is the mode of a pane in which tmux takes the keys that are typed into it, such as "copy-mode"; "" for none.
func (c *Client) InMode(ctx context.Context, paneID string) (string, error) {
	return c.fact(ctx, paneID, "#{pane_mode}")
}
