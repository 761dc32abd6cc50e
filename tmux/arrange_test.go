package tmux

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestCapacity(t *testing.T) {
	for size, want := range map[[2]int]int{
		{80, 23}: 2, {80, 24}: 2, {120, 34}: 4, {200, 49}: 16, {100, 29}: 4, {60, 14}: 1, {10, 5}: 1, {1, 1}: 1, {80, 60}: 5,
	} {
		if got := capacity(size[0], size[1]); got != want {
			t.Errorf("%v: %d panes, want %d", size, got, want)
		}
	}
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		n, room int
		want    []int
	}{
		{1, 1, []int{1}}, {8, 2, []int{2, 2, 2, 2}}, {8, 6, []int{4, 4}}, {7, 6, []int{4, 3}}, {6, 6, []int{6}}, {10, 4, []int{4, 3, 3}},
	} {
		if got := shares(c.n, c.room); !slices.Equal(got, c.want) {
			t.Errorf("%d panes with room for %d: %v, want %v", c.n, c.room, got, c.want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		n, width       int
		layout         string
		columns, lines int
	}{
		{1, 80, "even-horizontal", 80, 49}, {2, 80, "even-vertical", 80, 23}, {2, 117, "even-horizontal", 58, 49}, {2, 116, "tiled", 116, 23},
		{3, 200, "even-horizontal", 66, 49}, {3, 120, "tiled", 59, 23}, {4, 400, "tiled", 199, 23}, {5, 120, "tiled", 59, 15}, {4, 90, "even-vertical", 90, 10},
	} {
		layout, columns, lines := fit(c.n, c.width, 50)
		if layout != c.layout || columns != c.columns || lines != c.lines {
			t.Errorf("%d panes in %dx50: %s of %dx%d, want %s of %dx%d", c.n, c.width, layout, columns, lines, c.layout, c.columns, c.lines)
		}
	}
}

// usable wants each pane of a session to have room for a CLI, in so many windows.
func usable(t *testing.T, c *Client, session string, windows int) {
	t.Helper()
	list := raw(t, c, "list-panes", "-s", "-t", session, "-F", "#{window_id} #{pane_width} #{pane_height} "+arrangedByPaw)
	seen := map[string]bool{}
	for line := range strings.Lines(list) {
		var window string
		var width, height, ours int
		if _, err := fmt.Sscan(line, &window, &width, &height, &ours); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		seen[window] = true
		if width < leastColumns || height < leastLines || ours != 1 {
			t.Errorf("a pane is %dx%d, arranged by paw: %d", width, height, ours)
		}
	}
	if len(seen) != windows {
		t.Errorf("%d windows, want %d:\n%s", len(seen), windows, list)
	}
}

// agentOrder lists the agents of a session as they stand, window by window.
func agentOrder(t *testing.T, c *Client, session string) string {
	t.Helper()
	return strings.ReplaceAll(raw(t, c, "list-panes", "-s", "-t", session, "-F", "#{s|.*/||:@paw_agent}"), "\n", " ")
}

// Eight agents, started where there was no terminal, are shown on terminals of all sizes, one after the other.
func TestArrange(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 8))
	usable(t, c, made.SessionID, 1)
	before := agentsOf(t, c, "s")
	for _, one := range []struct{ width, height, windows int }{
		{80, 24, 4}, {80, 24, 4}, {120, 35, 2}, {200, 50, 1}, {92, 30, 2}, {60, 15, 8}, {220, 60, 1}, {120, 35, 2}, {80, 24, 4},
	} {
		if err := c.Arrange(t.Context(), made.SessionID, one.width, one.height); err != nil {
			t.Fatalf("%dx%d: %v", one.width, one.height, err)
		}
		usable(t, c, made.SessionID, one.windows)
		if got := agentOrder(t, c, made.SessionID); got != "a1 a2 a3 a4 a5 a6 a7 a8" {
			t.Errorf("at %dx%d: %s", one.width, one.height, got)
		}
		if options := raw(t, c, "show-options", "-w", "-t", made.SessionID+":"); strings.Contains(options, "window-size") {
			t.Errorf("the windows keep a size of their own: %s", options)
		}
	}
	for agent, p := range agentsOf(t, c, "s") {
		if p.ID != before[agent].ID || p.PID != before[agent].PID || p.Dead {
			t.Errorf("%s: %+v, before %+v", agent, p, before[agent])
		}
	}
	if err := c.Arrange(t.Context(), "$99", 80, 24); err == nil {
		t.Error("no error for a session that does not exist")
	}
}

