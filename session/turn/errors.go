package turn

import (
	"fmt"
	"io/fs"
	"strings"
)

// TransitionError is a call that the state of the turn does not allow.
type TransitionError struct {
	Number int
	From   State
	Event  string // the log's word for what was tried: START, EXECUTE, INPUT, CHILDREN, NOTE, END or ABORT
}

func (e *TransitionError) Error() string {
	return fmt.Sprintf("turn %d: %s is not possible, the turn is %s", e.Number, e.Event, stateWords[e.From])
}

var stateWords = map[State]string{
	Initial:    "not started",
	InProgress: "in progress",
	Finished:   "finished",
	Aborted:    "aborted",
}

// ExistsError is a turn whose number has a log already. It is an fs.ErrExist.
type ExistsError struct {
	Number int
	Path   string // the log that is there
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("turn %d: already has a log, %s", e.Number, e.Path)
}

// Is makes it an fs.ErrExist.
func (e *ExistsError) Is(target error) bool { return target == fs.ErrExist }

// TypeError is a transition type that breaks the rule of Type.Validate.
type TypeError struct{ Type Type }

func (e *TypeError) Error() string {
	return fmt.Sprintf("turn type %q: only lower-case letters, digits, '_', '.' and '-' are allowed, a letter first, at most %d",
		string(e.Type), maxType)
}

// NumberError is a turn number below 1: turns count from 1, 0 is the start of the session.
type NumberError struct{ Number int }

func (e *NumberError) Error() string {
	return fmt.Sprintf("turn %d: numbers begin at 1", e.Number)
}

// Abort says how a turn failed. It is an error, and Turn.Abort hands it back as one.
type Abort struct {
	Reason    Reason // "" counts as ReasonError
	ErrorType string // the CLI's word for the error, such as rate_limit
	Message   string
	Limit     *Limit // that the error is about, nil for all others
	Trace     string // where it happened, any number of lines
	Cause     error  // the error behind it, if there is one; its text is the message where Message is ""
}

func (a *Abort) Error() string {
	parts := []string{string(a.reason())}
	for _, part := range []string{a.ErrorType, a.message()} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause.
func (a *Abort) Unwrap() error { return a.Cause }

func (a *Abort) reason() Reason {
	if a.Reason == "" {
		return ReasonError
	}
	return a.Reason
}

func (a *Abort) message() string {
	if a.Message == "" && a.Cause != nil {
		return a.Cause.Error()
	}
	return a.Message
}
