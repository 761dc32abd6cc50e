// Package tmux is the only package that runs tmux.
//
// It knows panes, tmux sessions and the options paw puts on them, and nothing else of paw: no files, no git, no CLIs.
// After the call that creates something, every command names its target by an id (%1, @2, $3). Ids survive what a
// user's tmux.conf does to names and indexes; names do not. Nothing global or server-wide is ever changed.
//
// tmux 3.2 is the oldest version this package is written for. Two limits come from tmux itself: with the server option
// exit-unattached a server without an attached client ends, and paw's session with it; and exit signals are reported
// from tmux 3.3 on only.
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

// Client talks to one tmux server. Its zero value is the user's own server.
type Client struct {
	// Socket says which server: "" is the user's own (the one $TMUX names when that answers, else the default one), a
	// word is a socket name as for tmux -L, an absolute path is a socket as for tmux -S.
	Socket string
	// ConfigFile is read instead of the user's configuration by a server that this client starts (tmux -f).
	ConfigFile string
	// Timeout bounds one call of tmux; 0 is five seconds. A call that takes longer ends with ErrTimeout, which says
	// nothing about whether the server lives.
	Timeout time.Duration
	// WithLabels has Panes also tell what stands on the borders.
	WithLabels bool
}

// New returns the client of the server that socket names; see Client.Socket.
func New(socket string) *Client {
	return &Client{Socket: socket}
}

const (
	defaultTimeout = 5 * time.Second
	// waitDelay is how long a killed client's output is still waited for: a stopped server keeps the pipe open for
	// ever, since clients pass it their file descriptors.
	waitDelay = 500 * time.Millisecond
)

func (c *Client) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return defaultTimeout
}

// command is one tmux command with its arguments, the name first and in full.
type command []string

// pieceLimit keeps the arguments of one client call under tmux's message size of 16 KB ("command too long").
const pieceLimit = 14 << 10

// unaliased shortens a command's name: a command-alias in a user's configuration can turn `kill-session` into anything, and applies to exact
// names only. Every name without its last letter is still an unambiguous abbreviation, which no alias matches.
func unaliased(name string) string { return name[:len(name)-1] }

// escape protects an argument that ends in a semicolon: tmux takes that as the end of the command, and `\;` as the
// character.
func escape(arg string) string {
	if strings.HasSuffix(arg, ";") {
		return strings.TrimSuffix(arg, ";") + `\;`
	}
	return arg
}

// argv joins commands into the arguments of one client call. tmux runs them in order up to the first that fails.
func argv(commands []command) []string {
	var args []string
	for i, c := range commands {
		if i > 0 {
			args = append(args, ";")
		}
		args = append(args, unaliased(c[0]))
		for _, arg := range c[1:] {
			args = append(args, escape(arg))
		}
	}
	return args
}

// size is what a command takes of a message: each argument is sent with a final zero byte.
func (c command) size() int {
	n := 2 // the separator
	for _, arg := range c {
		n += len(arg) + 2
	}
	return n
}

// pieces cuts commands into client calls. A single command that is too long stays alone, so that tmux can say so.
func pieces(commands []command) [][]command {
	var cut [][]command
	total := 0
	for i, c := range commands {
		if i == 0 || total+c.size() > pieceLimit {
			cut = append(cut, nil)
			total = 0
		}
		cut[len(cut)-1] = append(cut[len(cut)-1], c)
		total += c.size()
	}
	return cut
}

// unwanted are variables that a server started by paw must not hand to every pane it will ever have, beside those that tie
// git to a repository: what marks a child of a CLI or an agent of paw, and TMUX, since the server is always named by a flag.
var unwanted = []string{"CLAUDE_CODE_CHILD_SESSION", "PAW_SESSION", "PAW_AGENT", "PAW_LAUNCH", "TMUX", "TMUX_PANE"}

// environment returns env as a tmux client gets it.
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

