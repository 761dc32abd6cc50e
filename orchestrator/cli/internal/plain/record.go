// Package plain is the conversation that the CLIs in paw's own binary hold with their user: a record
// of JSON lines, hooks that report its events, and a dialogue at a terminal that shows lines of text
// and an input line.
package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/session/history"
	"paw/session/turn"
)

// Events of a conversation, with the fields that each has. A turn is closed by TurnEnded,
// Interrupted or Failed; one without any of them was cut off by the end of the program.
const (
	Started     = "start"      // the program runs: Directory, PID
	TurnStarted = "turn_start" // Prompt
	Waiting     = "waiting"    // ID, Question, Details, Options: the dialog is open
	Answered    = "answered"   // ID, Question, Answer
	TurnEnded   = "turn_end"   // Answer: all the agent's texts
	Interrupted = "interrupted"
	Failed      = "error" // Error, Until for a usage limit, and Code if the program ends with the turn
	Exited      = "exit"  // Code
)

// Types of lines that are no whole message.
const (
	TypeEvent  = "event"
	TypeStep   = "step"   // Step, Content: a step of a prompt begins, a part of no message
	TypeChunk  = "chunk"  // Role, Content: a part of a message
	TypeTool   = "tool"   // ID, Content, Input: a call of a tool
	TypeResult = "result" // ID, Content: what the tool gave
	TypeQueued = "queued" // Content: a prompt that waits behind the running turn
	TypeNotice = "notice" // Content: words of the program to the user

	TypeSession = "session" // Content: what the program notes about the conversation
	TypeUsage   = "usage"   // Content: what the turn has used
)

// aside are the types of lines that are no messages.
var aside = []string{TypeEvent, TypeQueued, TypeSession, TypeUsage}

// Entry is one line of a conversation's file: a message (Role, Content), or what its Type says.
type Entry struct {
	Type      string       `json:"type,omitempty"`
	Step      string       `json:"step,omitempty"`
	ID        string       `json:"id,omitempty"` // of a question or of a call of a tool
	Role      history.Role `json:"role,omitempty"`
	Content   string       `json:"content,omitempty"`
	Event     string       `json:"event,omitempty"`
	Turn      int          `json:"turn,omitempty"` // goes on counting when a conversation is resumed
	Directory string       `json:"directory,omitempty"`
	PID       int          `json:"pid,omitempty"`
	Prompt    string       `json:"prompt,omitempty"` // only in a report: in the file a message has the prompt
	Source    string       `json:"source,omitempty"` // of Started: as a turn.Event has it
	Question  string       `json:"question,omitempty"`
	Details   string       `json:"details,omitempty"`
	Options   []cli.Option `json:"answers,omitempty"` // answers of a question, where there are others than yes and no
	Input     string       `json:"input,omitempty"`
	Answer    string       `json:"answer,omitempty"`
	Error     string       `json:"error,omitempty"`
	Code      *int         `json:"code,omitempty"`
	Until     *time.Time   `json:"limited_until,omitempty"`
	Timestamp time.Time    `json:"timestamp"`
}

// TurnID returns the id of a turn: the id of its conversation, and the turn's number.
func TurnID(conversation string, turn int) string { return fmt.Sprintf("%s/%d", conversation, turn) }

// Record is an append-only file of entries. Each entry is one write, so that a crash tears at most
// the last line.
type Record struct {
	ID, Path string
	Turn     int   // number of the newest turn
	Err      error // first failure of an append

	// Report is called with every event after it was recorded, in order and never concurrently; it
	// may block. nil means that no hook program listens.
	Report func(Entry)

	Copy io.Writer // gets each line, too; may be nil

	resumed []Entry // entries from before this run
	forked  bool    // the resumed entries were copied from another conversation
	file    *os.File
	writing sync.Mutex
	torn    bool // the file ends within a line
}

// UnknownError says that the conversation to resume does not exist.
type UnknownError struct{ ID string }

func (e *UnknownError) Error() string { return "No conversation found with session ID: " + e.ID }

