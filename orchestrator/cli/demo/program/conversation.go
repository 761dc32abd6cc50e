package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/session/history"
)

// Events of a conversation, with the fields that each has. A turn is closed by turnEnded,
// interrupted or failed; one without any of them was cut off by the end of the program.
const (
	started     = "start"      // the program runs: Directory, PID
	turnStarted = "turn_start" // Prompt
	waiting     = "waiting"    // Question: the dialog is open
	answered    = "answered"   // Question, Answer ("y" or "n")
	turnEnded   = "turn_end"   // Answer: all the agent's texts
	interrupted = "interrupted"
	failed      = "error" // Error, and Until for a usage limit
	exited      = "exit"  // Code
)

// TypeStep is the type of a line that a step of a prompt begins. The step is a part of no message.
const TypeStep = "step"

// Entry is one line of a conversation's file: a message (Role, Content), an event (Type is "event") or a
// step (Step, Content).
type Entry struct {
	Type      string       `json:"type,omitempty"`
	Step      string       `json:"step,omitempty"`
	Role      history.Role `json:"role,omitempty"`
	Content   string       `json:"content,omitempty"`
	Event     string       `json:"event,omitempty"`
	Turn      int          `json:"turn,omitempty"` // goes on counting when a conversation is resumed
	Directory string       `json:"directory,omitempty"`
	PID       int          `json:"pid,omitempty"`
	Prompt    string       `json:"prompt,omitempty"` // only in a report: in the file a message has the prompt
	Question  string       `json:"question,omitempty"`
	Answer    string       `json:"answer,omitempty"`
	Error     string       `json:"error,omitempty"`
	Code      *int         `json:"code,omitempty"`
	Until     *time.Time   `json:"limited_until,omitempty"`
	Timestamp time.Time    `json:"timestamp"`
}

// TurnID returns the id of a turn: the id of its conversation, and the turn's number.
func TurnID(conversation string, turn int) string { return fmt.Sprintf("%s/%d", conversation, turn) }

// conversation is an append-only file of entries. Each entry is one write, so that a crash tears at
// most the last line.
type conversation struct {
	id, path string
	resumed  []Entry // entries from before this run
	forked   bool    // the resumed entries were copied from another conversation
	turn     int     // number of the newest turn
	file     *os.File
	torn     bool  // the file ends within a line
	err      error // first failure of an append
}

// unknownError says that the conversation to resume does not exist.
type unknownError struct{ id string }

func (e *unknownError) Error() string { return "No conversation found with session ID: " + e.id }

