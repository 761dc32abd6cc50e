package tmux

import (
	"context"
	"errors"
	"fmt"
)

// Created describes a session that Create has made.
type Created struct {
	Server    Server
	SessionID string
	Panes     map[string]string // name of an agent -> id of its pane
}

// Create makes a detached session with a pane for each agent, in three client calls: the first
// makes the session, the second the other panes, the third sets options and starts the agents. An
// agent for whom a tiled window has no space gets a window of its own, which takes more calls. The
// error is ErrDuplicate when the name is taken: of callers with the same name, only one succeeds.
// After any other error the session is removed again; after ErrTimeout in the first call, a session
// may be left of which paw knows no id.
func (c *Client) Create(ctx context.Context, s NewSession) (Created, error) {
	if err := s.check(); err != nil {
		return Created{}, err
	}
	var first place
	// new-session starts a server, so ErrNoServer can only come from a server that is just ending.
	leaving := func(err error) bool { return serverExited(err) || errors.Is(err, ErrNoServer) }
	making := context.WithoutCancel(ctx) // Cancelled in the middle, the calls would leave panes that undo does not know.
	err := again(ctx, leaving, func() (err error) {
		if err = ctx.Err(); err == nil {
			first, err = c.reserveSession(making, s)
		}
		return err
	})
	places := []place{first}
	if err == nil && len(s.Agents) > 1 {
		var more []place
		more, err = c.reserveMore(making, first, s)
		places = append(places, more...)
	}
	var r reply
	if err == nil {
		r, err = c.callPieces(ctx, finish(places, s))
	}
	if err != nil {
		return Created{}, c.undo(ctx, first.session, err)
	}
	r.server.Sessions = map[string]string{first.session: s.PawSession}
	return Created{Server: r.server, SessionID: first.session, Panes: paneIDs(places, s.Agents)}, nil
}

// finish returns the commands of Create's third call: session options, options and program of each
// pane, layout, and selecting the first pane.
func finish(places []place, s NewSession) []command {
	first := places[0]
	commands := append(sessionOptions(first.session, s.PawSession, s.PawID), comforts(first.session, s)...)
	commands = append(commands, fill(places, s.Agents)...)
	if s.Layout == LayoutTiled {
		commands = append(commands, tiled(places, s.Width)...)
	}
	return append(commands, command{"select-window", "-t", first.pane}, command{"select-pane", "-t", first.pane})
}

// undo kills the session of a failed Create, even when ctx is cancelled.
func (c *Client) undo(ctx context.Context, session string, err error) error {
	if session == "" {
		return err
	}
	_, killErr := c.call(context.WithoutCancel(ctx), command{"kill-session", "-t", session})
	if killErr == nil || errors.Is(killErr, ErrNotFound) || errors.Is(killErr, ErrNoServer) || errors.Is(killErr, errNoTarget) {
		return err
	}
	return errors.Join(err, killErr)
}

func paneIDs(places []place, agents []AgentPane) map[string]string {
	ids := make(map[string]string, len(agents))
	for i, a := range agents {
		ids[a.Identity.Agent] = places[i].pane
	}
	return ids
}

// AddPanes starts agents in an existing session, and returns the pane id of each agent. With
// LayoutTiled, agents go into the window arranged by paw that has most room, and the rest into new
// windows. The active pane, and windows that the user has arranged, stay as they are. The error is
// ErrNotFound when there is no such session. With an error, the panes that were made are removed
// again.
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
	making := context.WithoutCancel(ctx) // Cancelled in the middle, the calls would leave panes that undoPanes does not know.
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

// reserveTiled makes n waiting panes in an existing session, and returns the commands that tile
// their windows at the end.
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

// roomiest finds the arranged window that has room for most panes, and returns the window's last
// pane, the number of panes that fit, and the window's width.
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

// Respawn starts an agent in a dead pane; the pane keeps its id and place. Of several callers at
// once one succeeds; the others get ErrStillActive, and set no option of the pane.
func (c *Client) Respawn(ctx context.Context, paneID string, a AgentPane) error {
	if err := checkID('%', paneID); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	commands := []command{
		{"set-option", "-p", "-t", paneID, "remain-on-exit", "on"}, // must be set before the program can exit
		// The running program updates the label itself, so the label is set only while the pane is
		// dead.
		{"if-shell", "-F", "-t", paneID, "#{pane_dead}", quotedScript(labelOptions(paneID, a.label()))},
		append(command{"respawn-pane", "-t", paneID}, a.Argv...),
	}
	commands = append(append(commands, a.pipe(paneID)...), paneOptions(paneID, a)...)
	_, err := c.call(ctx, append(commands, windowOptions(paneID)...)...)
	return named(err, "respawn-pane")
}

// comforts returns the commands that set a new session's options for whoever looks at the session.
// The commands set no global option, and replace none that the user has set.
func comforts(session string, s NewSession) []command {
	commands := []command{
		{"set-option", "-t", session, refreshOption, s.Agents[0].refresh()},
		shellOption(session),
	}
	if s.Counts {
		commands = append(commands, statusOptions(session)...)
	}
	if s.Bell {
		commands = append(commands, command{"set-option", "-t", session, bellOption, "1"})
	}
	if s.Mouse { // config_files is empty when the server has read no configuration.
		commands = append(commands, command{"if-shell", "-F", "#{config_files}", "",
			unaliased("set-option") + " -t '" + session + "' mouse on"})
	}
	return commands
}
