package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"paw/config/lazyregexp"
)

// QueueVersion is the version of the queue file that this paw writes.
const QueueVersion = 1

// MaxTasks limits the tasks of one queue.
const MaxTasks = 500

// TaskState is how far a task of a queue is; it is saved before the deed.
type TaskState string

// The states of a task.
const (
	TaskWaiting TaskState = "waiting"
	TaskRunning TaskState = "running" // its prompt was typed, or its agent started, or is about to be
	TaskDone    TaskState = "done"    // its turn ended well, and its check, if any, has passed
	TaskFailed  TaskState = "failed"
	TaskHeld    TaskState = "held" // until its user lets it go
	TaskDropped TaskState = "dropped"
)

// Over reports whether nothing more comes of a task by itself or by its being let go.
func (s TaskState) Over() bool { return s == TaskDone || s == TaskFailed || s == TaskDropped }

// TaskKind is what a task begins with.
type TaskKind string

// The kinds of tasks.
const (
	PromptTask TaskKind = "prompt" // is typed to an agent that is there
	AgentTask  TaskKind = "agent"  // starts an agent of its own
)

// TaskText is which text of a task is typed next.
type TaskText string

// The texts of a task.
const (
	TextPrompt   TaskText = ""         // its prompt
	TextBack     TaskText = "back"     // what its check said
	TextContinue TaskText = "continue" // that a limit is lifted
)

// The reasons why a task is held that decide what lets it go.
const (
	HeldYou         = "you"                              // its user did something himself, or asked for it
	HeldInterrupted = "interrupted"                      // its prompt may have been typed, and nobody knows what became of it
	HeldSilent      = "silent: no hook has reported yet" // its CLI runs, and nobody sees whether it has begun
)

// Task is one prompt that waits for its moment.
type Task struct {
	ID      string        `json:"id"`
	Kind    TaskKind      `json:"kind"`
	Agent   string        `json:"agent,omitempty"` // that gets the prompt; of an AgentTask once it is about to be started
	CLIs    []string      `json:"cli,omitempty"`   // of which an AgentTask takes the first that it can
	After   []string      `json:"after,omitempty"` // ids of tasks that have to be done first
	From    string        `json:"from,omitempty"`  // AGENT[@N] or the id of a task: where the agent begins
	Base    string        `json:"base,omitempty"`  // commit that the agent begins at
	Brief   bool          `json:"brief,omitempty"` // the agent takes the conversation over as well
	Check   []string      `json:"check,omitempty"` // commands that its work has to pass
	Retries int           `json:"retries,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"`
	What    string        `json:"what"` // first line of its prompt

	State    TaskState `json:"state"`
	Why      string    `json:"why,omitempty"`
	Text     TaskText  `json:"text,omitempty"`
	Turn     int       `json:"turn,omitempty"`   // number of its turn, 0 as long as none is known
	Before   int       `json:"before,omitempty"` // number of its agent's last turn when the prompt was about to be typed
	Typed    bool      `json:"typed,omitempty"`  // its text may have been typed: only its user has it typed again
	Checking bool      `json:"checking,omitempty"`
	Tries    int       `json:"tries,omitempty"`  // checks that have failed
	Limits   int       `json:"limits,omitempty"` // usage limits in a row
	Limited  bool      `json:"limited,omitempty"`
	Lonely   bool      `json:"lonely,omitempty"` // made by a limit alone: of a turn that no task of the user began
	Begun    time.Time `json:"begun,omitzero"`   // when it became running
	NotYet   time.Time `json:"not_before,omitzero"`
	Told     string    `json:"told,omitempty"` // why it was held when its user was told of that last
}

// Lane is what a queue knows of one agent.
type Lane struct {
	Seen int  `json:"seen"`           // number of the last turn that the queue knows of
	Held bool `json:"held,omitempty"` // its user has prompted or interrupted it since
	// Limit is the number of the last turn that a usage limit has ended, and of which the queue has decided.
	Limit int `json:"limit,omitempty"`
}

// Block holds the work of one account, or of one CLI.
type Block struct {
	Limit bool      `json:"limit,omitempty"` // by a usage limit, else by ends at the start
	CLI   string    `json:"cli"`
	Until time.Time `json:"until,omitzero"` // zero until its user lets it go
	First time.Time `json:"first,omitzero"` // when the first of a row of limits was met that nobody tells the end of
}

