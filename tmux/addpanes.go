package tmux

import (
	"context"
	"errors"
	"fmt"
)

// AddPanes starts agents in a session that exists, and returns agent -> pane id. With LayoutTiled they go into the window
// that holds most of paw's panes, or into a new one when there is none, as far as there is space. What the user looks at stays as it is. ErrNotFound when there
// is no such session. On an error the panes it made are removed again.
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
	server, panes, err := c.Panes(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := server.Sessions[sessionID]; !ok {
		return nil, fmt.Errorf("tmux session %s: %w", sessionID, ErrNotFound)
	}
	beside := ""
	if layout == LayoutTiled {
		beside = lastAgentPane(panes, sessionID)
	}
	places, err := c.reserve(ctx, sessionID, beside, layout, agents)
	if err == nil {
		_, err = c.callPieces(ctx, fill(places, agents))
	}
	if err != nil {
		return nil, c.undoPanes(ctx, places, err)
	}
	return paneIDs(places, agents), nil
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

// lastAgentPane is the last pane of the window of the session that holds most agents, "" when none does.
func lastAgentPane(panes []Pane, sessionID string) string {
	agents, last := map[string]int{}, map[string]string{}
	best := ""
	for _, p := range panes {
		if p.SessionID != sessionID {
			continue
		}
		last[p.WindowID] = p.ID
		if p.Identity == nil {
			continue
		}
		agents[p.WindowID]++
		if best == "" || agents[p.WindowID] > agents[best] {
			best = p.WindowID
		}
	}
	return last[best]
}
