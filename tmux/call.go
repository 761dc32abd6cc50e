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

	"paw/config/lazyregexp"
)

// reply is what one client call brought.
type reply struct {
	out    string // what the commands printed
	errors string // what they, and hooks of the user, complained about
	server Server
}

// call runs commands in one tmux client. They count as done when the answer to a last command of our own arrives: a
// client's exit status also reports the failures of hooks, and says nothing when a server dies in the middle. On an
// error reply holds what was printed until then.
func (c *Client) call(ctx context.Context, commands ...command) (reply, error) {
	return c.callWith(ctx, nil, nil, commands...)
}

// callHere is call for the tmux client that paw was called in: tmux finds it by the pane that the call comes from.
func (c *Client) callHere(ctx context.Context, commands ...command) (reply, error) {
	return c.callWith(ctx, nil, []string{"TMUX=" + os.Getenv("TMUX"), "TMUX_PANE=" + os.Getenv("TMUX_PANE")}, commands...)
}

// callWith is call with a standard input and more environment for the tmux client.
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
	// A Ctrl-C on paw must not cut a client off that has just started a server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var stdout, stderr bytes.Buffer
	stdout.Grow(64 << 10) // a list of 200 panes has half of that; what is not used is never touched
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

// notRun describes a call for which no tmux client was started.
func notRun(args command, err error) error {
	var unsafe *UnsafeError
	if errors.As(err, &unsafe) {
		return err // it says all
	}
	return &Error{Args: args, ExitCode: -1, Err: err}
}

// onPane runs one command for a pane and returns what it printed.
func (c *Client) onPane(ctx context.Context, paneID, name string, arguments ...string) (string, error) {
	if err := checkID('%', paneID); err != nil {
		return "", err
	}
	r, err := c.call(ctx, append(command{name, "-t", paneID}, arguments...))
	return r.out, err
}

// fact is what a format of one line says of a pane.
func (c *Client) fact(ctx context.Context, paneID, format string) (string, error) {
	out, err := c.onPane(ctx, paneID, "display-message", "-p", format)
	return strings.TrimSpace(out), err
}

// subject is the command that an error names: the first, or the one after a condition.
func subject(commands []command) command {
	if len(commands) > 1 && commands[0][0] == "if-shell" {
		return commands[1]
	}
	return commands[0]
}

// failure describes a call that was not answered to its end.
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
	case runErr != nil && !errors.As(runErr, &exit):
		e.Err = runErr
	}
	return e
}

// process is the one place that connects to a server: args are commands as the tmux program takes them.
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
	// -u: without it tmux replaces every character outside ASCII for users whose locale is C.
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

// program is tmux with an environment, in a directory that a server may keep busy.
func program(ctx context.Context, env, args []string) (*exec.Cmd, error) {
	path, err := exec.LookPath("tmux")
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, ErrNotInstalled
		}
		return nil, fmt.Errorf("tmux: %w", err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = "/"
	cmd.Env = env
	cmd.WaitDelay = waitDelay
	return cmd, nil
}

// nonce is a word that nobody else prints.
func nonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return "paw" + hex.EncodeToString(b[:])
}

// again calls f up to four times while it reports what a client sees for a moment when it meets a server on its way out.
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

// callPieces runs any number of commands, in as many client calls as they need, and returns everything they printed.
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

// checkID refuses anything but an id that tmux printed: a name in its place would be matched by prefix.
func checkID(kind byte, id string) error {
	if len(id) > 1 && id[0] == kind && strings.Trim(id[1:], "0123456789") == "" {
		return nil
	}
	what := map[byte]string{'%': "pane", '$': "session"}[kind]
	return fmt.Errorf("%s %q: not an id of tmux: %w", what, id, ErrNotFound)
}

// What tmux can say that a caller decides by. Everything else is unknown, and unknown is never a verdict of death.
var (
	// ErrNoServer: nobody listens on the socket. The server may still live when its socket file was deleted; see Revive.
	ErrNoServer = errors.New("no tmux server")
	// ErrNotFound: the server answers and has no such session, window or pane.
	ErrNotFound = errors.New("not found")
	// ErrDuplicate: a tmux session of that name exists.
	ErrDuplicate = errors.New("duplicate session")
	// ErrTooOldServer: tmux was upgraded while the server ran; lists may work, changes do not.
	ErrTooOldServer = errors.New("tmux server is too old for the tmux program")
	// ErrTimeout: tmux did not answer in time.
	ErrTimeout = errors.New("no answer in time")
	// ErrNotInstalled: there is no tmux on PATH.
	ErrNotInstalled = errors.New("tmux is not installed")
	// ErrNotPermitted: the system does not let this process connect, such as in a sandbox. It is an fs.ErrPermission.
	ErrNotPermitted = fmt.Errorf("no access to the tmux server: %w", fs.ErrPermission)
	// ErrStillActive: the pane's process lives, so it was not respawned.
	ErrStillActive = errors.New("pane is still active")

	errServerExited = errors.New("tmux server ended during the call")
	errNoSpace      = errors.New("no space for a new pane")
	errNoTarget     = errors.New("server has no session")
)

// Error is a call of tmux that did not succeed.
type Error struct {
	Args     []string // the tmux command and its arguments
	ExitCode int      // of the tmux client, -1 when it did not end by itself
	Stderr   string   // what tmux said
	Err      error    // one of the Err values above, a context's error, or nil for unknown
}

// Error names the tmux command and ends with tmux's own message. Arguments are left out, they can be long.
func (e *Error) Error() string {
	object := "tmux"
	if len(e.Args) > 0 {
		object += " " + e.Args[0]
	}
	switch said := lastLine(e.Stderr); {
	case said != "":
		return object + ": " + said
	case e.Err != nil:
		return object + ": " + e.Err.Error()
	default:
		return fmt.Sprintf("%s: ended with status %d and no message", object, e.ExitCode)
	}
}

func (e *Error) Unwrap() error { return e.Err }

// said maps tmux's messages, which are the same in English for every locale, to what they mean. Seen with tmux 3.0a to
// 3.7; the first match of a line counts.
var said = []struct {
	text *lazyregexp.Regexp
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
	{lazyregexp.New(`^duplicate session: `), ErrDuplicate},
	{lazyregexp.New(`^can't find (session|window|pane)`), ErrNotFound},
	{lazyregexp.New(`^no such (session|window|pane)`), ErrNotFound},
	{lazyregexp.New(`^respawn pane failed: .* still active$`), ErrStillActive},
	{lazyregexp.New(`no space for( a)? new pane`), errNoSpace},
	{lazyregexp.New(`pane too small$`), errNoSpace},
	{lazyregexp.New(`^no current target$`), errNoTarget},
	{lazyregexp.New(`^no sessions$`), errNoTarget},
}

// classify returns what tmux's messages mean, nil for unknown. Hooks of the user write to the same stream, so every line
// is looked at; tmux's own message about the command comes last.
func classify(stderr string) error {
	lines := strings.Split(stderr, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimPrefix(strings.TrimSpace(lines[i]), "tmux: ")
		for _, s := range said {
			if s.text.MatchString(line) {
				return s.err
			}
		}
	}
	return nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
