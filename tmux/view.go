package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// View is who looks at a pane.
type View struct {
	Terminals []string // paths of all terminals that are attached to the server
	// Focused: the pane can be seen on one that has the focus, and tells when it loses that.
	Focused bool
	// LastKey is when a key was pressed last on one that shows the pane and does not tell of the focus; zero where there is none.
	LastKey time.Time
}

// viewerFormat and shownFormat are asked of the clients, and of the pane in each session that shows it. Without the option
// focus-events every client counts as focused for ever.
const (
	viewerFormat = "#{client_tty}\t#{session_id}\t#{client_activity}\t#{?focus-events,told,}\t#{client_flags}"
	shownFormat  = "#{pane_id}\t#{session_id}\t#{&&:#{window_active},#{||:#{pane_active},#{!:#{window_zoomed_flag}}}}"
)

// View says who looks at a pane: it has to be in the window that a terminal shows, and no other one zoomed there.
func (c *Client) View(ctx context.Context, paneID string) (View, error) {
	if err := checkID('%', paneID); err != nil {
		return View{}, err
	}
	const between = "panes"
	r, err := c.call(ctx, command{"list-clients", "-F", viewerFormat}, command{"display-message", "-p", between}, command{"list-panes", "-a", "-F", shownFormat})
	if err != nil {
		return View{}, err
	}
	clients, panes, found := strings.Cut(r.out, between+"\n")
	if !found {
		return View{}, fmt.Errorf("tmux: list-clients printed %q", r.out)
	}
	shown := map[string]bool{} // sessions in which the pane can be seen
	for line := range strings.Lines(panes) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) == 3 && f[0] == paneID && f[2] == "1" {
			shown[f[1]] = true
		}
	}
	var v View
	for line := range strings.Lines(clients) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 {
			continue
		}
		v.Terminals = append(v.Terminals, f[0])
		seconds, err := strconv.ParseInt(f[2], 10, 64)
		key := time.Unix(seconds, 0)
		switch tells := f[3] != ""; {
		case !shown[f[1]]:
		case tells:
			v.Focused = v.Focused || strings.Contains(f[4], "focused")
		case err == nil && key.After(v.LastKey):
			v.LastKey = key
		}
	}
	return v, nil
}
