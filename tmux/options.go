package tmux

import (
	"errors"
	"fmt"
	"strings"

	"paw/config/lazyregexp"
)

// AgentPane describes the program and the options of an agent's pane.
type AgentPane struct {
	Identity Identity
	// Argv is the command that the pane runs, without a shell; it must have at least two elements.
	Argv []string
	// Label is shown in the pane's border and, for a window with one pane, in the window list. An
	// empty text means the agent's name.
	Label Label
	// Worktree is where a shell starts that the user splits off beside the pane; "" means where the
	// tmux session started.
	Worktree string
	// PawID is the value of the pane option @paw_id: the id of the session's record. "" sets none.
	PawID string
	// Refresh is a program, with its arguments, that sets the labels anew. tmux runs the program
	// every few seconds while a terminal shows the window, unless a word of Refresh has other
	// characters than letters, digits and ./_@:=,+-.
	Refresh []string
}

func (a AgentPane) check() error {
	if !isWord(a.Identity.Session) || !isWord(a.Identity.Agent) {
		return fmt.Errorf("agent %q: not a valid identity", a.Identity.option())
	}
	if a.PawID != "" && !pawID().MatchString(a.PawID) {
		return fmt.Errorf("agent %s: %q is not an id", a.Identity.Agent, a.PawID)
	}
	if len(a.Argv) < 2 {
		return fmt.Errorf("agent %s: a command of one word would go through a shell", a.Identity.Agent)
	}
	return nil
}

func checkAgents(agents []AgentPane) error {
	if len(agents) == 0 {
		return errors.New("no agents")
	}
	seen := map[string]bool{}
	for _, a := range agents {
		if err := a.check(); err != nil {
			return err
		}
		if seen[a.Identity.Agent] {
			return fmt.Errorf("agent %s: named twice", a.Identity.Agent)
		}
		seen[a.Identity.Agent] = true
	}
	return nil
}

// refreshSeconds is tmux's status-interval, after which a label that is shown is set anew.
const refreshSeconds = "5"

// intervalStays is a format that tells whether the user's own status-interval stays: it is short
// enough, or the status line runs programs, whose times the user has chosen.
const intervalStays = "#{||:#{m/r:[#][(],#{status-left}#{status-right}#{status-format[0]}#{status-format[1]}#{window-status-format}#{window-status-current-format}}," +
	"#{&&:#{status-interval},#{e|<=:#{status-interval}," + refreshSeconds + "}}}"

// refreshWord matches words that neither a tmux format nor a shell expands.
var refreshWord = lazyregexp.New(`^[A-Za-z0-9./_@:=,+-]+$`)

// refresh returns the part of the border format that runs AgentPane.Refresh and shows nothing. The
// program runs in the background: tmux would show "not ready" while it waits for one.
func (a AgentPane) refresh() string {
	for _, w := range a.Refresh {
		if !refreshWord().MatchString(w) {
			return ""
		}
	}
	if len(a.Refresh) == 0 {
		return ""
	}
	return "#(" + strings.Join(a.Refresh, " ") + " >/dev/null 2>&1 &)"
}

// exitFormat is the last line of a dead pane (tmux 3.3 and later). tmux scrolls the pane by one
// line to draw it, so a program that prints one short message should print an empty line first.
func exitFormat(pawSession string) string {
	return ended + `, go on with: paw recover ` + pawSession
}

// paneOptions returns the commands that mark a pane as an agent's.
func paneOptions(pane string, a AgentPane) []command {
	commands := []command{
		{"set-option", "-p", "-t", pane, "remain-on-exit", "on"},
		{"set-option", "-p", "-q", "-t", pane, "remain-on-exit-format", exitFormat(a.Identity.Session)}, // -q: tmux before 3.3 has no such option
		{"set-option", "-p", "-t", pane, "synchronize-panes", "off"},                                    // the window of a user may have it on
		{"set-option", "-p", "-t", pane, "@paw_agent", a.Identity.option()},
		{"set-option", "-p", "-t", pane, launchOption, a.Identity.launch()},
	}
	if a.Worktree != "" {
		commands = append(commands, command{"set-option", "-p", "-t", pane, worktreeOption, a.Worktree})
	}
	if a.PawID != "" { // The user may move the pane into another session.
		commands = append(commands, command{"set-option", "-p", "-t", pane, "@paw_id", a.PawID})
	}
	return commands
}