// What the user has arranged stays: other sizes, another layout, a pane of the user, a zoomed pane, a pane moved away.
func TestArrangeLeavesTheUsersWindows(t *testing.T) {
	for name, change := range map[string][]string{
		"another layout":      {"select-layout", "-t", "%0", "main-vertical"},
		"a pane of the user":  {"split-window", "-d", "-t", "%0", "exec sleep 1000"},
		"a zoomed pane":       {"resize-pane", "-Z", "-t", "%0"},
		"a pane in its place": {"swap-pane", "-d", "-s", "%0", "-t", "%1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := privateClient(t)
			made := create(t, c, newSession1(t, "s", 4))
			raw(t, c, change...)
			before := raw(t, c, "display-message", "-p", "-t", "%0", "#{window_layout}")
			if err := c.Arrange(t.Context(), made.SessionID, 80, 24); err != nil {
				t.Fatal(err)
			}
			if now := raw(t, c, "display-message", "-p", "-t", "%0", "#{window_layout}"); now != before {
				t.Errorf("layout %s, before %s", now, before)
			}
		})
	}
}

// Other sizes in paw's own layout stay as long as the terminal has the same size.
func TestArrangeKeepsSizesOfTheUser(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 4))
	arrange := func() {
		t.Helper()
		if err := c.Arrange(t.Context(), made.SessionID, 200, 50); err != nil {
			t.Fatal(err)
		}
	}
	arrange()
	raw(t, c, "resize-pane", "-t", made.Panes["a1"], "-x", "60")
	arrange()
	if got := raw(t, c, "display-message", "-p", "-t", made.Panes["a1"], "#{pane_width}"); got != "60" {
		t.Errorf("the pane is %s columns wide, the user made it 60", got)
	}
}

// While another terminal shows the session, its panes are not moved to other windows under it.
func TestArrangeWithAnotherTerminal(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 8))
	attached(t, c, made.SessionID, "", "outside")
	waitFor(t, "the attached client", func() bool { return raw(t, c, "list-clients") != "" })
	usable(t, c, made.SessionID, 2) // it has arranged them for 100x30 itself
	if err := c.Arrange(t.Context(), made.SessionID, 80, 24); err != nil {
		t.Fatal(err)
	}
	if got := raw(t, c, "display-message", "-p", "-t", made.SessionID+":", "#{session_windows}"); got != "2" {
		t.Errorf("%s windows, want 2", got)
	}
}

func TestWhatIsLeftIsTiledAgain(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 5))
	if err := c.KillPanes(t.Context(), []string{made.Panes["a1"], made.Panes["a3"]}); err != nil {
		t.Fatal(err)
	}
	usable(t, c, made.SessionID, 1)
	if got := raw(t, c, "list-panes", "-s", "-t", made.SessionID, "-F", "#{pane_width}x#{pane_height}"); strings.Count(got, "x59") != 3 {
		t.Errorf("three panes side by side are\n%s", got)
	}
}

// Agents that are added go where there is room.
func TestAddPanesSpills(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 1)
	s.Width, s.Height = 80, 24
	made := create(t, c, s)
	all := agentPanes(t, "s", 6)
	for _, some := range [][]AgentPane{all[1:2], all[2:6]} {
		if _, err := c.AddPanes(t.Context(), made.SessionID, LayoutTiled, some); err != nil {
			t.Fatal(err)
		}
	}
	usable(t, c, made.SessionID, 3)
	if got := agentOrder(t, c, made.SessionID); got != "a1 a2 a3 a4 a5 a6" {
		t.Errorf("order %s", got)
	}
}
