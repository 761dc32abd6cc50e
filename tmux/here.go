package tmux

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/term"
)

// ClientVariable names the tmux client that the user acted in, for a paw that a key of tmux runs:
// only the binding of the key knows it.
const ClientVariable = "PAW_CLIENT"

// caller holds what a process can tell about the terminal that its user sits at.
type caller struct {
	client  string   // ClientVariable, "" for none
	server  int      // pid of the server in $TMUX
	session string   // id of the session in $TMUX
	pane    string   // $TMUX_PANE
	parents []int    // the parents of the process, the nearest first
	ttys    []uint64 // devices of the terminals that are its standard input, output or error
}

// seat is a pane or a client of a server.
type seat struct {
	name     string // id of a pane, name of a client
	session  string // id
	pid      int    // process of a pane
	tty      uint64 // device of a pane
	activity int64  // when a client was used last, in seconds since 1970
	control  bool   // a client in control mode
}

// where says whether a process is on a tmux server.
type where int

const (
	outside where = iota
	inside        // in a pane or a popup, or run by a key
	unsure        // on a terminal of a program that a pane started: it may be in the pane or in a window of its own
)

// here decides whether the caller is on a server, and which client of it the user acts in, "" for
// none. $TMUX and $TMUX_PANE are inherited by whatever is started from a pane, such as an editor
// with terminals of its own: the caller is in the pane only on the pane's terminal, or without a
// terminal as a descendant of the pane's process. A descendant on another terminal is not there if
// no client shows the pane, and else nothing tells. The server itself has started popups and what
// keys run. The panes of a server may be there several times, once for each session that they are
// linked into.
func (at caller) here(panes, clients []seat) (client string, in where) {
	sessions := []string(nil)
	for _, p := range panes {
		if p.name != at.pane {
			continue
		}
		sessions = append(sessions, p.session)
		switch below := slices.Contains(at.parents, p.pid); {
		case p.tty != 0 && slices.Contains(at.ttys, p.tty), below && len(at.ttys) == 0:
			in = inside
		case below && in == outside:
			in = unsure
		}
	}
	switch {
	case at.client != "" && slices.ContainsFunc(clients, func(c seat) bool { return c.name == at.client }):
		return at.client, inside
	case in != outside:
	case at.server > 1 && slices.Contains(at.parents, at.server):
		if len(sessions) == 0 {
			sessions = []string{at.session}
		}
		in = inside
	default:
		return "", outside
	}
	var best seat
	for _, c := range clients {
		newer := best.name == "" || best.control && !c.control || best.control == c.control && c.activity > best.activity
		if slices.Contains(sessions, c.session) && newer {
			best = c
		}
	}
	if in == unsure && best.name == "" {
		return "", outside
	}
	return best.name, in
}

// parents returns the parents of this process, the nearest first.
func parents() (pids []int) {
	const most = 64 // nobody nests so deep; a chain that is read while processes end may be wrong
	for pid := os.Getppid(); pid > 1 && len(pids) < most; pid = parentOf(pid) {
		pids = append(pids, pid)
	}
	return pids
}

// thisCaller returns what this process knows of its place.
func thisCaller() caller {
	at := caller{client: os.Getenv(ClientVariable), pane: os.Getenv("TMUX_PANE"), parents: parents()}
	if fields := strings.Split(os.Getenv("TMUX"), ","); len(fields) == 3 {
		at.server, _ = strconv.Atoi(fields[1])
		at.session = "$" + fields[2]
	}
	own := uint64(0) // /dev/tty, which is each process' own terminal
	if info, err := os.Stat("/dev/tty"); err == nil {
		own = deviceOf(info)
	}
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		if info, err := f.Stat(); err == nil && term.IsTerminal(int(f.Fd())) && deviceOf(info) != own {
			at.ttys = append(at.ttys, deviceOf(info))
		}
	}
	return at
}

// deviceOf returns the device that a file is, 0 for none.
func deviceOf(info os.FileInfo) uint64 {
	stat, is := info.Sys().(*syscall.Stat_t)
	if !is {
		return 0
	}
	return uint64(stat.Rdev) //nolint:unconvert // it is an int32 on macOS
}

// Formats for here, with a letter that tells them apart.
const (
	herePanes   = "p\t#{pane_id}\t#{session_id}\t#{pane_pid}\t#{pane_tty}"
	hereClients = "c\t#{client_name}\t#{session_id}\t#{client_activity}\t#{client_control_mode}"
)

// here returns the client of the server in $TMUX in which the user acts, "" for none, and whether
// this process is on that server at all, whatever $TMUX says.
func here(ctx context.Context) (client string, in where) {
	own := insideSocket()
	if own == "" || !listening(own) {
		return "", outside
	}
	r, err := New(own).call(ctx, command{"list-panes", "-a", "-F", herePanes}, command{"list-clients", "-F", hereClients})
	if err != nil {
		return "", outside
	}
	var panes, clients []seat
	for line := range strings.Lines(r.out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 {
			continue
		}
		one := seat{name: f[1], session: f[2]}
		switch f[0] {
		case "p":
			one.pid, _ = strconv.Atoi(f[3])
			if info, err := os.Stat(f[4]); err == nil {
				one.tty = deviceOf(info)
			}
			panes = append(panes, one)
		case "c":
			one.activity, _ = strconv.ParseInt(f[3], 10, 64)
			one.control = f[4] == "1"
			clients = append(clients, one)
		}
	}
	return thisCaller().here(panes, clients)
}
