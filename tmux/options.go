package tmux

import (
	"fmt"
	"strings"

	"paw/config/lazyregexp"
)

// AgentPane is what a pane is to run and to show.
type AgentPane struct {
	Identity Identity
	// Argv is run without a shell, which takes at least two elements.
	Argv []string
	// Label is shown in the pane's border and, where a window has no other pane, in the window list; its text is the
	// agent's name when empty.
	Label Label
	// Worktree is where a shell starts that the user splits off beside the pane; "" for where the session does.
	Worktree string
	// PawID is @paw_id of the pane, "" for none: the id of the record that its session has.
	PawID string
	// Refresh is a program with its arguments that sets the labels anew. tmux runs it every few seconds for as long as a
	// terminal shows the window. Without it, or when a word of it has more than letters, digits and ./_@:=,+-, none runs.
	Refresh []string
	// Log is a file to which everything is added that the program writes, until it is maxLog long; "" for none. One whose
	// path has other characters than Refresh may have is not written.
	Log string
}

// maxLog bounds a log, in bytes.
const maxLog = 64 << 20

func (a AgentPane) check() error {
	if !isWord(a.Identity.Session) || !isWord(a.Identity.Agent) {
		return fmt.Errorf("agent %q: not a valid identity", a.Identity.option())
	}
	if a.PawID != "" && !pawID.MatchString(a.PawID) {
		return fmt.Errorf("agent %s: %q is not an id", a.Identity.Agent, a.PawID)
	}
	if len(a.Argv) < 2 {
		return fmt.Errorf("agent %s: a command of one word would go through a shell", a.Identity.Agent)
	}
	return nil
}

func checkAgents(agents []AgentPane) error {
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

// refreshSeconds is how old a label may be while somebody looks at it.
const refreshSeconds = "5"

// refreshWord is what a format and a shell leave as it is.
var refreshWord = lazyregexp.New(`^[A-Za-z0-9./_@:=,+-]+$`)

// refresh is the part of a border that shows nothing and runs the program. It does not wait for it: tmux would say that
// it is not ready.
func (a AgentPane) refresh() string {
	for _, w := range a.Refresh {
		if !refreshWord.MatchString(w) {
			return ""
		}
	}
	if len(a.Refresh) == 0 {
		return ""
	}
	return "#(" + strings.Join(a.Refresh, " ") + " >/dev/null 2>&1 &)"
}

// exitFormat is the last line of a pane whose program has ended (tmux 3.3 and later). To draw it, tmux scrolls the pane
// by one line: a program that ends with a message on an otherwise empty pane does well to start with an empty line.
func exitFormat(pawSession string) string {
	return ended + `, go on with: paw recover ` + pawSession
}

// paneOptions mark a pane as an agent's.
func paneOptions(pane string, a AgentPane) []command {
	commands := []command{
		{"set-option", "-p", "-t", pane, "remain-on-exit", "on"},
		{"set-option", "-p", "-q", "-t", pane, "remain-on-exit-format", exitFormat(a.Identity.Session)}, // -q: unknown before 3.3
		{"set-option", "-p", "-t", pane, "synchronize-panes", "off"},                                    // a window of the user's may have it on
		{"set-option", "-p", "-t", pane, "@paw_agent", a.Identity.option()},
		{"set-option", "-p", "-t", pane, launchOption, a.Identity.launch()},
	}
	if a.Worktree != "" {
		commands = append(commands, command{"set-option", "-p", "-t", pane, worktreeOption, a.Worktree})
	}
	if a.PawID != "" { // a user may move the pane into another session
		commands = append(commands, command{"set-option", "-p", "-t", pane, "@paw_id", a.PawID})
	}
	return commands
}

// pipe keeps what a pane shows. A shell counts the size of a file in blocks of 512 bytes. It is for a pane whose program has
// been started, in the same call of tmux: a program that takes the place of another ends the pipe, and nothing is read before.
func (a AgentPane) pipe(pane string) []command {
	if !refreshWord.MatchString(a.Log) {
		return nil
	}
	return []command{{"pipe-pane", "-t", pane, fmt.Sprintf("ulimit -f %d; exec cat >>%s", maxLog/512, a.Log)}}
}

func (a AgentPane) label() Label {
	if a.Label.Text == "" {
		a.Label.Text = a.Identity.Agent
	}
	return a.Label
}

// windowOptions apply to the window that pane is in.
func windowOptions(pane string) []command {
	return []command{
		{"set-option", "-w", "-t", pane, "pane-border-status", "top"},
		{"set-option", "-w", "-t", pane, "pane-border-format", borderFormat},
		{"set-option", "-w", "-t", pane, "window-status-format", windowFormat()},
		{"set-option", "-w", "-t", pane, "window-status-current-format", windowFormat()},
	}
}

// refreshOption is the program of a session that sets its labels anew, as a part of the border of its panes.
const refreshOption = "@paw_refresh"

func sessionOptions(session, pawSession, pawID string) []command {
	commands := []command{
		{"set-option", "-t", session, "destroy-unattached", "off"},
		{"set-option", "-t", session, "@paw_session", pawSession},
		{"set-option", "-t", session, "status-interval", refreshSeconds},
	}
	if pawID != "" {
		commands = append(commands, command{"set-option", "-t", session, "@paw_id", pawID})
	}
	return commands
}

// comforts are the options of a new session that are for whoever looks at it. None is global, and none replaces one that
// the user has set.
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
	if s.Mouse { // but not where the server has read a configuration from elsewhere
		commands = append(commands, command{"if-shell", "-F", "#{config_files}", "",
			unaliased("set-option") + " -t '" + session + "' mouse on"})
	}
	return commands
}

// aroundManual lets commands make windows where the user's configuration has the global window-size at manual: tmux 3.3a
// dies there of each new window, and takes all sessions of the server along. Only for as long as the commands take is the
// option another one. A pane that is nowhere is the target, so that tmux looks at the global option and not at that of a
// window.
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
