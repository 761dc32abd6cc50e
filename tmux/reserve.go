package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"paw/lazyregexp"
)

// place is a pane made for an agent, which either runs in it or is still to be started.
type place struct {
	session, window, pane string
	started               bool
}

// reserved is a session with its places, in the order in which they are seen.
type reserved struct {
	session string
	places  []place
	full    bool // the window has no space for more panes
}

const (
	// scriptLimit leaves room, below tmux's limit for a message, for the command that makes the session.
	scriptLimit = 12 << 10
	// maxLeases keeps a script of windows below it.
	maxLeases = 24
)

// lease is the command of a waiting pane. It ends by itself and, without remain-on-exit, leaves nothing.
var lease = []string{"sleep", leaseSeconds}

// reserveSession makes the session and its first panes with one client call. In a tiled session their agents run.
//
// A chain cannot know the id of a session it has just made, `-t NAME` misses one that a hook of the user has renamed, and
// no target at all means whatever tmux finds best: measured with 3.3a, that is the window a hook has just opened, or a
// session of the user when ours was gone by then. So the session starts with a lease that carries a mark, tmux itself
// looks for that pane, once, and everything else is aimed at it; when it is gone, nothing happens to any other.
func (c *Client) reserveSession(ctx context.Context, s NewSession) (reserved, error) {
	mark := nonce()
	isMarked := "#{m:*" + mark + "*,#{pane_start_command}}"
	find := "%#{s| .*||:#{S:#{W:#{P:#{?" + isMarked + ",#{s/%//:pane_id} ,}}}}}" // a hook may have linked it twice
	pane := "#{?" + isMarked + ",#{pane_id},%}"                                  // `%` is no pane
	window := "#{?" + isMarked + ",#{window_id},@}"                              // new-window takes no pane

	inner := firstOptions(s, pane)
	if s.Layout == LayoutWindows {
		n := min(len(s.Agents), maxLeases)
		inner = append(inner, windowsAfter(window, placeFormat(mark, "#"), s.Agents[1:n])...)
	} else {
		inner = firstAgents(inner, s.Agents, pane, placeFormat(mark, "#"))
	}
	done := mark + "done"
	inner = append(inner, command{"display-message", "-p", done})
	r, err := c.call(ctx, aroundManual(newSession(s, mark),
		command{"run-shell", "-C", unaliased("run-shell") + " -C -t '" + find + "' '" + doubled(script(inner)) + "'"})...)
	places, _ := parsePlaces(r.out, mark)
	if len(places) == 0 {
		return reserved{}, err // no session was made
	}
	made := reserved{session: places[0].session}
	complete := strings.Contains(r.out, done)
	if s.Layout == LayoutWindows {
		slices.Reverse(places[1:]) // each came right after the first
		made.places = places
	} else {
		made.places = append(places[1:], places[0]) // each came right before the first
		for i := range made.places {
			made.places[i].started = i < len(places)-1 || complete
		}
	}
	if err != nil || complete {
		return made, err
	}
	return made, made.judge(r.errors)
}

// firstOptions are those of a new session; pane is a format that finds its pane.
func firstOptions(s NewSession, pane string) []command {
	return append(sessionOptions(pane, s.PawSession, s.PawID),
		// tmux 3.2 ignores -x and -y of a detached session; resize-window leaves window-size at manual.
		command{"resize-window", "-t", pane, "-x", strconv.Itoa(s.Width), "-y", strconv.Itoa(s.Height)},
		command{"set-option", "-w", "-u", "-t", pane, "window-size"})
}

// firstAgents starts agents before the first pane, and the last one in it: so they stand in order, and those that found
// a place are the first. It takes as many as fit into one message.
func firstAgents(commands []command, agents []AgentPane, pane, format string) []command {
	commands = append(commands, keepPanes(pane)...)
	size := len(doubled(script(commands)))
	last := func(a AgentPane) command {
		return append(command{"respawn-pane", "-k", "-t", pane}, octal(a.Argv)...)
	}
	n := 0
	for n < len(agents)-1 {
		more := split(pane, format, octal(agents[n].Argv))
		more[0] = slices.Insert(more[0], 1, "-b")
		size += len(doubled(script(more)))
		if size+len(doubled(script([]command{last(agents[n+1])}))) > scriptLimit {
			break
		}
		commands = append(commands, more...)
		n++
	}
	return append(commands, last(agents[n]))
}

