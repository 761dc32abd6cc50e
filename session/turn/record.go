package turn

import (
	"slices"
	"time"
)

// Record is the content of a turn's log at one moment.
type Record struct {
	Number int
	Type   Type
	State  State

	Prompt       Prompt // byte for byte, like all texts here
	Launch       string // launch of the CLI that the turn belongs to
	Conversation string
	TurnID       string   // the CLI's own id of the turn, "" if it has none
	OlderIDs     []string // earlier values of TurnID, before prompts joined
	Others       []string // other conversations of the CLI that work for the turn besides Conversation
	Joined       []string // prompts that joined the turn, and tasks that paw gave to the CLI in it
	Follows      bool     // began the moment the previous turn ended, as the CLI's own record shows
	StartCommit  string   // commit of HEAD at the start of the turn
	StartedAt    time.Time
	EndedAt      *time.Time // end of the turn, nil while in progress

	Outcome    string // Outcome and the next three: of a finished turn
	CommitHash string
	Snapshot   string
	Message    string

	Reason       Reason // Reason and the next three: of an aborted turn
	ErrorType    string
	ErrorMessage string
	ErrorTrace   string

	// Limit is the usage limit that ended the turn or, in progress, after which the CLI goes on by
	// itself; then ErrorMessage is the CLI's message about it.
	Limit        *Limit
	LimitedSince *time.Time

	Held *Held // where the turn ends if the CLI does not go on; nil for none

	Waiting      bool // waits for the user to answer Question
	WaitingSince *time.Time
	Question     string
	Asked        []Asked  // all open questions, Question first; several if several conversations work for the turn
	Answered     *Asked   // the question that was answered last, and when; nil for none
	Children     []string // agents that the turn started, in that order
	Notes        []string
	// Folder is where the CLI worked last, when that was outside of the agent's worktree, else "".
	Folder string
	// Strays has the names, in the repository's folder worktrees, of worktrees that are not paw's and that lay in the
	// agent's worktree at the end of the turn, or were made while it ran.
	Strays  []string
	Outside []string // those of Notes that tell of Folder and Strays

	LastEventAt time.Time
	LogFile     string
}

// Cut reports whether a crash, a stop, a usage limit or the exit of its CLI has ended the turn.
func (r Record) Cut() bool {
	if r.State != Aborted {
		return false
	}
	exited := r.Reason == ReasonInterrupted && r.ErrorMessage == messageExited
	return exited || r.Reason == ReasonCrash || r.Reason == ReasonStopped || r.Limit != nil
}

// Asked is an open question of one conversation.
type Asked struct {
	Conversation string
	Question     string
	Since        time.Time
}

// Held is a possible end of a turn, with the worktree's state at that time: a hook of the user may
// still send the CLI on, and only the CLI's own record shows whether it did. While subagents work
// for the turn, Held has no state; the turn ends when the subagents have ended.
type Held struct {
	Commit    string // HEAD; Commit and Snapshot are "" while subagents work
	Snapshot  string // commit of the worktree's state; no ref keeps it
	Message   string // the CLI's answer
	Subagents int    // subagents that still work for the turn
	At        time.Time
}

// Result is the result of a finished turn.
type Result struct {
	Number     int
	Type       Type
	Outcome    string
	CommitHash string
	Snapshot   string
	Message    string
	LogFile    string
	StartedAt  time.Time
	EndedAt    time.Time
}

// Result returns the result of a finished turn, false for any other.
func (r Record) Result() (Result, bool) {
	if r.State != Finished || r.EndedAt == nil {
		return Result{}, false
	}
	return Result{
		Number:     r.Number,
		Type:       r.Type,
		Outcome:    r.Outcome,
		CommitHash: r.CommitHash,
		Snapshot:   r.Snapshot,
		Message:    r.Message,
		LogFile:    r.LogFile,
		StartedAt:  r.StartedAt,
		EndedAt:    *r.EndedAt,
	}, true
}

// clone returns a deep copy.
func (r Record) clone() Record {
	r.Children = slices.Clone(r.Children)
	r.Notes, r.Strays, r.Outside = slices.Clone(r.Notes), slices.Clone(r.Strays), slices.Clone(r.Outside)
	r.OlderIDs, r.Joined, r.Others, r.Asked = slices.Clone(r.OlderIDs), slices.Clone(r.Joined), slices.Clone(r.Others), slices.Clone(r.Asked)
	r.EndedAt, r.WaitingSince, r.LimitedSince = clone(r.EndedAt), clone(r.WaitingSince), clone(r.LimitedSince)
	r.Limit, r.Held, r.Answered = clone(r.Limit), clone(r.Held), clone(r.Answered)
	return r
}

// NumberOf returns the number of a turn, 0 for nil.
func NumberOf(r *Record) int {
	if r == nil {
		return 0
	}
	return r.Number
}

// clone copies the value of a pointer.
func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// Kind is the kind of an event, in words that are the same for every CLI; adapters translate a
// CLI's own names.
type Kind string

