package tmux

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"paw/config/display"
	"paw/config/lazyregexp"
)

// reply holds the output of one tmux client call.
type reply struct {
	out    string // standard output, without the answer to call's own last command
	errors string // standard error: complaints of the commands, and of hooks of the user
	server Server
}

// call runs commands in one tmux client. The call has succeeded when a display-message that call
// appends has answered: the exit status of a client also reports failures of the user's hooks, and
// is 0 for a server that dies in the middle. With an error, reply holds what was printed so far.
func (c *Client) call(ctx context.Context, commands ...command) (reply, error) {
	return c.callWith(ctx, nil, nil, commands...)
}

// callHere is call with TMUX and TMUX_PANE set, by which tmux finds the client that paw was called
// from.
func (c *Client) callHere(ctx context.Context, commands ...command) (reply, error) {
	return c.callWith(ctx, nil, []string{"TMUX=" + os.Getenv("TMUX"), "TMUX_PANE=" + os.Getenv("TMUX_PANE")}, commands...)
}

// callWith is call with a standard input, and with additional environment variables for the tmux
// client.
func (c *Client) callWith(ctx context.Context, stdin io.Reader, env []string, commands ...command) (reply, error) {
	mark := nonce()
	last := command{"display-message", "-p", mark + " " + serverFormat}
	args := argv(append(append([]command{}, commands...), last))

	ctx, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	cmd, err := c.process(ctx, commands, args)
	if err != nil {
		return reply{}, notRun(subject(commands), err)
	}
	cmd.Env = append(cmd.Env, env...)
	// In a process group of its own the client survives a Ctrl-C on paw: the client may just have
	// started a server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var stdout, stderr bytes.Buffer
	stdout.Grow(64 << 10) // A list of 200 panes takes half of this; pages that are not used cost nothing.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	runErr := cmd.Run()

	r := reply{out: stdout.String(), errors: strings.TrimSpace(stderr.String())}
	if before, answer, ok := strings.Cut(r.out, mark+" "); ok {
		r.out = before
		r.server, err = parseServer(answer)
		if err == nil {
			return r, nil
		}
	}
	return r, c.failure(ctx, subject(commands), cmd, r.errors, runErr)
}

// notRun returns the error for a call that could not start a tmux client.
func notRun(args command, err error) error {
	if _, ok := errors.AsType[*UnsafeError](err); ok {
		return err // An UnsafeError names the socket and the reason itself.
	}
	return &Error{Args: args, ExitCode: -1, Err: err}
}

// onPane runs one tmux command with the pane as its target, and returns the output.
func (c *Client) onPane(ctx context.Context, paneID, name string, arguments ...string) (string, error) {
	if err := checkID('%', paneID); err != nil {
		return "", err
	}
	r, err := c.call(ctx, append(command{name, "-t", paneID}, arguments...))
	return r.out, err
}

// fact expands a tmux format for a pane, and returns the one line it gives.
func (c *Client) fact(ctx context.Context, paneID, format string) (string, error) {
	out, err := c.onPane(ctx, paneID, "display-message", "-p", format)
	return strings.TrimSpace(out), err
}

// subject chooses the command that an error names: the first, or the one that follows an if-shell.
func subject(commands []command) command {
	if len(commands) > 1 && commands[0][0] == "if-shell" {
		return commands[1]
	}
	return commands[0]
}

// failure returns the error for a call whose last command was not answered.
func (c *Client) failure(ctx context.Context, args command, cmd *exec.Cmd, stderr string, runErr error) error {
	e := &Error{Args: args, ExitCode: -1, Stderr: stderr, Err: classify(stderr)}
	if cmd.ProcessState != nil {
		e.ExitCode = cmd.ProcessState.ExitCode()
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Err, e.Stderr = ErrTimeout, ""
	case ctx.Err() != nil:
		e.Err, e.Stderr = ctx.Err(), ""
	case runErr != nil && !errors.As(runErr, &exit) && !errors.Is(runErr, exec.ErrWaitDelay):
		e.Err = runErr
	case e.ExitCode == 0 && e.Err == nil: // tmux exits so, without a message, when the server ends in order
		e.Err = errServerExited
	}
	return e
}

