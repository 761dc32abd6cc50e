// Package turn is about single turns: one prompt and everything until the CLI's answer is finished.
// The package has the state machine of a turn, its append-only log, the names of tags and refs that
// mark turns in git, and the decision what an event of a CLI means for the open turn.
//
// The package knows nothing of git, tmux or any CLI, and starts no process. A turn is what its log
// says: a Turn reads the log again before and after each of its own writes, since the hooks of a
// CLI are processes of their own.
package turn

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Turn owns the lifecycle of one turn and its log:
//
//	Initial --Start--> InProgress --Execute, Joined, Input, Resumed, Children, Hold, any number of times--> InProgress
//	InProgress --Finish--> Finished
//	InProgress --Abort--> Aborted
//
// Every other call is a *TransitionError. Several processes may hold the same turn: each call first reads what the
// others wrote, and of those that end a turn at the same time exactly one succeeds. Within a process one goroutine at
// a time may use it.
type Turn struct {
	dir    Dir
	number int
	now    func() time.Time
	log    *log // nil while the turn is in Initial
}

// Start holds what a turn begins with.
type Start struct {
	Type         Type   // TypePrompt for a typed prompt
	Prompt       string // text of the prompt, byte for byte
	Launch       string // launch of the CLI that the turn belongs to
	Conversation string
	TurnID       string // the CLI's own id of the turn, "" if it has none
	Commit       string // commit of HEAD at the start of the turn
	// At is when the turn began, if only the CLI's own record tells; zero means now.
	At time.Time
	// Follows says that the turn began the moment the previous one ended, with the same worktree
	// state.
	Follows bool
}

// End holds what a turn finishes with.
type End struct {
	Outcome    string // word for the result, for example success
	CommitHash string // HEAD at the end, which gets the tag
	Snapshot   string // commit of the worktree's whole state
	Message    string
}

// New returns a turn in Initial; Start writes the log. Numbers count from 1.
func New(d Dir, number int, now func() time.Time) *Turn {
	return &Turn{dir: d, number: number, now: now}
}

// Open returns the turn of an existing log, in the log's state.
func Open(path string, now func() time.Time) (*Turn, error) {
	number, typ, ok := ParseLogName(filepath.Base(path))
	if !ok {
		return nil, fmt.Errorf("%s: not the name of a turn log", path)
	}
	l := newLog(path, number, typ)
	if err := l.load(); err != nil {
		return nil, err
	}
	return &Turn{dir: Dir{Path: filepath.Dir(path)}, number: number, now: now, log: l}, nil
}

// Start begins the turn: it creates the log and, if needed, the folder. If the number has a log
// already, the error is an *ExistsError, and that log is unchanged. A bad type is a *TypeError, a
// number below 1 a *NumberError. After an error the turn is still in Initial.
func (t *Turn) Start(s Start) error {
	if t.log != nil {
		return &TransitionError{Number: t.number, From: t.State(), Event: eventStart}
	}
	if t.number < 1 {
		return &NumberError{Number: t.number}
	}
	if err := s.Type.Validate(); err != nil {
		return err
	}
	if err := os.MkdirAll(t.dir.Path, 0o700); err != nil {
		return err
	}
	// Creating the file is exclusive; this finds a log of another type with the same number.
	taken, err := t.dir.taken(t.number)
	if err != nil {
		return err
	}
	if taken != "" {
		return &ExistsError{Number: t.number, Path: taken}
	}
	l := newLog(filepath.Join(t.dir.Path, LogName(t.number, s.Type)), t.number, s.Type)
	began := t.now
	if !s.At.IsZero() {
		began = func() time.Time { return s.At }
	}
	err = l.create(line{
		Event: eventStart, At: stamp(began), Number: t.number, Type: s.Type,
		Launch: text(s.Launch), Conversation: text(s.Conversation), TurnID: text(s.TurnID),
		Commit: text(s.Commit), Follows: s.Follows, Prompt: text(s.Prompt),
	})
	if err != nil {
		return err
	}
	t.log = l
	return nil
}

// Execute logs a task given to the CLI. Execute may be called any number of times.
func (t *Turn) Execute(description string) error {
	return t.append(line{Event: eventExecute, Description: text(description)})
}

// Joined logs a prompt that the CLI added to the turn. turnID is the CLI's new id for the turn, ""
// if unchanged; conversation is the prompted one, if the CLI has several at work.
func (t *Turn) Joined(prompt, turnID, conversation string) error {
	return t.append(line{Event: eventExecute, Description: text(prompt), TurnID: text(turnID), Conversation: text(conversation)})
}

