package tmux

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// place is a pane that waits for its agent.
type place struct{ session, window, pane string }

// reserved is a session with its places, in the order in which they are seen.
type reserved struct {
	session string
	places  []place
	full    bool // the window has no space for more panes
}

// lease is the command of a waiting pane. It ends by itself and, without remain-on-exit, leaves nothing.
var lease = []string{"sleep", leaseSeconds}

// reserveSession makes the session and up to maxFirst panes with one client call.
//
// A chain cannot know the id of a session it has just made, `-t NAME` misses one that a hook of the user has renamed, and
// no target at all means whatever tmux finds best: measured with 3.3a, that is the window a hook has just opened, or a
// session of the user when ours was gone by then. So tmux itself looks for the pane that carries the mark, once, and
// everything else is aimed at that pane; when it is gone, nothing happens to any other.
func (c *Client) reserveSession(ctx context.Context, s NewSession) (reserved, error) {
	mark := nonce()
	isMarked := "#{m:*" + mark + "*,#{pane_start_command}}"
	find := "%#{S:#{W:#{P:#{?" + isMarked + ",#{s/%//:pane_id},}}}}"
	target := "#{?" + isMarked + ",#{pane_id},%}" // `%` is no pane

	inner := sessionOptions(target, s.PawSession)
	inner = append(inner,
		command{"set-option", "-w", "-t", target, "remain-on-exit", "off"}, // of leases
		// tmux 3.2 ignores -x and -y of a detached session; resize-window leaves window-size at manual.
		command{"resize-window", "-t", target, "-x", strconv.Itoa(s.Width), "-y", strconv.Itoa(s.Height)},
		command{"set-option", "-w", "-u", "-t", target, "window-size"},
	)
	more := s.Agents[1:min(len(s.Agents), maxFirst)]
	if s.Layout == LayoutWindows {
		target = "#{?" + isMarked + ",#{window_id},@}" // new-window takes no pane
		inner = append(inner, windowsAfter(target, placeFormat(mark, "#"), more)...)
	} else {
		inner = append(inner, splits(target, placeFormat(mark, "#"), len(more))...)
	}

	r, err := c.call(ctx, newSession(s, mark),
		command{"run-shell", "-C", unaliased("run-shell") + " -C -t '" + find + "' '" + doubled(script(inner)) + "'"})
	made := reserved{}
	made.places, _ = parsePlaces(r.out, mark)
	if len(made.places) == 0 {
		return made, err // no session was made
	}
	made.session = made.places[0].session
	slices.Reverse(made.places[1:]) // each came right after the first
	if err != nil {
		return made, err
	}
	return made, made.judge(r.errors, len(more)+1)
}

// judge decides what it means that a call made fewer places than it should have.
func (r *reserved) judge(complaints string, want int) error {
	if len(r.places) == want {
		return nil
	}
	if errors.Is(classify(complaints), errNoSpace) {
		r.full = true
		return nil
	}
	// Nothing that a caller could decide by: the session was made, and a hook of the user may have said the rest.
	return &Error{Args: command{"new-session"}, ExitCode: 1, Stderr: complaints}
}

// reserve makes places in a session that exists: in the window of pane as far as they fit, then in windows of their own.
func (c *Client) reserve(ctx context.Context, session, pane, layout string, agents []AgentPane) ([]place, error) {
	mark := nonce()
	var places []place
	if layout == LayoutTiled && pane != "" {
		r, err := c.callPieces(ctx, splits(pane, placeFormat(mark, ""), len(agents)))
		places, _ = parsePlaces(r.out, mark)
		slices.Reverse(places)
		if err != nil && !errors.Is(err, errNoSpace) {
			return places, err
		}
	}
	if len(places) == len(agents) {
		return places, nil
	}
	var commands []command
	for _, a := range agents[len(places):] {
		commands = append(commands, window(session+":", placeFormat(mark, ""), a))
	}
	r, err := c.callPieces(ctx, commands)
	windows, parseErr := parsePlaces(r.out, mark)
	places = append(places, windows...)
	if err == nil && len(places) != len(agents) {
		err = errors.Join(fmt.Errorf("tmux new-window: %d panes for %d agents", len(places), len(agents)), parseErr)
	}
	return places, err
}

// splits makes n panes after target, with the window tiled after each: a plain split soon has no space.
func splits(target, format string, n int) []command {
	var commands []command
	for range n {
		split := command{"split-window", "-d", "-P", "-F", format, "-t", target}
		commands = append(commands, append(split, lease...), command{"select-layout", "-t", target, "tiled"})
	}
	return commands
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

// fill sets the options of each place and starts its agent.
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
		commands = append(commands, append(command{"respawn-pane", "-k", "-t", pane}, a.Argv...))
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
		places = append(places, place{f[0], f[1], f[2]})
	}
	return places, nil
}

// script writes commands in tmux's own language. It is only for arguments that paw wrote: ids, names, formats.
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

// doubled survives one expansion as a format.
func doubled(text string) string { return strings.ReplaceAll(text, "#", "##") }

var hashes = regexp.MustCompile(`#+\[?`)

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