// process prepares every tmux client that connects to a server; nothing else in paw makes one. args
// are the arguments of the tmux program, commands the same before quoting.
func (c *Client) process(ctx context.Context, commands []command, args []string) (*exec.Cmd, error) {
	e, err := c.endpoint()
	if err != nil {
		return nil, err
	}
	c.guard(e)
	if starts(commands) && e.name == "" {
		if err := os.MkdirAll(filepath.Dir(e.path), 0o700); err != nil {
			return nil, err
		}
	}
	// -u, for a user whose locale is C: tmux would replace every character outside ASCII.
	flags := append([]string{"-u"}, e.flags()...)
	if c.ConfigFile != "" {
		flags = append(flags, "-f", c.ConfigFile)
	}
	env := environment(os.Environ())
	if !wantsEnvironment(commands) {
		env = ownEnvironment(env)
	}
	if e.base != "" {
		env = append(env, "TMUX_TMPDIR="+e.base)
	}
	return program(ctx, env, append(flags, args...))
}

// program prepares a run of tmux in the directory /, since a server keeps the directory it was
// started in busy.
func program(ctx context.Context, env, args []string) (*exec.Cmd, error) {
	path, err := lookUp()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = "/"
	cmd.Env = env
	cmd.WaitDelay = waitDelay
	return cmd, nil
}

func lookUp() (string, error) {
	path, err := exec.LookPath("tmux")
	if errors.Is(err, exec.ErrNotFound) {
		return "", ErrNotInstalled
	}
	if err != nil {
		return "", fmt.Errorf("tmux: %w", err)
	}
	return path, nil
}

// Installed returns ErrNotInstalled if there is no tmux on PATH. It starts no process.
func Installed() error {
	_, err := lookUp()
	return err
}

// nonce returns a random word, which marks paw's own lines in the output.
func nonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never returns an error.
	return "paw" + hex.EncodeToString(b[:])
}

// again calls f up to four times, with a growing pause, while transient says of its error that a
// server is just ending.
func again(ctx context.Context, transient func(error) bool, f func() error) error {
	wait := 50 * time.Millisecond
	for try := 0; ; try++ {
		err := f()
		if err == nil || try == 3 || !transient(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
			wait *= 2
		}
	}
}

func serverExited(err error) bool { return errors.Is(err, errServerExited) }