// Hold logs that the turn ends here, with that HEAD, snapshot and answer, unless the CLI goes on. A
// later call replaces an earlier one.
func (t *Turn) Hold(e End) error {
	return t.append(line{
		Event: eventHold, CommitHash: text(e.CommitHash), Snapshot: text(e.Snapshot), Message: text(e.Message),
	})
}

// Await logs that the CLI has answered while subagents still work for the turn, which goes on until
// they have ended.
func (t *Turn) Await(subagents int, answer string) error {
	return t.append(line{Event: eventHold, Subagents: subagents, Message: text(answer)})
}

// Input logs the question that the CLI waits for the user to answer; conversation is the asking
// one, if the CLI has several at work.
func (t *Turn) Input(question, conversation string) error {
	return t.append(line{Event: eventInput, Question: text(question), Conversation: text(conversation)})
}

// Limited logs that a usage limit is reached after which the CLI will go on by itself; message is
// the CLI's text about it.
func (t *Turn) Limited(l *Limit, message string) error {
	if l == nil {
		l = &Limit{}
	}
	e := line{Event: eventLimit, Message: text(message)}
	l.write(&e)
	return t.append(e)
}

// Resumed logs that the user has answered, as an EXECUTE.
func (t *Turn) Resumed() error { return t.Execute("input answered") }

// Children logs agents that the turn has started, in addition to earlier ones.
func (t *Turn) Children(ids []string) error {
	return t.append(line{Event: eventChildren, Children: texts(ids)})
}

// Note logs a remark. Note is allowed in every state after Initial, also after the end, for example
// about a late tag.
func (t *Turn) Note(remark string) error {
	return t.append(line{Event: eventNote, Text: text(remark)})
}

// Finish ends the turn well and returns its result, with the times of the log.
func (t *Turn) Finish(e End) (Result, error) {
	err := t.append(line{
		Event: eventEnd, Outcome: text(e.Outcome), CommitHash: text(e.CommitHash), Snapshot: text(e.Snapshot),
		Message: text(e.Message),
	})
	if err != nil {
		return Result{}, err
	}
	result, _ := t.Record().Result()
	return result, nil
}

// Abort ends the turn badly and returns the abort as an error, never nil. If the abort is not
// allowed or cannot be written, the error wraps both.
func (t *Turn) Abort(a *Abort) error {
	if a == nil {
		a = &Abort{}
	}
	e := line{
		Event: eventAbort, Reason: text(a.reason()), ErrorType: text(a.ErrorType),
		Message: text(a.message()), Trace: text(a.Trace),
	}
	a.Limit.write(&e)
	if err := t.append(e); err != nil {
		return fmt.Errorf("%w; to be aborted: %w", err, a)
	}
	return a
}

func (t *Turn) append(e line) error {
	if t.log == nil {
		return &TransitionError{Number: t.number, From: Initial, Event: e.Event}
	}
	e.At = stamp(t.now)
	return t.log.append(e)
}

// State returns the state as of the last call.
func (t *Turn) State() State { return t.Record().State }

// Number returns the number of the turn.
func (t *Turn) Number() int { return t.number }

// Path returns the log file, "" in Initial.
func (t *Turn) Path() string {
	if t.log == nil {
		return ""
	}
	return t.log.path
}

// Record returns a copy of the log's content as of the last call.
func (t *Turn) Record() Record {
	if t.log == nil {
		return Record{Number: t.number, State: Initial}
	}
	return t.log.view()
}

// Limit is a usage limit that a CLI reports as reached, of a subscription or an API key.
type Limit struct {
	Until time.Time // end of the limit, zero if the CLI does not say
}

// write sets the fields of an event for the limit.
func (l *Limit) write(e *line) {
	if l == nil {
		return
	}
	e.Limited = true
	if !l.Until.IsZero() {
		e.Until = &l.Until
	}
}

// limit returns the limit in an event's fields, nil for none.
func (e line) limit() *Limit {
	switch {
	case !e.Limited:
		return nil
	case e.Until == nil:
		return &Limit{}
	}
	return &Limit{Until: *e.Until}
}

// State is the state of a turn.
type State string

// States of a turn. Finished and Aborted are final.
const (
	Initial    State = "initial"     // nothing is written yet
	InProgress State = "in_progress" // started; the CLI is at work or waits for the user
	Finished   State = "finished"    // the answer is complete
	Aborted    State = "aborted"     // ended in another way, see Reason
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

// Reason says why a turn was aborted.
type Reason string

// Reasons that paw uses.
const (
	ReasonInterrupted Reason = "interrupted" // by the user, or another prompt began before the end was seen
	ReasonError       Reason = "error"       // the CLI gave up, for example on an error of its model's API
	ReasonCrash       Reason = "crash"       // the CLI or the machine died
	ReasonStopped     Reason = "stopped"     // paw ended the CLI
)
