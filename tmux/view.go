package tmux

import (
	"context"
	"fmt"
	"strings"
)

// Viewer is a terminal that is attached to the server.
type Viewer struct {
	TTY     string // its path
	Session string // id of the session that it shows
	Focused bool   // as far as the terminal tells: one that does not always is
}

// View is who looks at a pane.
type View struct {
	Viewers []Viewer // all terminals of the server
	// InView: the pane can be seen on one of them that has the focus.
	InView bool
}

// viewFormat is asked of the clients, and of the pane in each session that shows it.
const (
	viewerFormat = "#{client_tty}\t#{session_id}\t#{client_flags}"
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
	var v View
	for line := range strings.Lines(clients) {
		if fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(fields) == 3 {
			v.Viewers = append(v.Viewers, Viewer{TTY: fields[0], Session: fields[1], Focused: strings.Contains(fields[2], "focused")})
		}
	}
	for line := range strings.Lines(panes) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 || fields[0] != paneID || fields[2] != "1" {
			continue
		}
		for _, viewer := range v.Viewers {
			v.InView = v.InView || viewer.Focused && viewer.Session == fields[1]
		}
	}
	return v, nil
}
