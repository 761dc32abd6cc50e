package tmux

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Pane describes a pane as tmux lists it. Dead says that the pane's process has ended, and
// remain-on-exit has kept the pane.
type Pane struct {
	ID, SessionID string
	// SessionName, WindowIndex and WindowName tell a user which pane is meant; filled in for panes
	// without the option @paw_launch.
	SessionName, WindowIndex, WindowName string
	// PawSession is the @paw_session of the tmux session that holds the pane now, "" for a session
	// of the user.
	PawSession string
	// PawID is the @paw_id of the pane or, without one, of the tmux session that holds the pane
	// now.
	PawID string
	// Identity is nil for a pane of the user.
	Identity *Identity
	// Placeholder says that the pane still waits for an agent's command. Outside of Create and
	// AddPanes it means that paw was killed in the middle of one.
	Placeholder bool
	Dead        bool
	// ExitCode and Signal say how the process ended. Both are nil while the process runs, and where
	// tmux does not tell: before 3.3 tmux never tells a signal.
	ExitCode, Signal *int
	PID              int
	// Terminals lists the device paths of the attached terminals that show the pane's window.
	Terminals []string
	// Label is the label set on the pane; empty without Client.WithLabels.
	Label Label
}

// separator ends each field of a pane. tmux escapes it within values (q:).
const separator = "|"

// paneFormat and the formats after it have paneFields fields together. Each field costs the server
// 1.5 µs per pane, and pane_start_command, which tmux has to quote, 7 µs. So exit status and signal
// are asked of dead panes only, labels on demand, and the fields that identify an agent otherwise
// only where launchOption is not set.
const (
	paneFormat = "#{pane_id}|#{session_id}|#{?pane_dead,1|#{pane_dead_status}|#{pane_dead_signal},0||}|#{pane_pid}|" +
		"#{q:@paw_session}|#{q:@paw_id}|#{q:window_active_clients_list}|"
	labelFormat = "#{q:@paw_label}|#{q:@paw_state}|"
	noLabel     = "||"
	whoseFormat = "#{?" + launchOption + ",#{q:" + launchOption + "}|||||," +
		"|#{q:@paw_agent}|#{q:pane_start_command}|#{q:session_name}|#{window_index}|#{q:window_name}}|"
	paneFields = 17
)

// Panes lists every pane of the server, with one tmux process. The error is ErrNoServer when no
// server listens on the socket; a server without sessions is no error. A pane that is linked into
// several sessions is listed once, preferably with a session of paw.
func (c *Client) Panes(ctx context.Context) (Server, []Pane, error) {
	server, panes, version, err := c.panesOnce(ctx)
	if err == nil && version.AtLeast(3, 3) && slices.ContainsFunc(panes, unreaped) && remind(server.PID) {
		server, panes, _, err = c.panesOnce(ctx)
	}
	return server, panes, err
}

// SessionNames lists the names of all tmux sessions. The error is ErrNoServer when no server
// listens on the socket; a connection finds that out without a tmux client.
func (c *Client) SessionNames(ctx context.Context) ([]string, error) {
	if path, err := c.SocketPath(); err == nil {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
		switch {
		case err == nil:
			_ = conn.Close()
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
			return nil, ErrNoServer
		}
	}
	var names []string
	err := again(ctx, serverExited, func() error {
		r, err := c.call(ctx, command{"list-sessions", "-F", "#{session_name}"})
		names = slices.Collect(strings.SplitSeq(strings.TrimSuffix(r.out, "\n"), "\n"))
		return named(err, "list-sessions")
	})
	return names, err
}

// unreaped reports whether tmux knows that an agent's process has ended, and not how.
func unreaped(p Pane) bool {
	return p.Identity != nil && p.Dead && p.ExitCode == nil && p.Signal == nil
}

// remind makes the server reap children that have ended. A tmux with libutempter, such as Debian's,
// misses the SIGCHLD of a program that ends while utempter_remove_record has set that signal to its
// default: the program stays a zombie, and its pane without an exit status, until the next child
// ends. Measured with 3.3a: up to one in seven programs that end at once.
func remind(serverPID int) bool {
	return serverPID > 1 && syscall.Kill(serverPID, syscall.SIGCHLD) == nil
}