// judge decides what it means that a session was made, and not all of what it should have got.
func (r *reserved) judge(complaints string) error {
	if errors.Is(classify(complaints), errNoSpace) {
		r.full = true
		return nil
	}
	// Nothing that a caller could decide by: a hook of the user may have said any of it.
	return &Error{Args: command{"new-session"}, ExitCode: 1, Stderr: complaints}
}

// reserve makes places in a session that exists. With LayoutTiled they are in the window of pane, or in a new one when
// that is empty, as far as they fit; the others get windows of their own.
func (c *Client) reserve(ctx context.Context, session, pane, layout string, agents []AgentPane) ([]place, error) {
	var places []place
	if layout == LayoutTiled {
		if pane == "" {
			var err error
			if places, err = c.reserveWindows(ctx, session, agents[:1]); err != nil {
				return places, err
			}
			pane = places[0].pane
		}
		beside, err := c.reserveBeside(ctx, pane, len(agents)-len(places))
		places = append(places, beside...)
		if err != nil && !errors.Is(err, errNoSpace) {
			return places, err
		}
	}
	rest, err := c.reserveWindows(ctx, session, agents[len(places):])
	return append(places, rest...), err
}

// reserveBeside makes n places after a pane, fewer with errNoSpace.
func (c *Client) reserveBeside(ctx context.Context, pane string, n int) ([]place, error) {
	mark := nonce()
	var commands []command
	for range n {
		commands = append(commands, split(pane, placeFormat(mark, ""), lease)...)
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
		commands = append(commands, window(session+":", placeFormat(mark, ""), a))
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

// windowsAfter makes a window for each agent after the window of target, so that the last comes first.
func windowsAfter(target, format string, agents []AgentPane) []command {
	var commands []command
	for _, a := range slices.Backward(agents) {
		w := window(target, format, a)
		commands = append(commands, slices.Insert(w, 1, "-a"))
	}
	return commands
}

// window makes a window; a name given here is kept by automatic-rename.
func window(target, format string, a AgentPane) command {
	return append(command{"new-window", "-d", "-P", "-F", format, "-n", a.Identity.Agent, "-t", target}, lease...)
}

// fill sets the options of each place and starts its agent there, after them.
func fill(places []place, agents []AgentPane) []command {
	var commands []command
	seen := map[string]bool{}
	for i, p := range places {
		if !seen[p.window] {
			commands = append(commands, windowOptions(p.pane, agents[i])...)
		}
		seen[p.window] = true
	}
	for i, a := range agents {
		pane := places[i].pane
		commands = append(commands, paneOptions(pane, a)...)
		if !places[i].started {
			commands = append(commands, append(command{"respawn-pane", "-k", "-t", pane}, a.Argv...))
		}
	}
	return commands
}

// placeFormat prints a new pane; level holds one # for each time the text is expanded before the command runs.
func placeFormat(mark, level string) string {
	return mark + " " + level + "#{session_id} " + level + "#{window_id} " + level + "#{pane_id}"
}

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

// script writes commands in tmux's own language. Arguments are formats and words of paw, or went through octal.
func script(commands []command) string {
	var b strings.Builder
	for i, c := range commands {
		if i > 0 {
			b.WriteString(" ; ")
		}
		b.WriteString(unaliased(c[0]))
		for _, arg := range c[1:] {
			b.WriteString(` "` + arg + `"`)
		}
	}
	return b.String()
}

// octal writes arguments so that tmux's language, whatever it is quoted in, takes them byte for byte.
func octal(argv []string) []string {
	escaped := make([]string, len(argv))
	for i, arg := range argv {
		var b strings.Builder
		for _, char := range []byte(arg) {
			if strings.IndexByte(plain, char) >= 0 {
				b.WriteByte(char)
			} else {
				fmt.Fprintf(&b, `\%03o`, char)
			}
		}
		escaped[i] = b.String()
	}
	return escaped
}

const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/.-"

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
