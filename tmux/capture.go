package tmux

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Capture returns the text a pane shows, without colours and without its history.
func (c *Client) Capture(ctx context.Context, paneID string) (string, error) {
	return c.onPane(ctx, paneID, "capture-pane", "-p")
}

// CaptureTail returns what a pane shows with up to history lines from before. A
// pane that ended shows its last line only there: tmux scrolls by one to say that
// the pane is dead.
func (c *Client) CaptureTail(ctx context.Context, paneID string, history int) (string, error) {
	return c.onPane(ctx, paneID, "capture-pane", "-p", "-S", strconv.Itoa(-history))
}

// Screenshot is what a pane shows at one moment.
type Screenshot struct {
	Text             string // the lines from the top, with colours and attributes as escape sequences
	Width, Height    int
	CursorX, CursorY int // from 0
	CursorShown      bool
}

// screenFields are asked of a pane before its text.
const screenFields = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag}"

// Screenshot looks at a pane.
func (c *Client) Screenshot(ctx context.Context, paneID string) (Screenshot, error) {
	shots, err := c.Screenshots(ctx, []string{paneID})
	return shots[paneID], err
}

// screenshotOf prints what parseScreenshots reads of a pane.
func screenshotOf(paneID string) []command {
	return []command{{"display-message", "-p", "-t", paneID, screenFields}, {"capture-pane", "-p", "-e", "-t", paneID}}
}

// screensAtOnce is how many panes one client looks at: tmux takes at most 16 KB of commands, and those for one pane are
// about 130 bytes.
const screensAtOnce = 100

// Screenshots looks at panes, with one client for a hundred of them. On an error it returns what was seen until then: a
// pane that is gone hides those behind it.
func (c *Client) Screenshots(ctx context.Context, paneIDs []string) (map[string]Screenshot, error) {
	shots := map[string]Screenshot{}
	for some := range slices.Chunk(paneIDs, screensAtOnce) {
		var commands []command
		for _, id := range some {
			if err := checkID('%', id); err != nil {
				return shots, err
			}
			commands = append(commands, screenshotOf(id)...)
		}
		r, err := c.call(ctx, commands...)
		if parseErr := parseScreenshots(r.out, some, shots); err == nil {
			err = parseErr
		}
		if err != nil {
			return shots, err
		}
	}
	return shots, nil
}

// parseScreenshots reads what was printed of the panes, one after the other: a line of facts, and as many lines as the
// pane is high.
func parseScreenshots(out string, paneIDs []string, shots map[string]Screenshot) error {
	lines := strings.SplitAfter(out, "\n")
	for _, id := range paneIDs {
		if len(lines) <= 1 {
			return nil
		}
		var s Screenshot
		var shown int
		if _, err := fmt.Sscan(lines[0], &s.Width, &s.Height, &s.CursorX, &s.CursorY, &shown); err != nil {
			return fmt.Errorf("tmux: display-message printed %q", lines[0])
		}
		if lines = lines[1:]; len(lines) <= s.Height {
			return nil // the client was cut off
		}
		s.Text, s.CursorShown = strings.Join(lines[:s.Height], ""), shown != 0
		shots[id], lines = s, lines[s.Height:]
	}
	return nil
}
