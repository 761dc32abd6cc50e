package tmux

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The least that a pane needs for a CLI to be usable in it, without its border.
const (
	leastColumns = 45
	leastLines   = 10
)

// besideColumns is how many columns agents need to stand side by side in one row, where they have more lines.
const besideColumns = 58

// agentsWindow is the name of a window with several agents.
const agentsWindow = "agents"

// tiledOption is the layout that paw has given a window, without its sizes. A window that has another one was arranged by
// the user, and stays as it is.
const tiledOption = "@paw_tiled"

// bareLayout is a format with the layout of a window without its sizes.
const bareLayout = "#{s/[0-9]+x[0-9]+,[0-9]+,[0-9]+/@/:#{s/^[0-9a-f]+,//:window_layout}}"

// arrangedByPaw is a format that tells whether paw's own layout is what a window has.
const arrangedByPaw = "#{?window_zoomed_flag,0,#{==:#{" + tiledOption + "}," + bareLayout + "}}"

// grid is how tmux's layout "tiled" puts n panes.
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

// fit is paw's layout for n panes in a window of that size, and the size of the smallest of them.
func fit(n, width, height int) (layout string, columns, lines int) {
	rows, beside := grid(n)
	layout = "tiled"
	switch {
	case n <= 3 && (width-n+1)/n >= besideColumns:
		layout, rows, beside = "even-horizontal", 1, n
	case (width-1)/2 < leastColumns:
		layout, rows, beside = "even-vertical", n, 1
	}
	// The first row has a line less: its border is in the window, that of any other between it and the row above.
	return layout, (width - beside + 1) / beside, (height-rows+1)/rows - 1
}

// capacity is how many panes a window of that size has room for, at least one.
func capacity(width, height int) int {
	for n := 1; ; n++ {
		if _, columns, lines := fit(n+1, width, height); columns < leastColumns || lines < leastLines {
			return n
		}
	}
}

// shares spreads n panes evenly over as few windows as have room for them.
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

// tile gives the window of a pane paw's layout for n panes, and notes it.
func tile(pane string, n, width int) []command {
	layout, _, _ := fit(n, width, 0)
	return []command{
		{"select-layout", "-t", pane, layout},
		{"set-option", "-w", "-F", "-t", pane, tiledOption, bareLayout},
	}
}

// tiledPane is a pane in a window that paw has arranged.
type tiledPane struct{ id, window string }

// arrangement are the commands that spread panes, in their order, over windows of that size. A window that has panes of
// an earlier share is left by those of the others, which get new windows right after it.
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
		breaks = slices.Insert(breaks, at, made...) // the last one first: each comes right after the window
		for i, p := range share[1:] {
			if p.window != in {
				joins = append(joins, command{"join-pane", "-d", "-s", p.id, "-t", share[i].id},
					command{"select-layout", "-t", first, "tiled"}) // or there is soon no space for another
			}
		}
		tiles = append(tiles, tile(first, n, width)...)
	}
	return slices.Concat(breaks, joins, tiles) // tiled once all that leave have left
}

// sized are commands that give the window of a pane a size, which it keeps until a terminal of another one comes.
func sized(pane string, width, height int) []command {
	return []command{
		// resize-window leaves window-size at manual.
		{"resize-window", "-t", pane, "-x", strconv.Itoa(width), "-y", strconv.Itoa(height)},
		{"set-option", "-w", "-u", "-t", pane, "window-size"},
	}
}

// sessionLook is what arrange has to know of a session.
type sessionLook struct {
	attached      int // terminals
	status        int // lines of the status line
	width, height int // of its last window
	panes         []tiledPane
	windows       map[string]string // of paw's arrangement: id -> "WIDTHxHEIGHT"
}

// Arrange fits what paw has arranged to a terminal of that size which is about to be attached: panes are tiled again, and
// spread over as many windows as they need to be usable. Windows that the user has arranged stay as they are, and as long
// as another terminal shows the session its panes stay in their windows.
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

// counts is how many panes each window has.
func (s sessionLook) counts() map[string]int {
	counts := map[string]int{}
	for _, p := range s.panes {
		counts[p.window]++
	}
	return counts
}

// settled reports whether the panes stand in the windows where they belong for that size.
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

// again are the commands that tile each window of another size again.
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

// lookAt lists the panes of a session that stand where paw has put them.
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

// statusLines is the height of the status line by the option status.
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
