package turn

import (
	"fmt"
	"io/fs"
	"strings"
)

// State is the state of a turn.
type State string

// States of a turn. Finished and Aborted are final.
const (
	Initial    State = "initial"     // nothing is written yet
	InProgress State = "in_progress" // started; the CLI is at work or waits for the user
	Finished   State = "finished"    // the answer is complete
	Aborted    State = "aborted"     // ended in another way, see Reason
)

// Events of a turn log, one for each call of Turn.
const (
	eventStart    = "START"
	eventExecute  = "EXECUTE"
	eventInput    = "INPUT"
	eventLimit    = "LIMIT"
	eventChildren = "CHILDREN"
	eventNote     = "NOTE"
	eventHold     = "HOLD"
	eventEnd      = "END"
	eventAbort    = "ABORT"
)

// transitions is the whole state machine; anything else is a *TransitionError.
var transitions = map[State]map[string]State{
	Initial: {eventStart: InProgress},
	InProgress: {
		eventExecute:  InProgress,
		eventInput:    InProgress,
		eventLimit:    InProgress,
		eventChildren: InProgress,
		eventNote:     InProgress,
		eventHold:     InProgress,
		eventEnd:      Finished,
		eventAbort:    Aborted,
	},
	// A note may follow the end, for example about a tag that was made again.
	Finished: {eventNote: Finished},
	Aborted:  {eventNote: Aborted},
}

func next(from State, event string) (State, bool) {
	to, ok := transitions[from][event]
	return to, ok
}

// Reason says why a turn was aborted.
type Reason string

// Reasons that paw uses.
const (
	ReasonInterrupted Reason = "interrupted" // by the user, or another prompt began before the end was seen
	ReasonError       Reason = "error"       // the CLI gave up, for example on an error of its model's API
	ReasonCrash       Reason = "crash"       // the CLI or the machine died
	ReasonStopped     Reason = "stopped"     // paw ended the CLI
)

// Type says what made the CLI work.
type Type string

// Types that paw uses; a script may use any valid one.
const (
	TypePrompt       Type = "prompt"            // somebody typed or sent a prompt
	TypeNotification Type = "task-notification" // the CLI prompted itself, for example after a background task
	TypeMessage      Type = "message"           // another session sent the prompt; nobody typed it here
	TypeStopHook     Type = "stop-hook"         // a hook of the user sent the CLI on after its end
)

// maxType limits a type, which is part of a file name, in characters.
const maxType = 64

// typeLetters lists the characters allowed in a type.
const typeLetters = "abcdefghijklmnopqrstuvwxyz0123456789_.-"

// Validate accepts a type that begins with a lower-case letter, followed by lower-case letters,
// digits, '_', '.' and '-', at most 64 in all. The error is a *TypeError.
func (t Type) Validate() error {
	if t == "" || len(t) > maxType || t[0] < 'a' || t[0] > 'z' || strings.Trim(string(t), typeLetters) != "" {
		return &TypeError{Type: t}
	}
	return nil
}

// TypeError says that a type does not follow the rule of Type.Validate.
type TypeError struct{ Type Type }

func (e *TypeError) Error() string {
	return fmt.Sprintf("turn type %q: only lower-case letters, digits, '_', '.' and '-' are allowed, a letter first, at most %d",
		string(e.Type), maxType)
}

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