// ValidID matches ids that are safe as file names.
var ValidID = lazyregexp.New(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,127}$`)

// Fork creates a conversation that begins with a copy of another one.
func Fork(folder, id, from string) (*Record, error) {
	if !ValidID().MatchString(from) {
		return nil, &UnknownError{from}
	}
	content, err := os.ReadFile(filepath.Join(folder, from+".jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &UnknownError{from}
	}
	if err != nil {
		return nil, fmt.Errorf("conversation %s: %w", from, err)
	}
	r, err := Open(folder, id, false)
	if err != nil {
		return nil, err
	}
	if _, err := r.file.Write(content); err != nil {
		r.Close()
		return nil, fmt.Errorf("conversation %s: %w", id, err)
	}
	r.forked = true
	r.take(content)
	return r, nil
}

// Open creates a conversation, or opens an existing one to resume it.
func Open(folder, id string, resume bool) (*Record, error) {
	if resume && !ValidID().MatchString(id) {
		return nil, &UnknownError{id}
	}
	r := &Record{ID: id, Path: filepath.Join(folder, id+".jsonl")}
	var content []byte
	err := os.MkdirAll(folder, 0o700)
	mode := os.O_CREATE | os.O_EXCL
	if resume {
		mode = 0
		content, err = os.ReadFile(r.Path)
	}
	if err == nil {
		r.file, err = os.OpenFile(r.Path, os.O_WRONLY|os.O_APPEND|mode, 0o600)
	}
	switch {
	case resume && errors.Is(err, fs.ErrNotExist):
		return nil, &UnknownError{id}
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("conversation %s: exists already", id)
	case err != nil:
		return nil, fmt.Errorf("conversation %s: %w", id, err)
	}
	r.take(content)
	return r, nil
}

// take continues after the entries in content.
func (r *Record) take(content []byte) {
	r.resumed = Parse(content)
	r.torn = len(content) > 0 && !bytes.HasSuffix(content, []byte("\n"))
	for _, e := range r.resumed {
		r.Turn = max(r.Turn, e.Turn)
	}
}

// Parse returns the valid entries: a run that was killed while it wrote leaves half a line, which
// stays in the file.
func Parse(content []byte) []Entry {
	var entries []Entry
	for line := range bytes.Lines(content) {
		var e Entry
		if json.Unmarshal(line, &e) == nil {
			entries = append(entries, e)
		}
	}
	return entries
}

// Joined returns entries with the chunks of each message in one.
func Joined(entries []Entry) []Entry {
	var all []Entry
	for _, e := range entries {
		if n := len(all); n > 0 && e.Type == TypeChunk && all[n-1].Type == TypeChunk {
			all[n-1].Content += e.Content
		} else {
			all = append(all, e)
		}
	}
	return all
}

// Append writes an entry. A failure is kept in Err, so that the turn can report that it is not
// recorded.
func (r *Record) Append(e Entry) {
	r.writing.Lock()
	defer r.writing.Unlock()
	if e.Timestamp.IsZero() {
		e.Timestamp = time.Now().UTC()
	}
	line, err := json.Marshal(e)
	if err == nil {
		line = append(line, '\n')
		if r.torn {
			line = append([]byte{'\n'}, line...)
		}
		_, err = r.file.Write(line)
		r.torn = err != nil
	}
	if r.Copy != nil {
		_, _ = r.Copy.Write(line)
	}
	if err != nil && r.Err == nil {
		r.Err = fmt.Errorf("conversation %s: %w", r.ID, err)
	}
}

// Take records a turn that work does and of which it returns the whole answer. An Exit without a reason, and any Signal but the user's
// interrupt, leave the turn without an end.
func (r *Record) Take(t *Turn, work func() (answer string, err error)) error {
	r.Turn++
	r.Emit(Entry{Event: TurnStarted, Prompt: t.Prompt})
	r.Message(history.RoleUser, t.Prompt)
	answer, err := work()
	if err == nil {
		err = r.Err
	}
	exit, exits := errors.AsType[Exit](err)
	switch {
	case err == nil:
		r.Emit(Entry{Event: TurnEnded, Answer: answer})
	case errors.Is(err, Signal{syscall.SIGINT}):
		r.Emit(Entry{Event: Interrupted})
	case exits && exit.Why == "" || errors.As(err, new(Signal)):
	default:
		e := Entry{Event: Failed, Error: err.Error()}
		if exits {
			e.Code = &exit.Code
		}
		if limit, ok := errors.AsType[Limit](err); ok {
			e.Until = &limit.Until
		}
		r.Emit(e)
	}
	return err
}

// Message records a message of the user or the agent.
func (r *Record) Message(role history.Role, content string) {
	r.Append(Entry{Role: role, Content: content})
}

// Emit records an event and reports it to the hook program.
func (r *Record) Emit(e Entry) {
	switch {
	case e.Event != Started:
	case r.forked:
		e.Source = turn.SourceFork
	case len(r.resumed) > 0:
		e.Source = turn.SourceResume
	default:
		e.Source = turn.SourceStartup
	}
	e.Type, e.Turn, e.Timestamp = TypeEvent, r.Turn, time.Now().UTC()
	line := e
	line.Prompt = ""
	r.Append(line)
	if r.Report != nil {
		r.Report(e)
	}
}

// Close closes the file.
func (r *Record) Close() { _ = r.file.Close() }

// hookTimeout ends a hook that hangs. The agent waits for its hooks, as other agents do, so that
// the begin and end of a turn are known before anything else happens.
const hookTimeout = time.Minute

// ReportTo calls program for every event, as `program hook cli KIND` in dir, with a turn.Event on its
// standard input. A program without an absolute path is not called.
func (r *Record) ReportTo(program, cli, dir string, env []string) {
	if filepath.IsAbs(program) {
		r.Report = func(e Entry) { r.callHook(e, program, cli, dir, env) }
	}
}

// callHook runs the hook program and ignores its outcome. The hook has a process group of its own:
// a signal that ends the agent must not end its last report.
func (r *Record) callHook(e Entry, program, cli, dir string, env []string) {
	event := eventOf(e, r.ID, r.Path)
	ctx, cancel := context.WithTimeout(context.Background(), hookTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "hook", cli, string(event.Kind))
	cmd.Dir, cmd.Env = dir, env
	if _, err := os.Stat(dir); err != nil {
		cmd.Dir = "/" // no program can start in a deleted folder
	}
	cmd.Stdin = bytes.NewReader(hooks.JSON(event))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	_ = cmd.Run()
}
