package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"paw/config/display"
)

// Created describes a session that Create has made.
type Created struct {
	Server    Server
	SessionID string
	Panes     map[string]string // name of an agent -> id of its pane
}

// Create makes a detached session with a pane for each agent, in three client calls: the first
// makes the session, unless s.Reserved waits, the second the other panes, the third sets options and starts the agents. An
// agent for whom a tiled window has no space gets a window of its own, which takes more calls. The
// error is ErrDuplicate when the name is taken: of callers with the same name, only one succeeds.
// After any other error the session is removed again; after ErrTimeout in the first call, a session
// may be left of which paw knows no id.
func (c *Client) Create(ctx context.Context, s NewSession) (Created, error) {
	if err := s.check(); err != nil {
		return Created{}, err
	}
	if err := checkAgents(s.Agents); err != nil {
		return Created{}, err
	}
	first, err := s.Reserved.place, error(nil)
	if first.session == "" {
		var made Reserved
		made, err = c.Reserve(ctx, s)
		first = made.place
	}
	making := context.WithoutCancel(ctx) // Cancelled in the middle, the calls would leave panes that undo does not know.
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
	} else {
		commands = append(commands, command{"rename-window", "-t", first.pane, s.Agents[0].Identity.Agent})
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
		places, err = c.reserveWindows(making, sessionID, namesOf(agents)...)
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
	commands = append(commands, paneOptions(paneID, a)...)
	_, err := c.call(ctx, append(commands, windowOptions(paneID)...)...)
	return named(err, "respawn-pane")
}

// comforts returns the commands that set a new session's options for whoever looks at the session.
// The commands set no global option, and replace none that the user has set.
func comforts(session string, s NewSession) []command {
	commands := []command{shellOption(session)}
	if refresh := s.Agents[0].refresh(); refresh != "" { // else the user's own interval stays
		commands = append(commands, command{"set-option", "-t", session, refreshOption, refresh},
			command{"if-shell", "-F", "-t", session, intervalStays, "", quotedScript([]command{{"set-option", "-t", session, "status-interval", refreshSeconds}})})
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

// killsPerCall keeps one call under tmux's message size of 16 KB.
const killsPerCall = 150

// KillPanes kills panes by id; a pane that is already gone is no error. tmux closes a window with
// its last pane, and a session with its last window; windows and panes of the user stay. Where no
// server answers, the error is ErrNoServer, also when the panes may still run; see Revive.
func (c *Client) KillPanes(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if err := checkID('%', id); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(ids, killsPerCall) {
		if err := c.killPanes(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// killPanes puts each kill-pane into an if-shell, so that a missing pane does not stop the commands
// after it, and then reads which panes are left. Windows arranged by paw that keep some panes are
// tiled again.
func (c *Client) killPanes(ctx context.Context, ids []string) error {
	mark := nonce()
	before := nonce()
	facts := before + " " + arrangedByPaw + " #{window_id} #{window_width} #{pane_id}"
	// list-panes fails on a server without sessions, and must not stop the commands after it
	// either.
	commands := []command{{"if-shell", "-F", "1", unaliased("list-panes") + ` -a -F "` + facts + `"`}}
	for _, id := range ids {
		commands = append(commands, command{"if-shell", "-F", "1", unaliased("kill-pane") + " -t " + id})
	}
	list := unaliased("list-panes") + ` -a -F "` + mark + ` #{pane_id} "`
	commands = append(commands, command{"if-shell", "-F", "1", list})
	r, err := c.call(ctx, commands...)
	if err != nil {
		return named(err, "kill-pane")
	}
	for _, id := range ids {
		if strings.Contains(r.out, mark+" "+id+" ") {
			return fmt.Errorf("tmux pane %s: still there: %s", id, display.LastLine(r.errors))
		}
	}
	_, _ = c.callPieces(ctx, closeRanks(r.out, before, ids)) // The panes are gone; a layout that could not be set is no error of the kill.
	return nil
}

// closeRanks returns the commands that tile windows arranged by paw which have lost some of their
// panes. out lists the panes from before the kill, gone are the ids of the killed ones.
func closeRanks(out, mark string, gone []string) []command {
	left, width, lost := map[string][]string{}, map[string]int{}, map[string]bool{}
	var windows []string
	for line := range strings.Lines(out) {
		_, text, ok := strings.Cut(line, mark+" ")
		f := strings.Fields(text)
		if !ok || len(f) != 4 || f[0] != "1" {
			continue
		}
		window, pane := f[1], f[3]
		if width[window] == 0 {
			windows = append(windows, window)
			width[window], _ = strconv.Atoi(f[2])
		}
		switch {
		case slices.Contains(gone, pane):
			lost[window] = true
		case !slices.Contains(left[window], pane): // list-panes -a lists a window once for each session that it is linked into
			left[window] = append(left[window], pane)
		}
	}
	var commands []command
	for _, window := range windows {
		if panes := left[window]; lost[window] && len(panes) > 0 {
			commands = append(commands, tile(panes[0], len(panes), width[window])...)
		}
	}
	return commands
}

var errNoProcess = errors.New("no such process")

// IsServer reports whether a process is named like a tmux server. Nothing more can be found out
// about a server of which only the PID is known.
func IsServer(pid int) bool {
	if pid <= 1 {
		return false
	}
	name, err := inspect(pid)
	return err == nil && isServer(name)
}

// Revive asks a tmux server (SIGUSR1) to make its socket anew after the socket file was deleted.
// Otherwise its agents would run on out of reach, and the next new-session would start a second
// server on the same path. The caller must know that pid is the server of that socket; if no tmux
// server has that PID, the error is ErrNoServer. The socket appears a moment later; Revive makes
// its directory if needed.
func Revive(pid int, socket string) error {
	err := ErrNoServer
	if IsServer(pid) {
		_ = os.MkdirAll(filepath.Dir(socket), 0o700) // A server cannot make the socket's directory itself.
		err = syscall.Kill(pid, syscall.SIGUSR1)
	}
	if errors.Is(err, syscall.ESRCH) {
		err = ErrNoServer
	}
	if err != nil {
		return fmt.Errorf("tmux server %d: %w", pid, err)
	}
	return nil
}

// isServer matches the process names that tmux sets: "tmux: server" and "tmux: client" on Linux,
// "tmux" elsewhere.
func isServer(name string) bool { return name == "tmux: server" || name == "tmux" }