func (c *Client) panesOnce(ctx context.Context) (Server, []Pane, Version, error) {
	var server Server
	var panes []Pane
	var version Version
	err := again(ctx, serverExited, func() error {
		var err error
		server, panes, version, err = c.listPanes(ctx)
		return err
	})
	return server, panes, version, err
}

func (c *Client) listPanes(ctx context.Context) (Server, []Pane, Version, error) {
	record := nonce()
	format := record + separator + paneFormat + noLabel + whoseFormat
	if c.WithLabels {
		format = record + separator + paneFormat + labelFormat + whoseFormat
	}
	head := record + "head "
	r, err := c.call(ctx,
		command{"display-message", "-p", head + "#{version}\n" + head + serverFormat},
		command{"list-panes", "-a", "-F", format})
	parts := strings.SplitN(r.out, head, 3)
	if len(parts) != 3 || err != nil && !errors.Is(err, errNoTarget) {
		return Server{}, nil, Version{}, named(err, "list-panes")
	}
	if err != nil { // tmux reports an empty list as an error
		r.out = ""
		if r.server, err = parseServer(parts[2]); err != nil {
			return Server{}, nil, Version{}, err
		}
	}
	panes, sessions := parsePanes(r.out, record+separator)
	r.server.Sessions = sessions
	version, _ := parseVersion(parts[1]) // the zero version, for one that is not understood, counts as the oldest
	return r.server, panes, version, nil
}

// named replaces the name of the command in a tmux error with the one that the call was made for.
func named(err error, name string) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Args = append(command{name}, e.Args[1:]...)
	}
	return err
}

// parsePanes reads the output of list-panes. Each pane's text starts with prefix, and may hold line
// breaks; hooks of the user may print between panes.
func parsePanes(out, prefix string) ([]Pane, map[string]string) {
	sessions := map[string]string{}
	texts := strings.Split(out, prefix)[1:] // drops what was printed before the first pane
	panes, at := make([]Pane, 0, len(texts)), make(map[string]int, len(texts))
	for _, text := range texts {
		p, ok := parsePane(text)
		if !ok {
			continue
		}
		sessions[p.SessionID] = p.PawSession
		seen, again := at[p.ID]
		switch {
		case !again:
			at[p.ID] = len(panes)
			panes = append(panes, p)
		case panes[seen].PawSession == "" && p.PawSession != "":
			panes[seen] = p
		}
	}
	return panes, sessions
}

func parsePane(text string) (Pane, bool) {
	f := fields(text)
	if len(f) < paneFields || !strings.HasPrefix(f[0], "%") {
		return Pane{}, false
	}
	p := Pane{
		ID: f[0], SessionID: f[1], Dead: f[2] == "1", PawSession: f[6], PawID: f[7],
		Label:       Label{Text: strings.ReplaceAll(f[9], "##", "#"), State: f[10]},
		Identity:    identityOf(f[11], f[12], f[13]),
		Placeholder: strings.Contains(f[13], leaseScript),
		SessionName: f[14], WindowIndex: f[15], WindowName: f[16],
	}
	if f[8] != "" {
		p.Terminals = strings.Split(f[8], ",")
	}
	p.PID, _ = strconv.Atoi(f[5]) // 0 for a pane that never had a process
	if p.Dead {
		p.ExitCode, p.Signal = exitCode(f[3]), signal(f[4])
	}
	return p, true
}

// fields splits at separators that are not escaped, and unescapes the fields. Text after the last
// separator is no field.
func fields(text string) []string {
	all := make([]string, 0, paneFields)
	begin, escaped := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\' && i+1 < len(text):
			i++
			escaped = true
		case b == separator[0]:
			field := text[begin:i]
			if escaped {
				field = unescaped(field)
			}
			all = append(all, field)
			if len(all) == paneFields {
				return all
			}
			begin, escaped = i+1, false
		}
	}
	return all
}

// unescaped removes the backslashes that tmux's q: has put into a field.
func unescaped(field string) string {
	var text strings.Builder
	for i := 0; i < len(field); i++ {
		if field[i] == '\\' && i+1 < len(field) {
			i++
		}
		text.WriteByte(field[i])
	}
	return text.String()
}

