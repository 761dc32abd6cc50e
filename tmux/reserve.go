package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// place names a new pane whose agent is still to be started.
type place struct {
	session, window, pane string
}

// reserveSession makes the session with its first waiting pane.
//
// If the user has set destroy-unattached, tmux ends a session without a client at once, so the call
// that makes the session must also turn the option off. But one call cannot know the id of a
// session that it makes; `-t NAME` misses a session that a hook of the user has renamed; and
// without a target tmux picks one itself: with 3.3a, the window that a hook has just opened, or a
// session of the user when the new one was gone already. So the first pane's command carries a
// mark, a tmux format finds the pane by the mark, and the options are set on that pane's session;
// without such a pane nothing is set.
func (c *Client) reserveSession(ctx context.Context, s NewSession) (place, error) {
	mark := nonce()
	isMarked := "#{m:*" + mark + "*,#{pane_start_command}}"
	find := "%#{s| .*||:#{S:#{W:#{P:#{?" + isMarked + ",#{s/%//:pane_id} ,}}}}}" // a hook may have linked the window twice
	pane := "#{?" + isMarked + ",#{pane_id},%}"                                  // `%` names no pane
	r, err := c.call(ctx, aroundManual(newSession(s, mark),
		command{"run-shell", "-C", unaliased("run-shell") + " -C -t '" + find + "' '" + doubled(script(firstOptions(s, pane))) + "'"})...)
	places, _ := parsePlaces(r.out, mark)
	if len(places) == 0 {
		return place{}, err
	}
	return places[0], err
}

// firstOptions returns the commands that set a new session's options and size; pane is a format
// that finds the session's pane.
func firstOptions(s NewSession, pane string) []command {
	// The size is set again since tmux 3.2 ignores -x and -y of a detached session.
	return append(sessionOptions(pane, s.PawSession, s.PawID), sized(pane, s.Width, s.Height)...)
}

// reserveMore makes the waiting panes of a new session after its first one: each in a window of its
// own with LayoutWindows, else in as few windows as have room for them.
func (c *Client) reserveMore(ctx context.Context, first place, s NewSession) ([]place, error) {
	if s.Layout == LayoutWindows {
		return c.reserveWindows(ctx, first.session, s.Agents[1:])
	}
	beside := shares(len(s.Agents), capacity(s.Width, s.Height))[0] - 1
	places, err := c.reserveBeside(ctx, first.pane, beside)
	if err == nil {
		var more []place
		more, err = c.reserveMany(ctx, first.session, len(s.Agents)-1-beside, s.Width, s.Height)
		places = append(places, more...)
	}
	if errors.Is(err, errNoSpace) {
		var rest []place
		rest, err = c.reserveWindows(ctx, first.session, s.Agents[1+len(places):])
		places = append(places, rest...)
	}
	return places, err
}

// reserveMany makes n waiting panes in new windows of width by height.
func (c *Client) reserveMany(ctx context.Context, session string, n, width, height int) ([]place, error) {
	var places []place
	for _, share := range shares(n, capacity(width, height)) {
		more, err := c.reserveTogether(ctx, session, share, width, height)
		places = append(places, more...)
		if err != nil {
			return places, err
		}
	}
	return places, nil
}

// reserveTogether makes n waiting panes in one new window of width by height.
func (c *Client) reserveTogether(ctx context.Context, session string, n, width, height int) ([]place, error) {
	mark := nonce()
	r, err := c.callPieces(ctx, aroundManual(window(session+":", placeFormat(mark), agentsWindow)))
	places, parseErr := parsePlaces(r.out, mark)
	if err = errors.Join(err, parseErr); err == nil && len(places) != 1 {
		err = fmt.Errorf("tmux new-window: %d panes for one agent", len(places))
	}
	if err != nil {
		return places, err
	}
	if _, err := c.callPieces(ctx, sized(places[0].pane, width, height)); err != nil {
		return places, err
	}
	beside, err := c.reserveBeside(ctx, places[0].pane, n-1)
	return append(places, beside...), err
}

