package tmux

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"paw/config/lazyregexp"
)

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
