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
	"time"
)

// Turn owns the lifecycle of one turn and its log:
//
//	Initial --Start--> InProgress --Execute, Joined, Input, Resumed, Children, Hold, any number of times--> InProgress
//	InProgress --Finish--> Finished
//	InProgress --Abort--> Aborted
//
// Every other call is a *TransitionError. Several processes may hold the same turn: each call first
// reads what the others wrote, and of those that end a turn at the same time exactly one succeeds.
// Within a process one goroutine at a time may use it.
type Turn struct {
	dir    Dir
	number int
	now    func() time.Time
	log    *log // nil while the turn is in Initial
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
	files, err := t.dir.files()
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.number == t.number {
			return &ExistsError{Number: t.number, Path: filepath.Join(t.dir.Path, f.name)}
		}
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

// Execute logs a task given to the CLI, "" where it goes on and nobody asks it for more. Execute may be called any
// number of times.
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
	return t.append(line{Event: eventLimit, Message: text(message), Limit: l})
}

// Resumed logs that the user has answered, as an EXECUTE without a task.
func (t *Turn) Resumed() error { return t.Execute("") }

// Children logs agents that the turn has started, in addition to earlier ones.
func (t *Turn) Children(ids []string) error {
	return t.append(line{Event: eventChildren, Children: texts(ids)})
}

// Note logs a remark. Note is allowed in every state after Initial, also after the end, for example
// about a late tag.
func (t *Turn) Note(remark string) error {
	return t.append(line{Event: eventNote, Text: text(remark)})
}

// Moved is Note for a CLI that works in another folder from now on, "" for its worktree.
func (t *Turn) Moved(folder, remark string) error {
	if folder == "" {
		folder = "."
	}
	return t.append(line{Event: eventNote, Text: text(remark), Folder: text(folder)})
}

// Stray is Note for the worktree with that name in the repository's folder worktrees, see Record.Strays.
func (t *Turn) Stray(name, remark string) error {
	return t.append(line{Event: eventNote, Text: text(remark), Strays: []text{text(name)}})
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
	err := t.append(line{
		Event: eventAbort, Reason: text(a.reason()), ErrorType: text(a.ErrorType),
		Message: text(a.message()), Trace: text(a.Trace), Limit: a.Limit,
	})
	if err != nil {
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
