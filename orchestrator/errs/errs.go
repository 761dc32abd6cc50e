// Package errs is how paw tells its user what is wrong: an error with an exit code and with commands that work when
// they are pasted, and the words that such texts are made of.
//
// It imports nothing of paw. Begin with Error and New.
package errs

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says how a failed command ends; its number is the exit code of paw
// (docs/reference.md).
type Kind int

// The kinds of failure a use case can end with.
const (
	Failed      Kind = 1   // something went wrong
	Usage       Kind = 2   // a flag, a CLI or a name that cannot be
	Refused     Kind = 3   // refused to protect work
	Waiting     Kind = 4   // an agent waits for the user
	AgentFailed Kind = 5   // a turn of an agent failed
	Unconfirmed Kind = 6   // a prompt was typed and nothing says that it arrived
	Timeout     Kind = 7   // the time to wait is over
	Conflict    Kind = 8   // the work of an agent collides with that of somebody else
	CheckFailed Kind = 9   // a check of the project failed
	NotFound    Kind = 10  // no such session or agent
	Locked      Kind = 11  // held by another paw or by a live agent
	Missing     Kind = 12  // git, tmux or the CLI is missing or too old
	Interrupted Kind = 130 // by the user, as shells count SIGINT
)

// Error is a failure as the user sees it: what is wrong with which object, and
// commands that work when pasted.
type Error struct {
	Kind    Kind
	Message string   // "<object>: <what>", lower case, no full stop
	Hints   []string // each one a command, or a command with a few words before it
	Instead Instead
	Err     error // the cause; its text is already part of Message
}

// Instead is a name that was asked for and cannot be, and one that could: whoever knows the command line has the command.
type Instead struct{ Of, By string }

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// New makes an error of a message, which may wrap a cause with %w.
func New(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// HintsOf are the commands that come with an error.
func HintsOf(err error) []string {
	var e *Error
	if errors.As(err, &e) {
		return e.Hints
	}
	return nil
}

// Hint adds a command to e and returns e.
func (e *Error) Hint(format string, args ...any) *Error {
	e.Hints = append(e.Hints, fmt.Sprintf(format, args...))
	return e
}

// WithHints adds commands to an error that has to be shown.
func WithHints(err error, hints ...string) error {
	var e *Error
	if !errors.As(err, &e) {
		e = New(Failed, "%w", err)
	}
	e.Hints = append(e.Hints, hints...)
	return e
}

// Counted is a number with its noun.
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Quote makes text safe to paste into a shell.
func Quote(text string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,=", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !safe(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
