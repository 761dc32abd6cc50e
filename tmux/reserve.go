package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// place names a new pane whose agent is still to be started.
type place struct {
	session, window, pane string
}

// Reserved is a detached session in which one pane waits for its agent, no longer than leaseSeconds.
type Reserved struct {
	place
	mark   string // in the pane's command
	server Server
	since  time.Time
}

// Waits reports whether the pane still waits: its time is not nearly over, and no other server counts its ids anew.
func (r Reserved) Waits() bool {
	return r.pane != "" && time.Since(r.since) < maxReserved && IsServer(r.server.PID)
}

// maxReserved leaves enough of leaseSeconds for Create.
const maxReserved = 30 * time.Second

// Reserve makes the session of Create without agents. The error is ErrDuplicate when the name is taken; after
// ErrTimeout, a session may be left of which paw knows no id.
func (c *Client) Reserve(ctx context.Context, s NewSession) (r Reserved, err error) {
	if err := s.check(); err != nil {
		return Reserved{}, err
	}
	// new-session starts a server, so ErrNoServer can only come from a server that is just ending.
	leaving := func(err error) bool { return serverExited(err) || errors.Is(err, ErrNoServer) }
	err = again(ctx, leaving, func() (err error) {
		if err = ctx.Err(); err == nil {
			r, err = c.reserveSession(context.WithoutCancel(ctx), s) // Cancelled in the middle, it would leave a pane that nobody knows.
		}
		return err
	})
	return r, err
}

// Withdraw closes the waiting pane of a reserved session that got no agent, and with it the session, unless other
// panes are in it. That there is no such pane is no error.
func (c *Client) Withdraw(ctx context.Context, r Reserved) error {
	if r.pane == "" {
		return nil
	}
	_, err := c.call(ctx, command{"if-shell", "-F", "-t", r.pane, "#{m:*" + r.mark + "*,#{pane_start_command}}", unaliased("kill-pane") + " -t " + r.pane})
	if errors.Is(err, ErrNoServer) || errors.Is(err, errNoTarget) || errors.Is(err, ErrNotFound) || serverExited(err) {
		return nil
	}
	return named(err, "kill-pane")
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
func (c *Client) reserveSession(ctx context.Context, s NewSession) (Reserved, error) {
	mark, since := nonce(), time.Now()
	create := command{
		"new-session", "-d", "-P", "-F", placeFormat(mark), "-s", s.Name, "-n", agentsWindow, "-c", literal(s.Dir),
		"-x", strconv.Itoa(s.Width), "-y", strconv.Itoa(s.Height), "sh", "-c", leaseScript + mark,
	}
	isMarked := "#{m:*" + mark + "*,#{pane_start_command}}"
	find := "%#{s| .*||:#{S:#{W:#{P:#{?" + isMarked + ",#{s/%//:pane_id} ,}}}}}" // a hook may have linked the window twice
	pane := "#{?" + isMarked + ",#{pane_id},%}"                                  // `%` names no pane
	// The size is set again since tmux 3.2 ignores -x and -y of a detached session.
	options := append(sessionOptions(pane, s.PawSession, s.PawID), sized(pane, s.Width, s.Height)...)
	r, err := c.call(ctx, aroundManual(create,
		command{"run-shell", "-C", unaliased("run-shell") + " -C -t '" + find + "' '" + doubled(script(options)) + "'"})...)
	places, _ := parsePlaces(r.out, mark)
	if len(places) == 0 {
		return Reserved{}, err
	}
	return Reserved{places[0], mark, r.server, since}, err
}

// reserveMore makes the waiting panes of a new session after its first one: each in a window of its
// own with LayoutWindows, else in as few windows as have room for them.
func (c *Client) reserveMore(ctx context.Context, first place, s NewSession) ([]place, error) {
	if s.Layout == LayoutWindows {
		return c.reserveWindows(ctx, first.session, namesOf(s.Agents[1:])...)
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
		rest, err = c.reserveWindows(ctx, first.session, namesOf(s.Agents[1+len(places):])...)
		places = append(places, rest...)
	}
	return places, err
}

// reserveMany makes n waiting panes in new windows of width by height.
func (c *Client) reserveMany(ctx context.Context, session string, n, width, height int) ([]place, error) {
	var places []place
	for _, share := range shares(n, capacity(width, height)) {
		made, err := c.reserveWindows(ctx, session, agentsWindow)
		if err == nil {
			_, err = c.callPieces(ctx, sized(made[0].pane, width, height))
		}
		if err == nil {
			var beside []place
			beside, err = c.reserveBeside(ctx, made[0].pane, share-1)
			made = append(made, beside...)
		}
		if places = append(places, made...); err != nil {
			return places, err
		}
	}
	return places, nil
}

// reserveBeside splits n waiting panes off after a pane; with errNoSpace it returns those that fit.
func (c *Client) reserveBeside(ctx context.Context, pane string, n int) ([]place, error) {
	places, err := c.reserve(ctx, func(format string) (commands []command) {
		for range n {
			split := append(command{"split-window", "-d", "-P", "-F", format, "-t", pane}, lease...)
			commands = append(commands, split, command{"select-layout", "-t", pane, "tiled"}) // tiling leaves space for the next split
		}
		return commands
	})
	slices.Reverse(places) // each split puts its pane right after the first one
	return places, err
}

// reserveWindows makes windows of these names, with a waiting pane in each. automatic-rename leaves
// a window alone that was made with a name.
func (c *Client) reserveWindows(ctx context.Context, session string, names ...string) ([]place, error) {
	places, err := c.reserve(ctx, func(format string) (commands []command) {
		for _, name := range names {
			commands = append(commands, append(command{"new-window", "-d", "-P", "-F", format, "-n", name, "-t", session + ":"}, lease...))
		}
		return aroundManual(commands...)
	})
	if err == nil && len(places) != len(names) {
		err = fmt.Errorf("tmux new-window: %d panes for %d agents", len(places), len(names))
	}
	return places, err
}

// reserve runs commands that print each new pane in a format, and returns the panes.
func (c *Client) reserve(ctx context.Context, commands func(format string) []command) ([]place, error) {
	mark := nonce()
	r, err := c.callPieces(ctx, commands(placeFormat(mark)))
	places, parseErr := parsePlaces(r.out, mark)
	return places, errors.Join(err, parseErr)
}

// namesOf returns the names of agents.
func namesOf(agents []AgentPane) []string {
	var names []string
	for _, a := range agents {
		names = append(names, a.Identity.Agent)
	}
	return names
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
