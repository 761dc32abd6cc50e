// Package turn is about single turns: one prompt and everything until the CLI's answer is finished. It has the state
// machine of a turn, its append-only log, the names of tags and refs that mark turns in git, and the decision what an
// event of a CLI means for the turn that is open.
//
// It knows nothing of git, tmux or any CLI, and starts no process. What is true of a turn is what its log says: a Turn
// reads the log again before and after each of its own writes, since the hooks of a CLI are processes of their own.
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
	log    *log // nil in Initial
}

// Start is what a turn begins with.
type Start struct {
	Type         Type   // TypePrompt for a typed prompt
	Prompt       string // kept byte for byte
	Launch       string // the launch of the CLI it belongs to
	Conversation string
	TurnID       string // the CLI's own id of the turn, "" where it has none
	Commit       string // HEAD at the start
	// At is when it began, where only the CLI's own record tells; zero is now.
	At time.Time
	// Follows says that it began the moment the turn before it ended: the worktree was the same.
	Follows bool
}

// End is how a turn finishes.
type End struct {
	Outcome    string // such as success
	CommitHash string // HEAD at the end, where the tag goes
	Snapshot   string // commit of the worktree's whole state
	Message    string
}

// New returns a turn in Initial; nothing is written before Start. Numbers count from 1.
func New(d Dir, number int, now func() time.Time) *Turn {
	return &Turn{dir: d, number: number, now: now}
}

// Open returns the turn of an existing log, in the state that the log says.
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

// Start begins the turn: it makes the log, and the folder where that is missing. If the number has a log already, the
// error is an *ExistsError and that log stays as it is. A bad type is a *TypeError, a number below 1 a *NumberError;
// after any error the turn is still in Initial.
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
	// The file itself is exclusive; this finds the same number under another type.
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

// Execute logs what the CLI is asked to do. It may be called any number of times.
func (t *Turn) Execute(description string) error {
	return t.append(line{Event: eventExecute, Description: text(description)})
}

// Joined logs a prompt that the CLI took into the turn. turnID is the id that the CLI calls the turn by from now on, ""
// for the one it has; conversation is the one that was prompted, where the CLI has several at work.
func (t *Turn) Joined(prompt, turnID, conversation string) error {
	return t.append(line{Event: eventExecute, Description: text(prompt), TurnID: text(turnID), Conversation: text(conversation)})
}

// Hold logs that the turn ends here, with that HEAD, snapshot and answer, unless the CLI goes on with it. A later call
// replaces an earlier one.
func (t *Turn) Hold(e End) error {
	return t.append(line{
		Event: eventHold, CommitHash: text(e.CommitHash), Snapshot: text(e.Snapshot), Message: text(e.Message),
	})
}

// Await logs that the CLI has answered while so many subagents still work for the turn, which goes on until they have ended.
func (t *Turn) Await(subagents int, answer string) error {
	return t.append(line{Event: eventHold, Subagents: subagents, Message: text(answer)})
}

// Input logs that the CLI waits for the user, and for what; conversation is the one that asks, where the CLI has several at work.
func (t *Turn) Input(question, conversation string) error {
	return t.append(line{Event: eventInput, Question: text(question), Conversation: text(conversation)})
}

// Limited logs that a usage limit is reached and that the CLI goes on by itself once it is lifted; message is what it says.
func (t *Turn) Limited(l *Limit, message string) error {
	if l == nil {
		l = &Limit{}
	}
	e := line{Event: eventLimit, Message: text(message)}
	l.write(&e)
	return t.append(e)
}

// Resumed logs that the user answered, as an execution.
func (t *Turn) Resumed() error { return t.Execute("input answered") }

// Children logs agents that the turn started. They are added to those it has.
func (t *Turn) Children(ids []string) error {
	return t.append(line{Event: eventChildren, Children: texts(ids)})
}

// Note logs a remark. It is allowed in every state after Initial, also at the end, such as for a tag that was made
// late.
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

// Abort ends the turn badly and hands the reason back as the error: it never returns nil. Where the abort itself is
// not possible or cannot be written, the error is both that and the reason.
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

// Record returns what the log said as of the last call. It is a copy.
func (t *Turn) Record() Record {
	if t.log == nil {
		return Record{Number: t.number, State: Initial}
	}
	return t.log.view()
}

// Limit is what a CLI says of a usage limit that is reached: of a subscription, of a key.
type Limit struct {
	Until time.Time // when it is lifted, zero where the CLI does not say
}

// write puts the limit into an event.
func (l *Limit) write(e *line) {
	if l == nil {
		return
	}
	e.Limited = true
	if !l.Until.IsZero() {
		e.Until = &l.Until
	}
}

// limit is what write put there.
func (e line) limit() *Limit {
	switch {
	case !e.Limited:
		return nil
	case e.Until == nil:
		return &Limit{}
	}
	return &Limit{Until: *e.Until}
}

// State is where a turn stands.
type State string

// The states of a turn. Finished and Aborted are final.
const (
	Initial    State = "initial"     // made, nothing is written yet
	InProgress State = "in_progress" // started, the CLI is at work or waits for the user
	Finished   State = "finished"    // the answer is complete
	Aborted    State = "aborted"     // it ended in another way, see Reason
)

// Type is the kind of transition that a turn is: what made the CLI work.
type Type string

// The types that paw itself gives; a script may give any valid one.
const (
	TypePrompt       Type = "prompt"            // somebody typed or sent a prompt
	TypeNotification Type = "task-notification" // the CLI prompted itself, such as at the end of a background task
	TypeMessage      Type = "message"           // another session sent it: nobody typed it here
	TypeStopHook     Type = "stop-hook"         // a hook of the user sent the CLI on after its end
)

// maxType bounds a type in characters: it is part of a file name.
const maxType = 64

// typeLetters are the characters of a type.
const typeLetters = "abcdefghijklmnopqrstuvwxyz0123456789_.-"

// Validate checks that the type begins with a lower-case letter and goes on with lower-case letters, digits, '_', '.'
// and '-', at most 64 in all. The error is a *TypeError.
func (t Type) Validate() error {
	if t == "" || len(t) > maxType || t[0] < 'a' || t[0] > 'z' || strings.Trim(string(t), typeLetters) != "" {
		return &TypeError{Type: t}
	}
	return nil
}

// Reason says why a turn was aborted.
type Reason string

// The reasons that paw itself gives.
const (
	ReasonInterrupted Reason = "interrupted" // by the user, or another prompt began before its end was seen
	ReasonError       Reason = "error"       // the CLI gave up, such as on an error of its model's API
	ReasonCrash       Reason = "crash"       // the CLI or the machine died
	ReasonStopped     Reason = "stopped"     // paw ended the CLI
)
