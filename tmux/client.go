// Package tmux is the only package that runs tmux.
//
// Package tmux knows panes, tmux sessions and their options, and nothing else of paw: no files, no
// git, no CLIs. After the call that creates something, every command names its target by an id (%1,
// @2, $3): the user's tmux.conf may change names and indexes, and never ids. Nothing global or
// server-wide is ever changed.
//
// The package is written for tmux 3.2 and later. Two limits come from tmux itself: with the server
// option exit-unattached a server ends when no client is attached, and paw's sessions with it; and
// tmux tells the signal that ended a program only from 3.3 on.
package tmux

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config/lazyregexp"
	"paw/worktree/git"
)

// Client calls one tmux server. The zero value calls the user's own server.
type Client struct {
	// Socket names the server: "" is the user's own (the one in $TMUX if it answers, else the
	// default server), a word is a socket name as for tmux -L, an absolute path is a socket as for
	// tmux -S.
	Socket string
	// ConfigFile replaces the user's configuration for a server that this client starts (tmux -f).
	ConfigFile string
	// Timeout limits one tmux call; 0 means five seconds. A longer call returns ErrTimeout, which
	// does not say whether the server lives.
	Timeout time.Duration
	// WithLabels has Panes fill in Pane.Label.
	WithLabels bool
}

// New returns a client of the server that socket names; see Client.Socket.
func New(socket string) *Client {
	return &Client{Socket: socket}
}

const (
	defaultTimeout = 5 * time.Second
	// waitDelay limits how long the output of a killed client is still read. A stopped server keeps
	// the pipe open for ever, since clients pass it their file descriptors.
	waitDelay = 500 * time.Millisecond
)

func (c *Client) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return defaultTimeout
}

// unwanted lists variables that a server started by paw must not pass on to its panes: those that
// mark a child of a CLI or an agent of paw; and TMUX and TMUX_PANE, since paw names the server by a
// flag. git.Unbound removes those that tie git to a repository.
var unwanted = []string{"CLAUDE_CODE_CHILD_SESSION", "PAW_SESSION", "PAW_AGENT", "PAW_LAUNCH", "TMUX", "TMUX_PANE"}

// environment returns env without the variables that no tmux client of paw may get.
func environment(env []string) []string {
	env = git.Unbound(env)
	clean := make([]string, 0, len(env))
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains(unwanted, name) {
			continue
		}
		if name == "TMUX_TMPDIR" {
			kv = name + "=" + absolute(value)
		}
		clean = append(clean, kv)
	}
	return clean
}

// wantsEnvironment reports whether a command copies variables from its client into the session:
// new-session, which may also start the server, and those that show a session on a terminal
// (update-environment). tmux sends a client's whole environment with every command, so other
// commands run with ownEnvironment.
func wantsEnvironment(commands []command) bool {
	return slices.ContainsFunc(commands, func(c command) bool {
		return c[0] == "new-session" || c[0] == "attach-session" || c[0] == "switch-client"
	})
}

// starts reports whether one of the commands starts a server if none runs.
func starts(commands []command) bool {
	return slices.ContainsFunc(commands, func(c command) bool { return c[0] == "new-session" })
}

// ownVariables lists the variables that the tmux program, or a wrapper of it, needs to find its
// files and to print text. PATH is passed on to a program that tmux starts in a new pane.
var ownVariables = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR", "TMUX_TMPDIR", "LANG", "LANGUAGE", "LD_LIBRARY_PATH",
	"DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "TERMINFO", "TERMINFO_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}

// ownEnvironment returns the variables of env that the tmux program itself needs.
func ownEnvironment(env []string) []string {
	kept := make([]string, 0, len(ownVariables))
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(ownVariables, name) || strings.HasPrefix(name, "LC_") {
			kept = append(kept, kv)
		}
	}
	return kept
}

