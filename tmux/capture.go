package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"
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

// Screenshot is what a pane shows at one moment.
type Screenshot struct {
	Text             string // the lines from the top, with colours and attributes as escape sequences
	Width, Height    int
	CursorX, CursorY int // from 0
	CursorShown      bool
}

// Screenshot looks at a pane.
func (c *Client) Screenshot(ctx context.Context, paneID string) (Screenshot, error) {
	var s Screenshot
	if err := checkID('%', paneID); err != nil {
		return s, err
	}
	r, err := c.call(ctx,
		command{"display-message", "-p", "-t", paneID, "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag}"},
		command{"capture-pane", "-p", "-e", "-t", paneID})
	if err != nil {
		return s, err
	}
	var shown int
	facts, text, _ := strings.Cut(r.out, "\n")
	if _, err := fmt.Sscan(facts, &s.Width, &s.Height, &s.CursorX, &s.CursorY, &shown); err != nil {
		return s, fmt.Errorf("tmux: display-message printed %q", facts)
	}
	s.Text, s.CursorShown = text, shown != 0
	return s, nil
}
