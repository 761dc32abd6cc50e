package tmux

import (
	"context"
	"errors"
	"fmt"
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

func TestScreenshotsOfManyPanesAreOfThose(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 0)
	var names []string
	for i := range 4 {
		names = append(names, fmt.Sprintf("a%d", i))
		s.Agents = append(s.Agents, agentPane(t, "s", names[i], "printf 'I am "+names[i]+"'; exec sleep 1000"))
	}
	made := create(t, c, s)
	var ids []string
	for _, name := range names {
		ids = append(ids, made.Panes[name])
	}
	waitFor(t, "the texts", func() bool {
		shots, err := c.Screenshots(context.Background(), ids)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if !strings.HasPrefix(shots[id].Text, "I am "+names[i]+"\n") || strings.Count(shots[id].Text, "\n") != shots[id].Height {
				return false
			}
		}
		return len(shots) == len(ids)
	})
	shots, err := c.Screenshots(context.Background(), []string{ids[0], "%99", ids[1]})
	if !errors.Is(err, ErrNotFound) || len(shots) != 1 || !strings.HasPrefix(shots[ids[0]].Text, "I am a0\n") {
		t.Errorf("with a pane that is gone: %v, %v", shots, err)
	}
	if shots, err := c.Screenshots(context.Background(), nil); err != nil || len(shots) != 0 {
		t.Errorf("of no panes: %v, %v", shots, err)
	}
}
