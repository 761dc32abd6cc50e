// Package errs has the errors that paw shows to its user, each with an exit code and with commands
// that can be pasted, and words that such texts share.
//
// It imports nothing of paw. Begin with Error and New.
package errs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind is the kind of a failure; its number is paw's exit code (paw help exit-codes).
type Kind int

// The kinds of failures.
const (
	Failed      Kind = 1   // something went wrong
	Usage       Kind = 2   // a wrong flag, an unknown CLI or a bad name
	Refused     Kind = 3   // refused to protect work
	Waiting     Kind = 4   // an agent waits for the user
	AgentFailed Kind = 5   // a turn of an agent failed
	Unconfirmed Kind = 6   // a prompt was typed, but nothing shows that it arrived
	Timeout     Kind = 7   // the time limit of a wait is over
	Conflict    Kind = 8   // the work of an agent collides with that of somebody else
	CheckFailed Kind = 9   // a check of the project failed
	NotFound    Kind = 10  // no such session or agent
	Locked      Kind = 11  // the record or worktree is held by another paw or by a live agent
	Missing     Kind = 12  // git, tmux or the CLI is missing or too old
	Interrupted Kind = 130 // the user interrupted the command; 128 + SIGINT, as in shells
)

// Error is a failure as shown to the user: the object, what is wrong with it, and commands that
// work when pasted.
type Error struct {
	Kind    Kind
	Message string   // "<object>: <what>", lower case, no full stop
	Hints   []string // each one a command, or a few words followed by a command
	Instead Instead
	Err     error // cause, whose text is part of Message
}

// Instead pairs what the user asked for with what would work: the caller, which knows the command
// line, makes a hint of it.
type Instead struct{ Of, By string }

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// New returns an error with a message, which may wrap a cause with %w.
func New(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// HintsOf returns the hints of an error or, for one made by errors.Join, of each error in it.
func HintsOf(err error) []string {
	switch e := err.(type) { //nolint:errorlint // each level is looked at in turn
	case *Error:
		return e.Hints
	case interface{ Unwrap() error }:
		return HintsOf(e.Unwrap())
	case interface{ Unwrap() []error }:
		var hints []string
		for _, one := range e.Unwrap() {
			for _, hint := range HintsOf(one) {
				if !slices.Contains(hints, hint) {
					hints = append(hints, hint)
				}
			}
		}
		return hints
	}
	return nil
}

// Hint adds a hint to e and returns e.
func (e *Error) Hint(format string, args ...any) *Error {
	e.Hints = append(e.Hints, fmt.Sprintf(format, args...))
	return e
}

// Caller converts what this machine prints to what works on the machine of a user who has reached
// this one from there.
type Caller struct {
	Line func(line string) string // converts a command
	Name func(name string) string // converts the name of a session
}

// Reached is the machine that the running command was called from, nil for this one. It is set
// before the command begins.
var Reached *Caller

// Line returns a command that works when pasted, for texts other than hints. Hints are converted by
// the machine that shows them.
func Line(format string, args ...any) string {
	line := fmt.Sprintf(format, args...)
	if Reached != nil {
		return Reached.Line(line)
	}
	return line
}

// Name returns the name of a session as the user has to write it.
func Name(session string) string {
	if Reached != nil {
		return Reached.Name(session)
	}
	return session
}

// WithHints adds hints to an error.
func WithHints(err error, hints ...string) error {
	var e *Error
	if !errors.As(err, &e) {
		e = New(Failed, "%w", err)
	}
	e.Hints = append(e.Hints, hints...)
	return e
}

// Counted returns a number with its noun, which gets an s for numbers other than 1.
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Quote quotes text for a shell, if that is needed.
func Quote(text string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,=", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !safe(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
