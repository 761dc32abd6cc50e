package turn

import (
	"fmt"
	"io/fs"
	"strings"
)

// TransitionError says that a turn's state does not allow a call.
type TransitionError struct {
	Number int
	From   State
	Event  string // the refused event as in the log, such as START or NOTE
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

// ExistsError says that a turn's number already has a log. ExistsError is an fs.ErrExist.
type ExistsError struct {
	Number int
	Path   string // path of the existing log
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("turn %d: already has a log, %s", e.Number, e.Path)
}

// Is makes the error an fs.ErrExist.
func (e *ExistsError) Is(target error) bool { return target == fs.ErrExist }

// NumberError says that a turn number is below 1. Turns count from 1; 0 is the start of the
// session.
type NumberError struct{ Number int }

func (e *NumberError) Error() string {
	return fmt.Sprintf("turn %d: numbers begin at 1", e.Number)
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
