package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"paw/config/lazyregexp"
)

// place is a pane made for an agent that is still to be started there.
type place struct {
	session, window, pane string
}

// leaseScript is the command of a waiting pane, before a mark. It ends by itself and, without remain-on-exit, leaves nothing.
const leaseScript = "exec sleep " + leaseSeconds + " # paw "

// lease is the command of a waiting pane that needs no mark of its own.
var lease = []string{"sh", "-c", leaseScript}

// reserveSession makes the session with its first place.
//
// A user's destroy-unattached ends a session that nobody is attached to at once, so the same call has to turn it off. A
// chain cannot know the id of a session it has just made, `-t NAME` misses one that a hook of the user has renamed, and
// no target at all means whatever tmux finds best: measured with 3.3a, that is the window a hook has just opened, or a
// session of the user when ours was gone by then. So the session starts with a lease that carries a mark, tmux itself
// looks for that pane, once, and the options are aimed at it; when it is gone, nothing happens to any other.
func (c *Client) reserveSession(ctx context.Context, s NewSession) (place, error) {
	mark := nonce()
	isMarked := "#{m:*" + mark + "*,#{pane_start_command}}"
	find := "%#{s| .*||:#{S:#{W:#{P:#{?" + isMarked + ",#{s/%//:pane_id} ,}}}}}" // a hook may have linked it twice
	pane := "#{?" + isMarked + ",#{pane_id},%}"                                  // `%` is no pane
	r, err := c.call(ctx, aroundManual(newSession(s, mark),
		command{"run-shell", "-C", unaliased("run-shell") + " -C -t '" + find + "' '" + doubled(script(firstOptions(s, pane))) + "'"})...)
	places, _ := parsePlaces(r.out, mark)
	if len(places) == 0 {
		return place{}, err // no session was made
	}
	return places[0], err
}

// firstOptions are those of a new session; pane is a format that finds its pane.
func firstOptions(s NewSession, pane string) []command {
	// tmux 3.2 ignores -x and -y of a detached session.
	return append(sessionOptions(pane, s.PawSession, s.PawID), sized(pane, s.Width, s.Height)...)
}

// reserveMore makes the places of a new session behind its first one: in as few windows as have room for them, or each in
// one of its own.
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

// reserveMany makes n places in new windows of that size.
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

// reserveTogether makes n places in a new window of that size.
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

// reserveBeside makes n places after a pane, fewer with errNoSpace.
func (c *Client) reserveBeside(ctx context.Context, pane string, n int) ([]place, error) {
	mark := nonce()
	var commands []command
	for range n {
		commands = append(commands, split(pane, placeFormat(mark), lease)...)
	}
	r, err := c.callPieces(ctx, commands)
	places, parseErr := parsePlaces(r.out, mark)
	slices.Reverse(places) // each came right after the pane
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

// split makes a pane after target and tiles the window: without that there is soon no space for another.
func split(target, format string, argv []string) []command {
	split := command{"split-window", "-d", "-P", "-F", format, "-t", target}
	return []command{append(split, argv...), {"select-layout", "-t", target, "tiled"}}
}

// window makes a window; a name given here is kept by automatic-rename.
func window(target, format, name string) command {
	return append(command{"new-window", "-d", "-P", "-F", format, "-n", name, "-t", target}, lease...)
}

// fill sets the options of each place and starts its agent there, after them.
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

// tiled gives each window of places paw's layout.
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

// placeFormat prints a new pane.
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

// script writes commands in tmux's own language. Arguments are formats and words of paw.
func script(commands []command) string {
	return inTmux(commands, func(arg string) string { return `"` + arg + `"` })
}

// quotedScript is script for arguments of any text, none of which means anything to tmux.
func quotedScript(commands []command) string { return inTmux(commands, quoted) }

func inTmux(commands []command, quote func(string) string) string {
	var b strings.Builder
	for i, c := range commands {
		if i > 0 {
			b.WriteString(" ; ")
		}
		b.WriteString(unaliased(c[0]))
		for _, arg := range c[1:] {
			b.WriteString(" " + quote(arg))
		}
	}
	return b.String()
}

// quoted is a text in tmux's own language.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// doubled survives one expansion as a format.
func doubled(text string) string { return strings.ReplaceAll(text, "#", "##") }

var hashes = lazyregexp.New(`#+\[?`)

// literal is a path for an option that tmux expands as a format, such as -c. In front of a bracket tmux keeps any number
// of # as they are.
func literal(path string) string {
	return hashes.ReplaceAllStringFunc(path, func(run string) string {
		if strings.HasSuffix(run, "[") {
			return run
		}
		return doubled(run)
	})
}