// validID matches ids that are safe as file names.
var validID = lazyregexp.New(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,127}$`)

// Folder returns the folder of all conversations. It follows the XDG base directory specification,
// which ignores relative paths.
func Folder(env []string) (string, error) {
	state := cli.Getenv(env, "XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home := cli.Getenv(env, "HOME")
		if home == "" {
			return "", errors.New("conversation: neither XDG_STATE_HOME nor HOME is set")
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "paw", "demo"), nil
}

// forkConversation creates a conversation that begins with a copy of another one.
func forkConversation(folder, id, from string) (*conversation, error) {
	if !validID().MatchString(from) {
		return nil, &unknownError{from}
	}
	content, err := os.ReadFile(filepath.Join(folder, from+".jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &unknownError{from}
	}
	if err != nil {
		return nil, fmt.Errorf("conversation %s: %w", from, err)
	}
	c, err := openConversation(folder, id, false)
	if err != nil {
		return nil, err
	}
	if _, err := c.file.Write(content); err != nil {
		c.close()
		return nil, fmt.Errorf("conversation %s: %w", id, err)
	}
	c.forked = true
	c.take(content)
	return c, nil
}

// openConversation creates a conversation, or opens an existing one to resume it.
func openConversation(folder, id string, resume bool) (*conversation, error) {
	if resume && !validID().MatchString(id) {
		return nil, &unknownError{id}
	}
	c := &conversation{id: id, path: filepath.Join(folder, id+".jsonl")}
	var content []byte
	err := os.MkdirAll(folder, 0o700)
	mode := os.O_CREATE | os.O_EXCL
	if resume {
		mode = 0
		content, err = os.ReadFile(c.path)
	}
	if err == nil {
		c.file, err = os.OpenFile(c.path, os.O_WRONLY|os.O_APPEND|mode, 0o600)
	}
	switch {
	case resume && errors.Is(err, fs.ErrNotExist):
		return nil, &unknownError{id}
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("conversation %s: exists already", id)
	case err != nil:
		return nil, fmt.Errorf("conversation %s: %w", id, err)
	}
	c.take(content)
	return c, nil
}

// take continues after the entries in content.
func (c *conversation) take(content []byte) {
	c.resumed = parseEntries(content)
	c.torn = len(content) > 0 && !bytes.HasSuffix(content, []byte("\n"))
	for _, e := range c.resumed {
		c.turn = max(c.turn, e.Turn)
	}
}

// parseEntries returns the valid entries: a run that was killed while it wrote leaves half a line,
// which stays in the file.
func parseEntries(content []byte) []Entry {
	var entries []Entry
	for line := range bytes.Lines(content) {
		var e Entry
		if json.Unmarshal(line, &e) == nil {
			entries = append(entries, e)
		}
	}
	return entries
}

// append writes an entry. A failure is kept in c.err, so that the turn can report that it is not
// recorded.
func (c *conversation) append(e Entry) {
	line, err := json.Marshal(e)
	if err == nil {
		line = append(line, '\n')
		if c.torn {
			line = append([]byte{'\n'}, line...)
		}
		_, err = c.file.Write(line)
		c.torn = err != nil
	}
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("conversation %s: %w", c.id, err)
	}
}

func (c *conversation) close() { _ = c.file.Close() }

// HookVariable names the program that is called for every event, as `PROGRAM hook demo EVENT` with
// a report on its standard input. It is removed from the environment of the agent's children: their
// turns are not this agent's.
const HookVariable = "PAW_HOOK"

// hookTimeout ends a hook that hangs. The agent waits for its hooks, as other agents do, so that
// the begin and end of a turn are known before anything else happens.
const hookTimeout = time.Minute

// Report is the input of a hook: an event, its conversation and its turn.
type Report struct {
	Entry
	SessionID      string `json:"session_id"`
	TurnID         string `json:"turn_id,omitempty"`
	TranscriptPath string `json:"transcript_path"`
	Cwd            string `json:"cwd,omitempty"`
	Source         string `json:"source,omitempty"` // kind of a start event: "startup", "resume" or "fork"
}

// reporter returns a function that calls the hook program of env, nil where env has none.
func (a *agent) reporter(env []string) func(Entry) {
	program := cli.Getenv(env, HookVariable)
	if !filepath.IsAbs(program) {
		return nil
	}
	return func(e Entry) { a.callHook(program, a.describe(e)) }
}

func (a *agent) describe(e Entry) Report {
	r := Report{Entry: e, SessionID: a.conversation.id, TranscriptPath: a.conversation.path}
	switch {
	case e.Event == exited:
	case e.Event != started:
		r.TurnID = TurnID(a.conversation.id, e.Turn)
	case a.conversation.forked:
		r.Source = "fork"
	case len(a.conversation.resumed) > 0:
		r.Source = "resume"
	default:
		r.Source = "startup"
	}
	return r
}

// callHook runs the hook program and ignores its outcome. The hook has a process group of its own:
// a signal that ends the agent must not end its last report.
func (a *agent) callHook(program string, r Report) {
	payload, err := json.Marshal(r)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), hookTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "hook", "demo", r.Event)
	cmd.Dir, cmd.Env = a.dir, a.env
	if _, err := os.Stat(a.dir); err != nil {
		cmd.Dir = "/" // no program can start in a deleted folder
	}
	cmd.Stdin = strings.NewReader(string(payload))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	_ = cmd.Run()
}
