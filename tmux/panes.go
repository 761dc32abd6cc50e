package tmux

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Pane is a pane as tmux sees it. Dead says that its process ended and remain-on-exit kept the pane.
type Pane struct {
	ID, SessionID string
	// SessionName, WindowIndex and WindowName are those by which the user knows the place of a pane of his own.
	SessionName, WindowIndex, WindowName string
	// PawSession is @paw_session of the tmux session the pane is in now, "" in a user's own session.
	PawSession string
	// PawID is @paw_id of the pane or, where it has none, of the tmux session that the pane is in now.
	PawID string
	// Identity is nil for a user's pane.
	Identity *Identity
	// Placeholder: the pane waits for the command of an agent. Outside of the call that made it, that was killed.
	Placeholder bool
	Dead        bool
	// ExitCode and Signal say how the process ended. Both are nil while it lives, and where tmux does not know: before
	// tmux 3.3 that is every death by a signal.
	ExitCode, Signal *int
	PID              int
	// Terminals are the attached terminals that show its window, by their paths.
	Terminals []string
	// Label is what the border shows, as AgentPane.Label has it, for a Client.WithLabels.
	Label Label
}

// separator stands between the fields of a pane. Values are escaped by tmux (q:), so it cannot occur in one.
const separator = "|"

// paneFormat is asked of every pane: paneFields fields. Each one costs the server a microsecond and a half for each pane,
// and the command that a pane was started with, which tmux has to quote, costs it seven. So how a process ended is asked of
// dead panes only, labels where somebody wants them, and what else tells of whom a pane is where its launch is not noted.
const (
	paneFormat = "#{pane_id}|#{session_id}|#{?pane_dead,1|#{pane_dead_status}|#{pane_dead_signal},0||}|#{pane_pid}|" +
		"#{q:@paw_session}|#{q:@paw_id}|#{q:window_active_clients_list}|"
	labelFormat = "#{q:@paw_label}|#{q:@paw_state}|"
	noLabel     = "||"
	whoseFormat = "#{?" + launchOption + ",#{q:" + launchOption + "}|||||," +
		"|#{q:@paw_agent}|#{q:pane_start_command}|#{q:session_name}|#{window_index}|#{q:window_name}}|"
	paneFields = 17
)

// Panes lists every pane of the server, with one tmux process. ErrNoServer when nobody listens on the socket. A server
// without sessions has no panes, which is no error. A pane that is linked into several sessions is listed once, in
// paw's session when it is in one.
func (c *Client) Panes(ctx context.Context) (Server, []Pane, error) {
	server, panes, version, err := c.panesOnce(ctx)
	if err == nil && version.AtLeast(3, 3) && slices.ContainsFunc(panes, unreaped) && remind(server.PID) {
		server, panes, _, err = c.panesOnce(ctx)
	}
	return server, panes, err
}

// SessionNames lists the names of all sessions of the server. ErrNoServer when nobody listens on the socket.
func (c *Client) SessionNames(ctx context.Context) ([]string, error) {
	var names []string
	err := again(ctx, serverExited, func() error {
		r, err := c.call(ctx, command{"list-sessions", "-F", "#{session_name}"})
		names = slices.Collect(strings.SplitSeq(strings.TrimSuffix(r.out, "\n"), "\n"))
		return named(err, "list-sessions")
	})
	return names, err
}

// unreaped is an agent's pane of which tmux knows that it ended but not how.
func unreaped(p Pane) bool {
	return p.Identity != nil && p.Dead && p.ExitCode == nil && p.Signal == nil
}

// remind makes the server look for children that ended. A tmux built with libutempter, as Debian's is, loses the SIGCHLD
// of a program that ends while utempter_remove_record has set that signal to its default: the program stays a zombie,
// and its pane without an exit status, until the next child ends. Measured with 3.3a: up to one in seven programs that
// end at once.
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
	if err != nil { // tmux has no list of no panes, it complains
		r.out = ""
		if r.server, err = parseServer(parts[2]); err != nil {
			return Server{}, nil, Version{}, err
		}
	}
	panes, sessions := parsePanes(r.out, record+separator)
	r.server.Sessions = sessions
	version, _ := parseVersion(parts[1]) // an unknown one is older than what it is asked for
	return r.server, panes, version, nil
}

// named makes err speak of the command that mattered in a call.
func named(err error, name string) error {
	var e *Error
	if errors.As(err, &e) {
		e.Args = append(command{name}, e.Args[1:]...)
	}
	return err
}

// parsePanes reads what list-panes printed. Each pane's text starts with prefix, may hold line breaks of its own, and
// is followed by whatever else printed into the same stream.
func parsePanes(out, prefix string) ([]Pane, map[string]string) {
	sessions := map[string]string{}
	texts := strings.Split(out, prefix)[1:] // without what is before the first pane
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

// fields splits at separators that are not escaped, and takes the escapes of q: off. What follows the last separator
// is not a field.
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

// unescaped is a field without the escapes of q:.
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

// signal reads a number, as tmux prints it on Linux, or a name such as KILL, as on the BSDs.
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

// Identity says which agent a pane belongs to.
type Identity struct {
	Session, Agent string
	// Generation is the last launch of paw in the pane; 0 when only the pane's option @paw_agent is left.
	Generation int
}

// option is the value of @paw_agent.
func (id Identity) option() string { return id.Session + "/" + id.Agent }

// launchOption has all of the identity of a pane, as PAW_LAUNCH has it in the environment of its program.
const launchOption = "@paw_launch"

// launch is the value of launchOption.
func (id Identity) launch() string { return id.option() + "/" + strconv.Itoa(id.Generation) }

// isWord reports whether text can be the name of a session or an agent.
func isWord(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// identityOf reads the options of a pane and the command that it was started with, which is there from the pane's first
// instant and not asked for where launchOption is set. It is nil for a user's pane.
func identityOf(launch, option, startCommand string) *Identity {
	if words := strings.Split(launch, "/"); len(words) == 3 {
		return identityIn(words)
	}
	if id := identityFromCommand(startCommand); id != nil {
		return id
	}
	return identityIn(append(strings.Split(option, "/"), "0"))
}

// identityIn reads a session, an agent and a generation, nil where they are none.
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

// identityFromCommand reads `PROGRAM... __agent SESSION AGENT GENERATION ...`. The words are taken apart as tmux put
// them together, so a program's path may hold spaces, and a text within one argument of a user's command is no identity.
func identityFromCommand(text string) *Identity {
	words := splitCommand(text)
	for i := 1; i+3 < len(words); i++ {
		if words[i] == "__agent" {
			return identityIn(words[i+1 : i+4])
		}
	}
	return nil
}

// splitCommand cuts #{pane_start_command} into words, as tmux 3.2 and later quote them: with double quotes, single
// quotes, or not at all, a backslash escaping the next character everywhere. Words keep their escapes; those that
// matter have none.
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

// Label is what the border of an agent's pane says.
type Label struct {
	Text string // shown as it is, on one line
	// State decides on the colour, and on what is counted: a state by the name that --json gives it. Others have none.
	State string
}