func (a AgentPane) label() Label {
	if a.Label.Text == "" {
		a.Label.Text = a.Identity.Agent
	}
	return a.Label
}

// windowOptions returns the commands that set paw's borders and window names on the window of a
// pane.
func windowOptions(pane string) []command {
	return []command{
		{"set-option", "-w", "-t", pane, "pane-border-status", "top"},
		{"set-option", "-w", "-t", pane, "pane-border-format", borderFormat},
		{"set-option", "-w", "-t", pane, "window-status-format", windowFormat()},
		{"set-option", "-w", "-t", pane, "window-status-current-format", windowFormat()},
	}
}

// refreshOption is a session option with the result of AgentPane.refresh, which the border formats
// expand.
const refreshOption = "@paw_refresh"

func sessionOptions(session, pawSession, pawID string) []command {
	commands := []command{
		{"set-option", "-t", session, "destroy-unattached", "off"},
		{"set-option", "-t", session, "@paw_session", pawSession},
	}
	if pawID != "" {
		commands = append(commands, command{"set-option", "-t", session, "@paw_id", pawID})
	}
	return commands
}

// aroundManual lets commands make windows where the user has set the global window-size to manual:
// there tmux 3.3a crashes on each new window, and all its sessions are lost. The option is changed
// only while the commands run. The conditions name a pane that does not exist, so that tmux reads
// the global option and not a window's.
func aroundManual(commands ...command) []command {
	if len(commands) == 0 {
		return nil
	}
	const nowhere, was = "%999999999", "@paw_window_size"
	set := func(arguments string) string { return unaliased("set-option") + " -g " + arguments }
	before := command{"if-shell", "-F", "-t", nowhere, "#{==:#{window-size},manual}",
		set("-w window-size latest") + " ; " + set(was+" manual")}
	after := command{"if-shell", "-F", "-t", nowhere, "#{==:#{" + was + "},manual}",
		set("-w window-size manual") + " ; " + set("-u "+was)}
	return append(append([]command{before}, commands...), after)
}

const defaultWidth, defaultHeight = 220, 60

// NewSession describes a tmux session for Create.
type NewSession struct {
	Name       string // name of the tmux session: letters, digits, _ and -
	PawSession string // value of the session option @paw_session
	PawID      string // value of the session option @paw_id, "" for none
	Dir        string // absolute path; windows that the user opens start here
	// Width and Height are the size of the terminal that will attach, in columns and lines; 0 means
	// 220x60.
	Width, Height int
	Layout        string // "" means LayoutTiled
	// Counts adds the number of agents in each state to the status line. Bell rings when an agent
	// begins to wait for the user. Mouse turns the mouse on, unless the server has read a
	// configuration file.
	Counts, Bell, Mouse bool
	Agents              []AgentPane // at least one for Create, none for Reserve
	Reserved            Reserved    // by Reserve, which still waits; zero for none
}

// Layouts of NewSession.
const (
	LayoutTiled   = "tiled"   // all agents in one window, as long as each pane is usable
	LayoutWindows = "windows" // each agent in a window of its own
)

var pawID = lazyregexp.New(`^[A-Za-z0-9-]+$`)

var sessionName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`)

func (s *NewSession) check() error {
	if !sessionName().MatchString(s.Name) {
		return fmt.Errorf("tmux session %q: not a valid name", s.Name)
	}
	if !isWord(s.PawSession) {
		return fmt.Errorf("session %q: not a valid name", s.PawSession)
	}
	if s.PawID != "" && !pawID().MatchString(s.PawID) {
		return fmt.Errorf("session %s: %q is not an id", s.PawSession, s.PawID)
	}
	if s.Width <= 0 || s.Height <= 0 {
		s.Width, s.Height = defaultWidth, defaultHeight
	}
	return checkLayout(&s.Layout)
}

func checkLayout(layout *string) error {
	switch *layout {
	case "":
		*layout = LayoutTiled
	case LayoutTiled, LayoutWindows:
	default:
		return fmt.Errorf("layout %q: neither %s nor %s", *layout, LayoutTiled, LayoutWindows)
	}
	return nil
}
