package tmux

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Capture returns the visible text of a pane, without colours and without the scrollback.
func (c *Client) Capture(ctx context.Context, paneID string) (string, error) {
	return c.onPane(ctx, paneID, "capture-pane", "-p")
}

// CaptureTail returns the visible text of a pane with up to history lines of scrollback before it.
// Of a dead pane Capture can miss the last line: tmux scrolls the pane by one line to say that it
// is dead.
func (c *Client) CaptureTail(ctx context.Context, paneID string, history int) (string, error) {
	return c.onPane(ctx, paneID, "capture-pane", "-p", "-S", strconv.Itoa(-history))
}

// Screenshot holds the visible text and the cursor of a pane at one moment.
type Screenshot struct {
	Text             string // the lines from the top, with colours and attributes as escape sequences
	Width, Height    int
	CursorX, CursorY int // column and line, counted from 0
	CursorShown      bool
}

// screenFields is the tmux format that parseScreenshots reads before a pane's text.
const screenFields = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag}"

// Screenshot reads the visible text and the cursor of one pane.
func (c *Client) Screenshot(ctx context.Context, paneID string) (Screenshot, error) {
	shots, err := c.Screenshots(ctx, []string{paneID})
	return shots[paneID], err
}

// screenshotOf returns the commands whose output parseScreenshots reads.
func screenshotOf(paneID string) []command {
	return []command{{"display-message", "-p", "-t", paneID, screenFields}, {"capture-pane", "-p", "-e", "-t", paneID}}
}

// screensAtOnce limits the panes that one client call reads: tmux takes at most 16 KB of commands,
// about 130 bytes of them for each pane.
const screensAtOnce = 100

// Screenshots reads several panes, up to screensAtOnce of them with one client call. With an error
// it returns the panes read so far: tmux stops at a pane that is gone, and does not read those
// after it.
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

// parseScreenshots reads the output of screenshotOf for each pane in turn: one line in
// screenFields, then as many lines as the pane is high.
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
			return nil // The client was cut off in the middle of this pane.
		}
		s.Text, s.CursorShown = strings.Join(lines[:s.Height], ""), shown != 0
		shots[id], lines = s, lines[s.Height:]
	}
	return nil
}
