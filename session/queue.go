package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"paw/config/disk"
	"paw/config/lazyregexp"
)

// QueueVersion is the version of the queue file that this paw writes.
const QueueVersion = 1

// MaxTasks limits the tasks of a queue.
const MaxTasks = 500

// TaskState is the progress of a task. A state is saved before the step it names is taken.
type TaskState string

// States of a task.
const (
	TaskWaiting TaskState = "waiting"
	TaskRunning TaskState = "running" // the prompt was typed or the agent started, or is about to be
	TaskDone    TaskState = "done"    // the turn ended well, and the check, if any, has passed
	TaskFailed  TaskState = "failed"
	TaskHeld    TaskState = "held" // nothing happens until the user releases the task
	TaskDropped TaskState = "dropped"
)

// Over reports whether a task has ended for good.
func (s TaskState) Over() bool { return s == TaskDone || s == TaskFailed || s == TaskDropped }

// TaskKind says how a task begins.
type TaskKind string

// Kinds of tasks.
const (
	PromptTask TaskKind = "prompt" // types a prompt to an existing agent
	AgentTask  TaskKind = "agent"  // starts a new agent
)

// OnCI is the value of Task.On for a task that begins when the checks of a pull request have failed.
const OnCI = "ci"

// TaskText names the text of a task that is typed next.
type TaskText string

// Texts of a task.
const (
	TextPrompt   TaskText = ""         // the task's prompt
	TextBack     TaskText = "back"     // the output of a failed check
	TextContinue TaskText = "continue" // the message that a usage limit is over
)

// Reasons of held tasks that decide how a task is released.
const (
	HeldYou         = "you"                              // the user acted, or asked for it
	HeldInterrupted = "interrupted"                      // the prompt may have been typed; its result is unknown
	WaitsCI         = "ci"                               // the checks of the pull request have not ended, or were typed already
	WaitsRunning    = "max_running"                      // as many agents run as may
	HeldSilent      = "silent: no hook has reported yet" // the CLI runs, and it is unknown whether it has begun
	HeldCheck       = "check: "                          // begins the reason of a task whose check did not come to its end
	HeldStopped     = HeldCheck + "stopped"              // the session was stopped while the check ran
)

// Task is a prompt that waits in the queue.
type Task struct {
	ID      string        `json:"id"`
	Kind    TaskKind      `json:"kind"`
	Agent   string        `json:"agent,omitempty"` // agent that gets the prompt; for an AgentTask set when it is about to start
	CLIs    []string      `json:"cli,omitempty"`   // an AgentTask uses the first of these that works
	After   []string      `json:"after,omitempty"` // ids of tasks that must be done first
	From    string        `json:"from,omitempty"`  // start of the new agent: AGENT[@N] or the id of a task
	Base    string        `json:"base,omitempty"`  // commit that the new agent starts from
	Brief   bool          `json:"brief,omitempty"` // the new agent also gets the conversation of From
	Check   []string      `json:"check,omitempty"` // commands that the work must pass
	Retries int           `json:"retries,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"`
	On      string        `json:"on,omitempty"`   // OnCI: the failed checks of the agent's pull request are its prompt
	Push    bool          `json:"push,omitempty"` // with OnCI: push when a turn of the task has ended
	What    string        `json:"what"`           // first line of the prompt
	Sum     string        `json:"sum,omitempty"`  // SumOf(prompt), "" in the queue of an older paw

	State    TaskState `json:"state"`
	Why      string    `json:"why,omitempty"`
	Text     TaskText  `json:"text,omitempty"`
	Turn     int       `json:"turn,omitempty"`     // number of the task's turn, 0 while unknown
	Before   int       `json:"before,omitempty"`   // number of the agent's last turn when the prompt was about to be typed
	Typed    bool      `json:"typed,omitempty"`    // the text may have been typed: only the user may have it typed again
	Checking bool      `json:"checking,omitempty"` // its check runs; with OnCI the server is to be asked
	Commit   string    `json:"commit,omitempty"`   // with OnCI: commit of which the failed checks were its last prompt
	Tries    int       `json:"tries,omitempty"`    // number of failed checks
	Limits   int       `json:"limits,omitempty"`   // number of usage limits in a row
	Limited  bool      `json:"limited,omitempty"`
	Lonely   bool      `json:"lonely,omitempty"` // made by a usage limit, for a turn that belongs to no task of the user
	Begun    time.Time `json:"begun,omitzero"`   // when State became running
	NotYet   time.Time `json:"not_before,omitzero"`
	// Refused is why an agent at rest takes no prompt, such as the text in its input box, and RefusedAt
	// since when it takes none.
	Refused   string    `json:"refused,omitempty"`
	RefusedAt time.Time `json:"refused_at,omitzero"`
	Over      time.Time `json:"over,omitzero"`  // when the task was first written down as over; not State.Over
	Told      string    `json:"told,omitempty"` // the value of Why that the user was last notified of
}