// reserveBeside splits n waiting panes off after a pane; with errNoSpace it returns those that fit.
func (c *Client) reserveBeside(ctx context.Context, pane string, n int) ([]place, error) {
	mark := nonce()
	var commands []command
	for range n {
		commands = append(commands, split(pane, placeFormat(mark), lease)...)
	}
	r, err := c.callPieces(ctx, commands)
	places, parseErr := parsePlaces(r.out, mark)
	slices.Reverse(places) // each split puts its pane right after the first one
	return places, errors.Join(err, parseErr)
}

func (c *Client) reserveWindows(ctx context.Context, session string, agents []AgentPane) ([]place, error) {
	mark := nonce()
	var commands []command
	for _, a := range agents {
		commands = append(commands, window(session+":", placeFormat(mark), a.Identity.Agent))
	}
	r, err := c.callPieces(ctx, aroundManual(commands...))
	places, parseErr := parsePlaces(r.out, mark)
	if err == nil && len(places) != len(agents) {
		err = fmt.Errorf("tmux new-window: %d panes for %d agents", len(places), len(agents))
	}
	return places, errors.Join(err, parseErr)
}

// split returns the commands that make a pane after target, and tile the window so that the next
// split has space.
func split(target, format string, argv []string) []command {
	split := command{"split-window", "-d", "-P", "-F", format, "-t", target}
	return []command{append(split, argv...), {"select-layout", "-t", target, "tiled"}}
}

// window returns the command that makes a window. automatic-rename leaves a window alone that was
// made with a name.
func window(target, format, name string) command {
	return append(command{"new-window", "-d", "-P", "-F", format, "-n", name, "-t", target}, lease...)
}

// fill returns the commands that set the options of each waiting pane, and then start its agent.
func fill(places []place, agents []AgentPane) []command {
	var commands []command
	seen := map[string]bool{}
	for _, p := range places {
		if !seen[p.window] {
			commands = append(commands, windowOptions(p.pane)...)
		}
		seen[p.window] = true
	}
	for i, a := range agents {
		pane := places[i].pane
		commands = append(commands, paneOptions(pane, a)...)
		commands = append(commands, labelOptions(pane, a.label())...)
		commands = append(commands, append(command{"respawn-pane", "-k", "-t", pane}, a.Argv...))
		commands = append(commands, a.pipe(pane)...)
	}
	return commands
}

// tiled returns the commands that tile each window that has one of the places.
func tiled(places []place, width int) []command {
	var commands []command
	panes := map[string]int{}
	for _, p := range places {
		panes[p.window]++
	}
	for _, p := range places {
		if n := panes[p.window]; n > 0 {
			commands = append(commands, tile(p.pane, n, width)...)
			panes[p.window] = 0
		}
	}
	return commands
}

// placeFormat is the tmux format that parsePlaces reads.
func placeFormat(mark string) string { return mark + " #{session_id} #{window_id} #{pane_id}" }

func parsePlaces(out, mark string) ([]place, error) {
	var places []place
	for line := range strings.Lines(out) {
		_, ids, ok := strings.Cut(line, mark+" ")
		if !ok {
			continue
		}
		f := strings.Fields(ids)
		if len(f) != 3 || checkID('$', f[0]) != nil || checkID('%', f[2]) != nil {
			return places, fmt.Errorf("tmux: new pane described as %q", line)
		}
		places = append(places, place{session: f[0], window: f[1], pane: f[2]})
	}
	return places, nil
}

// newSession returns the command that makes the session with a first pane that waits for an agent's
// command; mark is part of that pane's start command.
func newSession(s NewSession, mark string) command {
	return command{
		"new-session", "-d", "-P", "-F", placeFormat(mark),
		"-s", s.Name, "-n", windowName(s), "-c", literal(s.Dir),
		"-x", strconv.Itoa(s.Width), "-y", strconv.Itoa(s.Height),
		"sh", "-c", leaseScript + mark,
	}
}

func windowName(s NewSession) string {
	if s.Layout == LayoutWindows {
		return s.Agents[0].Identity.Agent
	}
	return agentsWindow
}
