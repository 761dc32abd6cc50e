package tmux

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
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
	ttys    []uint64 // devices of its standard input, output and error that may be terminals
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

// here decides whether the caller is on a server, and which client of it the user acts in, "" for
// none. $TMUX and $TMUX_PANE are inherited by whatever is started from a pane, such as an editor
// with terminals of its own: the caller is in the pane only as a descendant of the pane's process
// or on the pane's terminal. The server itself has started popups and what keys run. The panes of a
// server may be there several times, once for each session that they are linked into.
func (at caller) here(panes, clients []seat) (client string, inside bool) {
	sessions, in := []string(nil), false
	for _, p := range panes {
		if p.name == at.pane {
			sessions = append(sessions, p.session)
			in = in || slices.Contains(at.parents, p.pid) || p.tty != 0 && slices.Contains(at.ttys, p.tty)
		}
	}
	switch {
	case at.client != "" && slices.ContainsFunc(clients, func(c seat) bool { return c.name == at.client }):
		return at.client, true
	case in:
	case at.server > 1 && slices.Contains(at.parents, at.server):
		if len(sessions) == 0 {
			sessions = []string{at.session}
		}
	default:
		return "", false
	}
	var best seat
	for _, c := range clients {
		newer := best.name == "" || best.control && !c.control || best.control == c.control && c.activity > best.activity
		if slices.Contains(sessions, c.session) && newer {
			best = c
		}
	}
	return best.name, true
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
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
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

// Here returns the client of the server in $TMUX in which the user acts, "" for none. It is false
// where this process is on no terminal of that server, whatever $TMUX says.
func Here(ctx context.Context) (client string, inside bool) {
	own := insideSocket()
	if own == "" || !listening(own) {
		return "", false
	}
	r, err := New(own).call(ctx, command{"list-panes", "-a", "-F", herePanes}, command{"list-clients", "-F", hereClients})
	if err != nil {
		return "", false
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
	latest(ctx, New(own), clients)
	return thisCaller().here(panes, clients)
}

// latest has tmux say which client of the pane's session was used last, where several were within one second.
func latest(ctx context.Context, p *Client, clients []seat) {
	var last []*seat
	for i := range clients {
		switch c := &clients[i]; {
		case len(last) == 0 || c.activity > last[0].activity:
			last = []*seat{c}
		case c.activity == last[0].activity:
			last = append(last, c)
		}
	}
	if len(last) < 2 {
		return
	}
	r, err := p.call(ctx, command{"display-message", "-p", "-t", os.Getenv("TMUX_PANE"), "#{client_name}"})
	for _, c := range last {
		if err == nil && c.name == strings.TrimSpace(r.out) {
			c.activity++
		}
	}
}
