package tmux

import (
	"context"
	"errors"
	"fmt"
)

// AddPanes starts agents in a session that exists, and returns agent -> pane id. With LayoutTiled they go into a window
// that paw has arranged, as far as it has room for them, and the others into new ones. What the user looks at, and has
// arranged, stays as it is. ErrNotFound when there is no such session. On an error the panes it made are removed again.
func (c *Client) AddPanes(ctx context.Context, sessionID, layout string, agents []AgentPane) (map[string]string, error) {
	if err := errors.Join(checkID('$', sessionID), checkLayout(&layout)); err != nil {
		return nil, err
	}
	if len(agents) == 0 {
		return map[string]string{}, nil
	}
	if err := checkAgents(agents); err != nil {
		return nil, err
	}
	look, err := c.lookAt(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	var places []place
	var arranged []command
	making := context.WithoutCancel(ctx) // what is made has to be known to be undone
	if layout == LayoutTiled {
		places, arranged, err = c.reserveTiled(making, sessionID, look, len(agents))
	} else {
		places, err = c.reserveWindows(making, sessionID, agents)
	}
	if err == nil {
		_, err = c.callPieces(ctx, append(fill(places, agents), arranged...))
	}
	if err != nil {
		return nil, c.undoPanes(ctx, places, err)
	}
	return paneIDs(places, agents), nil
}

// reserveTiled makes n places in a session that exists, and returns the commands that tile their windows in the end.
func (c *Client) reserveTiled(ctx context.Context, sessionID string, look sessionLook, n int) (places []place, arranged []command, err error) {
	last, beside, width := look.roomiest()
	if beside = min(beside, n); beside > 0 {
		places, err = c.reserveBeside(ctx, last.id, beside)
		if err != nil && !errors.Is(err, errNoSpace) {
			return places, nil, err
		}
		arranged = tile(last.id, look.counts()[last.window]+len(places), width)
	}
	if len(places) == n {
		return places, arranged, nil
	}
	more, err := c.reserveMany(ctx, sessionID, n-len(places), look.width, look.height)
	return append(places, more...), append(arranged, tiled(more, look.width)...), err
}

// roomiest is the last pane of the arranged window that has room for most more panes, how many these are, and its width.
func (s sessionLook) roomiest() (last tiledPane, room, width int) {
	counts := s.counts()
	for i, p := range s.panes {
		if i+1 < len(s.panes) && s.panes[i+1].window == p.window {
			continue
		}
		var w, h int
		if _, err := fmt.Sscanf(s.windows[p.window], "%dx%d", &w, &h); err != nil {
			continue
		}
		if more := capacity(w, h) - counts[p.window]; more > room {
			last, room, width = p, more, w
		}
	}
	return last, room, width
}

func (c *Client) undoPanes(ctx context.Context, places []place, err error) error {
	var ids []string
	for _, p := range places {
		ids = append(ids, p.pane)
	}
	killErr := c.KillPanes(context.WithoutCancel(ctx), ids)
	if killErr == nil || errors.Is(killErr, ErrNoServer) {
		return err
	}
	return errors.Join(err, killErr)
}
