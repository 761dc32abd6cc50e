package tmux

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The smallest pane, without its border, that paw's layout gives an agent.
const (
	leastColumns = 45
	leastLines   = 10
)

// besideColumns is the least width, in columns, of panes that stand side by side in a single row.
const besideColumns = 58

// agentsWindow names a window that holds several agents.
const agentsWindow = "agents"

// tiledOption is a window option that keeps the layout paw last gave the window, without sizes. A
// window whose layout differs from it was arranged by the user, and stays as it is.
const tiledOption = "@paw_tiled"

// bareLayout is a tmux format: the layout of a window without its sizes.
const bareLayout = "#{s/[0-9]+x[0-9]+,[0-9]+,[0-9]+/@/:#{s/^[0-9a-f]+,//:window_layout}}"

// arrangedByPaw is a tmux format: 1 where a window still has the layout that paw gave it, else 0.
const arrangedByPaw = "#{?window_zoomed_flag,0,#{==:#{" + tiledOption + "}," + bareLayout + "}}"

// grid returns the rows and columns into which tmux's layout "tiled" puts n panes.
func grid(n int) (rows, columns int) {
	rows, columns = 1, 1
	for rows*columns < n {
		rows++
		if rows*columns < n {
			columns++
		}
	}
	return rows, columns
}

// fit chooses a layout for n panes in a window of width by height, and returns the size of the
// smallest pane in it.
func fit(n, width, height int) (layout string, columns, lines int) {
	rows, beside := grid(n)
	layout = "tiled"
	switch {
	case n <= 3 && (width-n+1)/n >= besideColumns:
		layout, rows, beside = "even-horizontal", 1, n
	case (width-1)/2 < leastColumns:
		layout, rows, beside = "even-vertical", n, 1
	}
	// The first row has one line less: the top border takes a line of that row. Any other row's
	// border is the line between the rows.
	return layout, (width - beside + 1) / beside, (height-rows+1)/rows - 1
}

// capacity returns how many panes of usable size fit into a window of width by height, at least 1.
func capacity(width, height int) int {
	for n := 1; ; n++ {
		if _, columns, lines := fit(n+1, width, height); columns < leastColumns || lines < leastLines {
			return n
		}
	}
}

// shares spreads n panes evenly over the smallest number of windows that hold room panes each.
func shares(n, room int) []int {
	windows := (n + room - 1) / room
	all := make([]int, windows)
	for i := range all {
		all[i] = n / windows
		if i < n%windows {
			all[i]++
		}
	}
	return all
}

// tile returns the commands that lay out the n panes of a window, and store the layout in
// tiledOption. pane is any pane of the window.
func tile(pane string, n, width int) []command {
	layout, _, _ := fit(n, width, 0)
	return []command{
		{"select-layout", "-t", pane, layout},
		{"set-option", "-w", "-F", "-t", pane, tiledOption, bareLayout},
	}
}

// tiledPane names a pane in a window that paw has arranged.
type tiledPane struct{ id, window string }

// arrangement returns the commands that spread panes, in their order, over windows of width by
// height. Panes of the first share stay in the window; panes of each later share move to a new
// window right after it.
func arrangement(panes []tiledPane, width, height int) []command {
	var breaks, joins, tiles []command
	claimed := map[string]bool{}
	rest, window, at := panes, "", 0
	for _, n := range shares(len(panes), capacity(width, height)) {
		share := rest[:n]
		rest = rest[n:]
		first, in := share[0].id, share[0].window
		var made []command
		if claimed[in] {
			made = append(made, command{"break-pane", "-d", "-a", "-n", agentsWindow, "-s", first, "-t", window})
			made = append(made, windowOptions(first)...)
			in = ""
		} else {
			claimed[in] = true
			window, at = in, len(breaks)
		}
		made = append(made, sized(first, width, height)...)
		breaks = slices.Insert(breaks, at, made...) // Each new window is put right after the old one, so the last must be made first.
		for i, p := range share[1:] {
			if p.window != in {
				joins = append(joins, command{"join-pane", "-d", "-s", p.id, "-t", share[i].id},
					command{"select-layout", "-t", first, "tiled"}) // Tiling after each join leaves space for the next.
			}
		}
		tiles = append(tiles, tile(first, n, width)...)
	}
	return slices.Concat(breaks, joins, tiles) // Tiling comes last, when every pane is in its window.
}