// wantsEnvironment reports whether one of the commands takes over variables of the client that runs it: new-session, which may
// start the server as well, and those that show a session to a terminal (update-environment). A tmux client sends the whole of its
// environment with whatever it is asked, so no other command gets to see that of the user.
func wantsEnvironment(commands []command) bool {
	return slices.ContainsFunc(commands, func(c command) bool {
		return c[0] == "new-session" || c[0] == "attach-session" || c[0] == "switch-client"
	})
}

// starts reports whether the commands start a server where there is none.
func starts(commands []command) bool {
	return slices.ContainsFunc(commands, func(c command) bool { return c[0] == "new-session" })
}

// own are the variables with which the tmux program, or a wrapper of it, finds its files and writes text. PATH goes on to what
// tmux starts in a new pane.
var own = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR", "TMUX_TMPDIR", "LANG", "LANGUAGE", "LD_LIBRARY_PATH",
	"DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "TERMINFO", "TERMINFO_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}

// ownEnvironment returns what the tmux program itself needs of env.
func ownEnvironment(env []string) []string {
	kept := make([]string, 0, len(own))
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(own, name) || strings.HasPrefix(name, "LC_") {
			kept = append(kept, kv)
		}
	}
	return kept
}

// absolute makes a directory independent of where the tmux client runs, which is not where paw was called.
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

// Server is a running tmux server. Pane ids start again from %0 in the next one, which has another process.
type Server struct {
	PID     int
	Started int64  // #{start_time}, Unix seconds
	Socket  string // absolute path
	// Sessions maps the id of every tmux session to its @paw_session, "" for sessions that are not paw's.
	Sessions map[string]string
}

// serverFormat is what parseServer reads.
const serverFormat = "#{pid} #{start_time} #{socket_path}"

// parseServer reads a server's fields, the socket up to the end of the line.
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

// worktreeOption is the folder of an agent, on its pane.
const worktreeOption = "@paw_worktree"

// shellCommand is what a pane runs that the user splits off beside an agent: a shell in that agent's worktree, where tmux
// itself would start it in the folder of the session, which is the user's own checkout. Beside a pane of the user it is the
// folder which that one is in. A window of its own starts where the session does, and one for which a folder was named there.
const shellCommand = `/bin/sh -c 'ask() { tmux display-message -p -t "$TMUX_PANE" "$1" 2>/dev/null; }; ` +
	`beside="#{?@paw_worktree,#{@paw_worktree},#{pane_current_path}}"; ` +
	`if [ . -ef "$(ask "#{session_path}")" ]; then ` +
	`dir=$(ask "#{?pane_active,#{P:#{?pane_last,$beside,}},#{P:#{?pane_active,$beside,}}}"); ` +
	`if [ -n "$dir" ]; then cd "$dir"; fi; fi; exec "${SHELL:-/bin/sh}" -l'`

// shellOption has the user's own panes in a session started by shellCommand, unless the user has a default-command.
func shellOption(session string) command {
	return command{"if-shell", "-F", "-t", session, "#{default-command}", "",
		unaliased("set-option") + " -t '" + session + "' default-command " + quoted(shellCommand)}
}

// Configured reports whether the user has a configuration file in a place where tmux looks for one. home is the user's
// home directory, and config the folder that XDG_CONFIG_HOME names, "" for none.
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

// Version is a tmux version. Raw is what tmux printed, without the program's name.
type Version struct {
	Major, Minor int
	Raw          string
}

// newest stands for versions that have no number of tmux's own, such as "master" and OpenBSD's.
const newest = 1 << 20

var versionPattern = lazyregexp.New(`^(?:next-)?(\d{1,6})\.(\d{1,6})`)

// Version asks the tmux program for its version. It reaches no server. ErrNotInstalled when there is none.
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

// AtLeast reports whether v is major.minor or newer; development versions are newer than everything released.
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
	m := versionPattern.FindStringSubmatch(raw)
	if m == nil {
		return Version{}, fmt.Errorf("tmux: version %q is not understood", raw)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return Version{Major: major, Minor: minor, Raw: raw}, nil
}
