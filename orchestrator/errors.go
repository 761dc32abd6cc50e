package orchestrator

import (
	"errors"
	"fmt"
)

// Kind says how a failed command ends; its number is the exit code of paw
// (docs/reference.md).
type Kind int

// The kinds of failure a use case can end with.
const (
	KindError       Kind = 1   // something went wrong
	KindUsage       Kind = 2   // a flag, a CLI or a name that cannot be
	KindRefused     Kind = 3   // refused to protect work
	KindWaiting     Kind = 4   // an agent waits for the user
	KindAgentFailed Kind = 5   // a turn of an agent failed
	KindUnconfirmed Kind = 6   // a prompt was typed and nothing says that it arrived
	KindTimeout     Kind = 7   // the time to wait is over
	KindNotFound    Kind = 10  // no such session or agent
	KindLocked      Kind = 11  // held by another paw or by a live agent
	KindMissing     Kind = 12  // git, tmux or the CLI is missing or too old
	KindInterrupted Kind = 130 // by the user, as shells count SIGINT
)

// Error is a failure as the user sees it: what is wrong with which object, and
// commands that work when pasted.
type Error struct {
	Kind    Kind
	Message string   // "<object>: <what>", lower case, no full stop
	Hints   []string // each one a command, or a command with a few words before it
	Err     error    // the cause; its text is already part of Message
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

func failf(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// hintsOf are the commands that come with an error.
func hintsOf(err error) []string {
	var e *Error
	if errors.As(err, &e) {
		return e.Hints
	}
	return nil
}

// hint adds a command to e and returns e.
func (e *Error) hint(format string, args ...any) *Error {
	e.Hints = append(e.Hints, fmt.Sprintf(format, args...))
	return e
}