// sized returns the commands that give a pane's window a size until a terminal of another size
// attaches.
func sized(pane string, width, height int) []command {
	return []command{
		// resize-window sets window-size to manual, which would keep the size for good.
		{"resize-window", "-t", pane, "-x", strconv.Itoa(width), "-y", strconv.Itoa(height)},
		{"set-option", "-w", "-u", "-t", pane, "window-size"},
	}
}

// sessionLook holds what the layout of a session is decided by.
type sessionLook struct {
	attached      int // number of attached terminals
	status        int // height of the status line, in lines
	width, height int // size of the session's last window
	panes         []tiledPane
	windows       map[string]string // windows that paw has arranged: id -> "WIDTHxHEIGHT"
}

// Arrange fits a session to a terminal of width by height that is about to attach: it spreads the
// panes over as many windows as keep each pane usable, and tiles each window. Windows that the user
// has arranged stay as they are. While another terminal shows the session, panes are not moved
// between windows.
func (c *Client) Arrange(ctx context.Context, sessionID string, width, height int) error {
	if err := checkID('$', sessionID); err != nil {
		return err
	}
	look, err := c.lookAt(ctx, sessionID)
	if err != nil || len(look.panes) == 0 {
		return err
	}
	height -= look.status
	if width < 1 || height < 1 {
		return nil
	}
	var commands []command
	if look.attached > 0 || look.settled(width, height) {
		commands = look.again(width, height)
	} else {
		commands = arrangement(look.panes, width, height)
	}
	_, err = c.callPieces(ctx, commands)
	return err
}

// counts returns the number of arranged panes in each window.
func (s sessionLook) counts() map[string]int {
	counts := map[string]int{}
	for _, p := range s.panes {
		counts[p.window]++
	}
	return counts
}

// settled reports whether the panes already stand in the windows that arrangement would choose for
// that size.
func (s sessionLook) settled(width, height int) bool {
	var now []int
	at := ""
	counts := s.counts()
	for _, p := range s.panes {
		if p.window != at {
			at = p.window
			now = append(now, counts[at])
		}
	}
	return slices.Equal(now, shares(len(s.panes), capacity(width, height)))
}

// again returns the commands that resize and tile each window whose size is not width by height.
func (s sessionLook) again(width, height int) []command {
	var commands []command
	done := map[string]bool{}
	counts := s.counts()
	size := fmt.Sprintf("%dx%d", width, height)
	for _, p := range s.panes {
		if done[p.window] || s.windows[p.window] == size {
			continue
		}
		done[p.window] = true
		commands = append(commands, sized(p.id, width, height)...)
		commands = append(commands, tile(p.id, counts[p.window], width)...)
	}
	return commands
}

// lookAt reads a session's windows and panes, leaving out windows that the user has arranged.
func (c *Client) lookAt(ctx context.Context, sessionID string) (sessionLook, error) {
	look := sessionLook{windows: map[string]string{}}
	mark := nonce()
	format := mark + " " + arrangedByPaw + " #{session_attached} #{status} #{window_id} #{window_width}x#{window_height} #{pane_id}"
	r, err := c.call(ctx, command{"list-panes", "-s", "-t", sessionID, "-F", format})
	if err != nil {
		return look, named(err, "list-panes")
	}
	for line := range strings.Lines(r.out) {
		_, text, ok := strings.Cut(line, mark+" ")
		f := strings.Fields(text)
		if !ok || len(f) != 6 {
			continue
		}
		look.attached, _ = strconv.Atoi(f[1])
		look.status = statusLines(f[2])
		if _, err := fmt.Sscanf(f[4], "%dx%d", &look.width, &look.height); err != nil || f[0] != "1" {
			continue
		}
		look.panes = append(look.panes, tiledPane{id: f[5], window: f[3]})
		look.windows[f[3]] = f[4]
	}
	return look, nil
}

// statusLines returns the height of the status line, in lines, for a value of tmux's option status.
func statusLines(option string) int {
	switch option {
	case "on":
		return 1
	case "off":
		return 0
	}
	n, _ := strconv.Atoi(option)
	return n
}