// absolute resolves a directory against paw's working directory: tmux clients run in /.
func absolute(dir string) string {
	if dir == "" {
		return dir
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	return abs
}

// Server describes a running tmux server. Pane ids start again from %0 with the next server, which
// has another PID.
type Server struct {
	PID     int
	Started int64  // #{start_time}, in Unix seconds
	Socket  string // absolute path of the socket
	// Sessions maps the id of every tmux session to its option @paw_session, "" for a session of
	// the user.
	Sessions map[string]string
}

// serverFormat is the tmux format that parseServer reads.
const serverFormat = "#{pid} #{start_time} #{socket_path}"

// parseServer reads serverFormat; the socket path, which may hold spaces, goes up to the end of the
// line.
func parseServer(text string) (Server, error) {
	line, _, _ := strings.Cut(text, "\n")
	if fields := strings.SplitN(line, " ", 3); len(fields) == 3 {
		pid, pidErr := strconv.Atoi(fields[0])
		started, err := strconv.ParseInt(fields[1], 10, 64)
		if pidErr == nil && err == nil {
			return Server{PID: pid, Started: started, Socket: fields[2]}, nil
		}
	}
	return Server{}, fmt.Errorf("tmux: server described as %q", line)
}

// worktreeOption is a pane option with the path of the agent's worktree.
const worktreeOption = "@paw_worktree"

// shellCommand is the default-command of paw's sessions: it starts a shell for a pane that the user
// splits off. The shell starts in the worktree of the agent beside it, or in the directory of the
// user's pane beside it; tmux alone would start it in the session's directory, the user's main
// checkout. A new window, and a pane given a directory, start where tmux puts them.
const shellCommand = `/bin/sh -c 'ask() { tmux display-message -p -t "$TMUX_PANE" "$1" 2>/dev/null; }; ` +
	`beside="#{?@paw_worktree,#{@paw_worktree},#{pane_current_path}}"; ` +
	`if [ . -ef "$(ask "#{session_path}")" ]; then ` +
	`dir=$(ask "#{?pane_active,#{P:#{?pane_last,$beside,}},#{P:#{?pane_active,$beside,}}}"); ` +
	`if [ -n "$dir" ]; then cd "$dir"; fi; fi; exec "${SHELL:-/bin/sh}" -l'`

// shellOption sets shellCommand as the session's default-command, unless the user has set one.
func shellOption(session string) command {
	return command{"if-shell", "-F", "-t", session, "#{default-command}", "",
		unaliased("set-option") + " -t '" + session + "' default-command " + quoted(shellCommand)}
}

// Configured reports whether a tmux configuration file of the user exists. home is the user's home
// directory, config the value of XDG_CONFIG_HOME, which may be "".
func Configured(home, config string) bool {
	files := []string{"/etc/tmux.conf", filepath.Join(home, ".tmux.conf"), filepath.Join(home, ".config", "tmux", "tmux.conf")}
	if config != "" {
		files = append(files, filepath.Join(config, "tmux", "tmux.conf"))
	}
	for _, file := range files {
		if _, err := os.Stat(file); err == nil {
			return true
		}
	}
	return false
}

// Version is a tmux version. Raw is the output of tmux -V without the word tmux.
type Version struct {
	Major, Minor int
	Raw          string
}

// newest is the major number of versions without one: "master", and those of OpenBSD.
const newest = 1 << 20

var versionPattern = lazyregexp.New(`^(?:next-)?(\d{1,6})\.(\d{1,6})`)

// Version runs tmux -V, which connects to no server. The error is ErrNotInstalled when there is no
// tmux on PATH.
func (c *Client) Version(ctx context.Context) (Version, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	args := command{"-V"}
	cmd, err := program(ctx, ownEnvironment(os.Environ()), args)
	if err != nil {
		return Version{}, &Error{Args: args, ExitCode: -1, Err: err}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return Version{}, c.failure(ctx, args, cmd, stderr.String(), err)
	}
	return parseVersion(stdout.String())
}

// AtLeast reports whether v is major.minor or newer. Development versions count as newer than every
// release.
func (v Version) AtLeast(major, minor int) bool {
	if v.Major != major {
		return v.Major > major
	}
	return v.Minor >= minor
}

func parseVersion(text string) (Version, error) {
	raw := strings.TrimPrefix(strings.TrimSpace(text), "tmux ")
	if raw == "master" || strings.HasPrefix(raw, "openbsd-") {
		return Version{Major: newest, Raw: raw}, nil
	}
	m := versionPattern().FindStringSubmatch(raw)
	if m == nil {
		return Version{}, fmt.Errorf("tmux: version %q is not understood", raw)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return Version{Major: major, Minor: minor, Raw: raw}, nil
}