// callPieces runs any number of commands, in as many client calls as tmux's message size asks for,
// and returns the joined output.
func (c *Client) callPieces(ctx context.Context, commands []command) (reply, error) {
	var all reply
	for _, piece := range pieces(commands) {
		r, err := c.call(ctx, piece...)
		all = reply{all.out + r.out, all.errors + r.errors, r.server}
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// checkID returns an error for anything but an id such as %3 or $1: tmux would match a name by its
// prefix. kind is the first character, % for a pane or $ for a session.
func checkID(kind byte, id string) error {
	if len(id) > 1 && id[0] == kind && strings.Trim(id[1:], "0123456789") == "" {
		return nil
	}
	what := map[byte]string{'%': "pane", '$': "session"}[kind]
	return fmt.Errorf("%s %q: not an id of tmux: %w", what, id, ErrNotFound)
}

// Errors that callers tell apart. An Error whose Err is nil is unknown, and unknown never means
// that a server or pane is dead.
var (
	// ErrNoServer says that no server listens on the socket. A server may still run if its socket
	// file was deleted; see Revive.
	ErrNoServer = errors.New("no tmux server")
	// ErrNotFound says that the server has no such session, window or pane.
	ErrNotFound = errors.New("not found")
	// ErrDuplicate says that a tmux session of that name exists.
	ErrDuplicate = errors.New("duplicate session")
	// ErrTooOldServer says that tmux was upgraded while the server ran. Lists may still work,
	// changes do not.
	ErrTooOldServer = errors.New("tmux server is too old for the tmux program")
	// ErrTimeout says that tmux did not answer within Client.Timeout.
	ErrTimeout = errors.New("no answer in time")
	// ErrNotInstalled says that there is no tmux on PATH.
	ErrNotInstalled = errors.New("tmux is not installed")
	// ErrNotPermitted says that the system does not let this process connect, as in a sandbox; the
	// error is an fs.ErrPermission.
	ErrNotPermitted = fmt.Errorf("no access to the tmux server: %w", fs.ErrPermission)
	// ErrStillActive says that a pane was not respawned because its process is still running.
	ErrStillActive = errors.New("pane is still active")

	errServerExited = errors.New("tmux server ended during the call")
	errNoSpace      = errors.New("no space for a new pane")
	errNoTarget     = errors.New("server has no session")
)

// Error describes a tmux call that failed.
type Error struct {
	Args     []string // the first tmux command of the call, with its arguments
	ExitCode int      // of the tmux client; -1 when it did not exit by itself
	Stderr   string   // the client's standard error
	Err      error    // one of the errors above, an error of the context, or nil for unknown
}

// Error returns the name of the tmux command, without its arguments, which can be long, and the
// last line that tmux printed.
func (e *Error) Error() string {
	object := "tmux"
	if len(e.Args) > 0 {
		object += " " + e.Args[0]
	}
	switch said := display.LastLine(e.Stderr); {
	case said != "":
		return object + ": " + said
	case e.Err != nil:
		return object + ": " + e.Err.Error()
	default:
		return fmt.Sprintf("%s: ended with status %d and no message", object, e.ExitCode)
	}
}

func (e *Error) Unwrap() error { return e.Err }

// messages maps tmux's messages, which no locale translates, to errors; the first match counts.
// Collected from tmux 3.0a to 3.7.
var messages = []struct {
	text lazyregexp.Regexp
	err  error
}{
	{lazyregexp.New(`^error connecting to .* \(No such file or directory\)$`), ErrNoServer},
	{lazyregexp.New(`^error connecting to .* \(Connection refused\)$`), ErrNoServer},
	{lazyregexp.New(`^no server running on `), ErrNoServer},
	{lazyregexp.New(`^error connecting to .* \((Operation not permitted|Permission denied)\)$`), ErrNotPermitted},
	{lazyregexp.New(`^server exited( unexpectedly)?$`), errServerExited},
	{lazyregexp.New(`^lost server$`), errServerExited},
	{lazyregexp.New(`^server version is too old for client`), ErrTooOldServer},
	{lazyregexp.New(`^protocol version mismatch`), ErrTooOldServer},
	{lazyregexp.New(`^open terminal failed: not a terminal$`), ErrTooOldServer}, // by a command that needs none
	{lazyregexp.New(`^duplicate session: `), ErrDuplicate},
	{lazyregexp.New(`^can't find (session|window|pane)`), ErrNotFound},
	{lazyregexp.New(`^no such (session|window|pane)`), ErrNotFound},
	{lazyregexp.New(`^respawn pane failed: .* still active$`), ErrStillActive},
	{lazyregexp.New(`no space for( a)? new pane`), errNoSpace},
	{lazyregexp.New(`pane too small$`), errNoSpace},
	{lazyregexp.New(`^no current target$`), errNoTarget},
	{lazyregexp.New(`^no sessions$`), errNoTarget},
}

// classify returns the error that stands for tmux's messages, nil when none is known. Hooks of the
// user print to the same stream, so every line is tried, the last line first: tmux prints its own
// message last.
func classify(stderr string) error {
	lines := strings.Split(stderr, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimPrefix(strings.TrimSpace(lines[i]), "tmux: ")
		for _, s := range messages {
			if s.text().MatchString(line) {
				return s.err
			}
		}
	}
	return nil
}