// Lane holds what a queue remembers of one agent.
type Lane struct {
	Seen int  `json:"seen"`           // number of the last turn that the queue knows
	Held bool `json:"held,omitempty"` // the user has prompted or interrupted the agent since
	// Limit is the number of the last turn that a usage limit ended and that the queue has dealt
	// with.
	Limit int `json:"limit,omitempty"`
}

// Block stops the work of one account or CLI.
type Block struct {
	Limit bool      `json:"limit,omitempty"` // blocked by a usage limit; false: the CLI exits soon after each start
	CLI   string    `json:"cli"`
	Until time.Time `json:"until,omitzero"` // zero means until the user releases the block
	First time.Time `json:"first,omitzero"` // when the first of several limits in a row was met whose end is unknown
}

// Queue holds the tasks of one session, in order.
type Queue struct {
	Version   int              `json:"version"`
	Session   string           `json:"session"`
	Held      string           `json:"held,omitempty"`       // why nothing may begin, "" if something may
	Max       int              `json:"max,omitempty"`        // from the plan file, 0 for the configuration's
	StartsMax int              `json:"starts_max,omitempty"` // limit of Starts as raised by the user
	Starts    int              `json:"starts,omitempty"`     // launches and prompts made so far
	Last      int              `json:"last,omitempty"`       // last number used for an id that paw chose
	Tasks     []Task           `json:"tasks"`
	Lanes     map[string]Lane  `json:"lanes,omitempty"`  // state of each agent, by name
	Blocks    map[string]Block `json:"blocks,omitempty"` // blocks by name of account or CLI
	Quick     map[string]int   `json:"quick,omitempty"`  // by CLI: exits in a row soon after the start
	Races     []Race           `json:"races,omitempty"`
}

// Task returns a pointer to the task with that id, or nil.
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

// Clone returns a copy whose tasks and maps can be changed.
func (q *Queue) Clone() *Queue {
	c := *q
	c.Tasks, c.Lanes, c.Blocks, c.Quick = slices.Clone(q.Tasks), maps.Clone(q.Lanes), maps.Clone(q.Blocks), maps.Clone(q.Quick)
	c.fill()
	return &c
}

// fill replaces nil maps by empty ones.
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

// ValidateTaskID checks a task's id, which is used as a file name and as a word of a command line.
func ValidateTaskID(id string) error {
	if len(id) > MaxName || !taskID().MatchString(id) {
		return fmt.Errorf("task id %q: letters a to z, digits, _ and - are allowed, at most %d, and neither _ nor - first", id, MaxName)
	}
	return nil
}

// encodeQueue returns the queue as indented JSON, after checking that decodeQueue would accept it.
func encodeQueue(q *Queue) ([]byte, error) {
	q.Version = QueueVersion
	if reason := queueFault(q); reason != "" {
		return nil, fmt.Errorf("queue of %s: %s", q.Session, reason)
	}
	return disk.JSON(q, "  ")
}

// decodeQueue parses the queue file of a session; path is for errors.
func decodeQueue(name, path string, data []byte) (*Queue, error) {
	corrupt := func(reason string) error { return &CorruptError{Name: name, Path: path, Reason: reason} }
	version, err := versionIn(data)
	if err != nil {
		return nil, corrupt(jsonFault(err))
	}
	if version > QueueVersion {
		return nil, &VersionError{Name: name, Path: path, Version: version}
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

// queueFault returns what makes a queue unusable, "" for a valid one.
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
