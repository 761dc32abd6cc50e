package tmux

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestScreenshotHasAttributesAndTheCursor(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 0)
	s.Agents = []AgentPane{agentPane(t, "s", "a1", `printf '\033[2mdim\033[0m plain\n\nlast'; exec sleep 1000`)}
	made := create(t, c, s)
	var shot Screenshot
	waitFor(t, "the text", func() bool {
		var err error
		if shot, err = c.Screenshot(context.Background(), made.Panes["a1"]); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(shot.Text, "last")
	})
	if !strings.HasPrefix(shot.Text, "\033[2mdim\033[0m") || !strings.Contains(shot.Text, " plain\n\nlast\n") {
		t.Errorf("text %q", shot.Text)
	}
	if shot.CursorX != 4 || shot.CursorY != 2 || !shot.CursorShown {
		t.Errorf("cursor %d,%d, shown %v", shot.CursorX, shot.CursorY, shot.CursorShown)
	}
	if shot.Width < 10 || strings.Count(shot.Text, "\n") != shot.Height {
		t.Errorf("%d by %d for %q", shot.Width, shot.Height, shot.Text)
	}
	if _, err := c.Screenshot(context.Background(), "%99"); !errors.Is(err, ErrNotFound) {
		t.Errorf("screenshot of no pane: %v", err)
	}
}