// Kinds of events. An adapter reports only what is final: a retry after an API error is no event.
const (
	KindSessionStart Kind = "session_start" // a conversation began or was taken up again, see Event.Source
	KindPrompt       Kind = "prompt"        // a prompt was submitted
	KindInput        Kind = "input"         // a permission or a question is shown; Message is the question
	KindAnswered     Kind = "answered"      // the user answered the question
	KindTool         Kind = "tool"          // the CLI used a tool, so it is at work
	KindEnd          Kind = "end"           // the answer is finished; Message is the answer
	KindLimit        Kind = "limit"         // a usage limit is reached, and the CLI will go on by itself after it
	KindError        Kind = "error"         // an error ended the turn; ErrorType and Message tell which
	KindInterrupt    Kind = "interrupt"     // the user stopped the turn
	KindIdle         Kind = "idle"          // the CLI waits for a prompt; only its own record tells how the open turn ended
	KindSessionEnd   Kind = "session_end"   // the conversation was left, see Event.Source
)

// Values of Event.Source. A KindSessionStart has one of them. A KindSessionEnd has SourceClear or
// SourceResume when the CLI changes to another conversation, and any other word when it exits.
const (
	SourceStartup = "startup" // a new conversation
	SourceResume  = "resume"  // an existing conversation
	SourceClear   = "clear"   // a new conversation in place of the one before
	SourceCompact = "compact" // the same conversation, shortened
	SourceFork    = "fork"    // a copy of another conversation
)

// Event is one report of a CLI. Fields that the CLI does not report are empty.
type Event struct {
	Kind         Kind
	At           time.Time // time in the CLI's own record; zero for an event that happens now
	Conversation string
	TurnID       string // the CLI's own id of the turn
	Type         Type   // type of the turn that a KindPrompt starts; "" means TypePrompt
	Prompt       string // for KindPrompt; "" means that the CLI goes on by itself, for example with a tool's result
	Message      string
	ErrorType    string
	Limit        *Limit // usage limit of a KindError or a KindLimit
	Transcript   string // path of the CLI's own record of the conversation
	Folder       string // folder in which the CLI works, "" where it does not say
	Source       string
	Background   int  // for KindEnd: background tasks that still run, without subagents
	Subagents    int  // for KindEnd: subagents that still work for the turn; the CLI goes on when one of them has ended
	Queued       bool // for KindPrompt: the CLI is busy and adds the prompt to the open turn
	Follows      bool // for a KindPrompt that waited: it began the moment the previous turn ended
	Held         bool // for KindEnd: a hook of the user may still send the CLI on, as the CLI's own record will show
	Again        bool // for KindEnd: a hook has sent the CLI on after an earlier end
	Beside       bool // another conversation of the CLI works for the open turn
	Child        bool // from a subagent, or from a CLI that the agent itself started: ignored
}

// ActionKind says what to do about an event.
type ActionKind string

// Kinds of actions. Action.Text is the argument of the named method of Turn, unless stated
// otherwise.
const (
	ActStart        ActionKind = "start"        // Turn.Start with Action.Start; the caller adds launch, commit and number
	ActExecute      ActionKind = "execute"      // Turn.Joined, with Action.TurnID and Action.Conversation
	ActHold         ActionKind = "hold"         // Turn.Hold; Text is the CLI's answer
	ActAwait        ActionKind = "await"        // Turn.Await with Action.Subagents; Text is the CLI's answer
	ActInput        ActionKind = "input"        // Turn.Input with Action.Conversation
	ActLimit        ActionKind = "limit"        // Turn.Limited with Action.Limit; Text is the CLI's message
	ActAnswered     ActionKind = "answered"     // Turn.Resumed
	ActFinish       ActionKind = "finish"       // Turn.Finish; Text is the CLI's answer
	ActAbort        ActionKind = "abort"        // Turn.Abort with Action.Abort
	ActNote         ActionKind = "note"         // Turn.Note
	ActConversation ActionKind = "conversation" // store Text as the agent's conversation; may come more than once
)

// Action is one step to take for an event.
type Action struct {
	Do     ActionKind
	Text   string
	TurnID string // for ActExecute: the new id of the turn, "" to keep it
	Start  *Start // parameters of ActStart
	Abort  *Abort // parameters of ActAbort
	Limit  *Limit // parameters of ActLimit
	// Subagents is the number of subagents that ActAwait waits for.
	Subagents int
	// Conversation is the prompted or asking conversation of an ActExecute or ActInput, if several
	// work for the turn.
	Conversation string
}

// Limit is a usage limit that a CLI reports as reached, of a subscription or an API key.
type Limit struct {
	Until time.Time `json:"until,omitzero"` // end of the limit, zero if the CLI does not say
}

// Task returns what somebody asked for in a turn; "" if the CLI or a hook went on by itself, or paw
// asked.
func (r Record) Task() string {
	if r.Type == TypeNotification || r.Type == TypeStopHook || r.Type == TypeMessage {
		return ""
	}
	return r.Prompt.Task()
}

// messageExited is the abort message of a turn whose CLI exited during it.
const messageExited = "the CLI exited"

// same and differ compare ids. An empty id is unknown: neither the same as another nor different.
func same(a, b string) bool { return a != "" && a == b }

func differ(a, b string) bool { return a != "" && b != "" && a != b }

// Abort says how a turn failed. Abort is an error, which Turn.Abort returns.
type Abort struct {
	Reason    Reason // "" means ReasonError
	ErrorType string // the CLI's own name of the error, such as rate_limit
	Message   string
	Limit     *Limit // usage limit that caused the error, nil for none
	Trace     string // stack trace or the like, any number of lines
	Cause     error  // wrapped error, or nil; its text is the message if Message is ""
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