func exitCode(text string) *int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil
	}
	return &n
}

// signal parses a signal: a number, as tmux prints it on Linux, or a name such as KILL, as on the
// BSDs.
func signal(text string) *int {
	if n := exitCode(text); n != nil {
		return n
	}
	name := strings.TrimPrefix(strings.ToUpper(text), "SIG")
	if n := int(unix.SignalNum("SIG" + name)); n != 0 {
		return &n
	}
	return nil
}

// Identity names the agent that a pane belongs to.
type Identity struct {
	Session, Agent string
	// Generation counts paw's launches of the agent; 0 when only the pane option @paw_agent is
	// known.
	Generation int
}

// option returns the value of the pane option @paw_agent.
func (id Identity) option() string { return id.Session + "/" + id.Agent }

// launchOption is a pane option with the whole identity; the pane's program has the same value in
// PAW_LAUNCH.
const launchOption = "@paw_launch"

func (id Identity) launch() string { return id.option() + "/" + strconv.Itoa(id.Generation) }

// isWord reports whether text is a valid name of a session or an agent.
func isWord(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// identityOf reads the identity of a pane from launchOption, else from the command that the pane
// was started with, which is known from the pane's first moment, else from @paw_agent. The result
// is nil for a pane of the user.
func identityOf(launch, option, startCommand string) *Identity {
	if words := strings.Split(launch, "/"); len(words) == 3 {
		return identityIn(words)
	}
	if id := identityFromCommand(startCommand); id != nil {
		return id
	}
	return identityIn(append(strings.Split(option, "/"), "0"))
}

// identityIn parses session, agent and generation; nil when one of them is not valid.
func identityIn(words []string) *Identity {
	if len(words) != 3 || !isWord(words[0]) || !isWord(words[1]) {
		return nil
	}
	generation, err := strconv.Atoi(words[2])
	if err != nil || generation < 0 {
		return nil
	}
	return &Identity{Session: words[0], Agent: words[1], Generation: generation}
}

// identityFromCommand parses `PROGRAM... __agent SESSION AGENT GENERATION ...`. identityFromCommand
// splits the words as tmux has joined them: the program's path may hold spaces, and a user's
// command that only quotes such a line has no identity.
func identityFromCommand(text string) *Identity {
	words := splitCommand(text)
	for i := 1; i+3 < len(words); i++ {
		if words[i] == "__agent" {
			return identityIn(words[i+1 : i+4])
		}
	}
	return nil
}

// splitCommand splits #{pane_start_command} into words, as tmux 3.2 and later quote them: with
// double quotes, single quotes, or none; a backslash escapes the next character everywhere. Words
// keep their backslashes: those that identityIn reads have none.
func splitCommand(text string) []string {
	var words []string
	var current strings.Builder
	var quote byte
	inside := false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\' && i+1 < len(text):
			current.WriteString(text[i : i+2])
			inside = true
			i++
		case quote != 0 && b == quote:
			quote = 0
		case quote == 0 && (b == '"' || b == '\''):
			quote = b
			inside = true
		case quote == 0 && b == ' ':
			if inside {
				words = append(words, current.String())
				current.Reset()
			}
			inside = false
		default:
			current.WriteByte(b)
			inside = true
		}
	}
	if inside {
		words = append(words, current.String())
	}
	return words
}

// Label is the text and the state shown in the border of an agent's pane.
type Label struct {
	Text string // one line; tmux shows # as a character
	// State is an agent's state by its name in JSON. The state selects the colour, and the count in
	// the status line; an unknown state has neither.
	State string
}

// leaseSeconds is how long a new pane waits for its agent's command, then closes. So a paw that is
// killed in between leaves no pane. A server that paw began has it in its command line for life: as
// it is written, no pkill -f of a usual sleep finds that.
const leaseSeconds = "0060"

// leaseScript is the shell command of a pane that waits for its agent; a mark may follow. The pane
// closes when the sleep ends, since remain-on-exit is not set.
const leaseScript = "exec sleep " + leaseSeconds + " # paw "

// lease is the command of a waiting pane that needs no mark.
var lease = []string{"sh", "-c", leaseScript}