// Queue is the tasks of one session, in their order.
type Queue struct {
	Version   int              `json:"version"`
	Session   string           `json:"session"`
	Held      string           `json:"held,omitempty"`       // why nothing begins at all, "" for nothing
	Max       int              `json:"max,omitempty"`        // of the plan, 0 for that of the configuration
	StartsMax int              `json:"starts_max,omitempty"` // as its user has raised it
	Starts    int              `json:"starts,omitempty"`     // launches and prompts so far
	Last      int              `json:"last,omitempty"`       // the last number of an id that paw has chosen
	Tasks     []Task           `json:"tasks"`
	Lanes     map[string]Lane  `json:"lanes,omitempty"`  // by agent
	Blocks    map[string]Block `json:"blocks,omitempty"` // by account, or by CLI
	Quick     map[string]int   `json:"quick,omitempty"`  // ends in a row soon after the start, by CLI
}

// Task returns the task of that id for reading or changing in place, or nil.
func (q *Queue) Task(id string) *Task {
	for i := range q.Tasks {
		if q.Tasks[i].ID == id {
			return &q.Tasks[i]
		}
	}
	return nil
}

// Open reports whether a task waits, runs or is held.
func (q *Queue) Open() bool {
	return q != nil && slices.ContainsFunc(q.Tasks, func(t Task) bool { return !t.State.Over() })
}

// Clone makes a copy of which everything can be changed that a decision changes.
func (q *Queue) Clone() *Queue {
	c := *q
	c.Tasks, c.Lanes, c.Blocks, c.Quick = slices.Clone(q.Tasks), maps.Clone(q.Lanes), maps.Clone(q.Blocks), maps.Clone(q.Quick)
	c.fill()
	return &c
}

// fill gives every table a value.
func (q *Queue) fill() {
	if q.Lanes == nil {
		q.Lanes = map[string]Lane{}
	}
	if q.Blocks == nil {
		q.Blocks = map[string]Block{}
	}
	if q.Quick == nil {
		q.Quick = map[string]int{}
	}
}

var taskID = lazyregexp.New(`^[a-z0-9][a-z0-9_-]*$`)

// ValidateTaskID checks the id of a task: it is the name of a file, and a word of a command line.
func ValidateTaskID(id string) error {
	if len(id) > MaxName || !taskID.MatchString(id) {
		return fmt.Errorf("task id %q: letters a to z, digits, _ and - are allowed, at most %d, and neither _ nor - first", id, MaxName)
	}
	return nil
}

// encodeQueue returns the queue as indented JSON, after checking that decodeQueue would take it back.
func encodeQueue(q *Queue) ([]byte, error) {
	q.Version = QueueVersion
	if reason := queueFault(q); reason != "" {
		return nil, fmt.Errorf("queue of %s: %s", q.Session, reason)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(q)
	return out.Bytes(), err
}

// decodeQueue reads the queue of the session of that name; path only serves the errors.
func decodeQueue(name, path string, data []byte) (*Queue, error) {
	corrupt := func(reason string) error { return &CorruptError{Name: name, Path: path, Reason: reason} }
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, corrupt(jsonFault(err))
	}
	if head.Version > QueueVersion {
		return nil, &VersionError{Name: name, Path: path, Version: head.Version}
	}
	q := &Queue{}
	if err := json.Unmarshal(data, q); err != nil {
		return nil, corrupt(jsonFault(err))
	}
	if q.Session != name || q.Version < 1 {
		return nil, corrupt(fmt.Sprintf("it names session %q", q.Session))
	}
	if reason := queueFault(q); reason != "" {
		return nil, corrupt(reason)
	}
	q.fill()
	return q, nil
}

// queueFault says what makes a queue unusable, "" for a good one.
func queueFault(q *Queue) string {
	states := []TaskState{TaskWaiting, TaskRunning, TaskDone, TaskFailed, TaskHeld, TaskDropped}
	there := map[string]bool{}
	for _, t := range q.Tasks {
		switch {
		case ValidateTaskID(t.ID) != nil:
			return ValidateTaskID(t.ID).Error()
		case there[t.ID]:
			return fmt.Sprintf("task %s: there twice", t.ID)
		case t.Kind != PromptTask && t.Kind != AgentTask:
			return fmt.Sprintf("task %s: unknown kind %q", t.ID, t.Kind)
		case !slices.Contains(states, t.State):
			return fmt.Sprintf("task %s: unknown state %q", t.ID, t.State)
		case t.Agent != "" && nameFault(t.Agent) != "":
			return fmt.Sprintf("task %s: agent: %s", t.ID, nameFault(t.Agent))
		}
		if reason := textFault(append([]string{t.What, t.From, t.Base, strings.Join(t.CLIs, ",")}, t.Check...)...); reason != "" {
			return fmt.Sprintf("task %s: %s", t.ID, reason)
		}
		there[t.ID] = true
	}
	return nameFault(q.Session)
}
