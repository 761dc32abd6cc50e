package turn

import (
	"slices"
	"time"
)

// Record is what the log of a turn says, read at one moment.
type Record struct {
	Number int
	Type   Type
	State  State

	Prompt       Prompt // byte for byte, as all texts here
	Launch       string // the launch of the CLI it belongs to
	Conversation string
	TurnID       string   // the CLI's own id of the turn, "" where it has none
	OlderIDs     []string // that it had before, as prompts joined it
	Others       []string // conversations of the CLI that work for the turn beside Conversation
	Follows      bool     // it began the moment the turn before it ended, as the CLI's own record tells
	StartCommit  string   // HEAD at the start
	StartedAt    time.Time
	EndedAt      *time.Time // nil while it is in progress

	Outcome    string // of a finished turn, as are the next four
	CommitHash string
	Snapshot   string
	Message    string

	Reason       Reason // of an aborted turn, as are the next three
	ErrorType    string
	ErrorMessage string
	ErrorTrace   string

	// Limit is the usage limit that ended the turn or, while it is in progress, that the CLI waits for to go on by itself. Then
	// ErrorMessage is what it says of it.
	Limit        *Limit
	LimitedSince *time.Time

	Held *Held // where the turn ends if the CLI does not go on with it, nil when it has not come to that

	Waiting      bool // for the user, who was asked Question
	WaitingSince *time.Time
	Question     string
	Asked        []Asked  // what Question is the first of: more than one where several conversations work for the turn
	Children     []string // agents it started, in that order
	Notes        []string

	LastEventAt time.Time
	LogFile     string
}

// Cut reports whether a crash, a stop, a usage limit or the end of its CLI has ended the turn.
func (r Record) Cut() bool {
	if r.State != Aborted {
		return false
	}
	exited := r.Reason == ReasonInterrupted && r.ErrorMessage == messageExited
	return exited || r.Reason == ReasonCrash || r.Reason == ReasonStopped || r.Limit != nil
}

// Asked is what a conversation has asked the user.
type Asked struct {
	Conversation string
	Question     string
	Since        time.Time
}

// Held is an end of a turn that only the CLI's own record can confirm: a hook of the user may still send the CLI on. It
// has what the worktree held then. A turn whose subagents still work ends when they have: what the worktree held counts for nothing
// then.
type Held struct {
	Commit    string // HEAD, "" while subagents work, as the next
	Snapshot  string // no ref keeps it
	Message   string // the CLI's answer
	Subagents int    // that still work for the turn
	At        time.Time
}

// Result is how a turn finished. It is a value that never changes.
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

// Result returns the result of a finished turn, and false for any other.
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

// clone makes a copy that shares nothing with r.
func (r Record) clone() Record {
	r.Children = slices.Clone(r.Children)
	r.Notes = slices.Clone(r.Notes)
	r.OlderIDs, r.Others, r.Asked = slices.Clone(r.OlderIDs), slices.Clone(r.Others), slices.Clone(r.Asked)
	r.EndedAt, r.WaitingSince, r.LimitedSince = clone(r.EndedAt), clone(r.WaitingSince), clone(r.LimitedSince)
	r.Limit, r.Held = clone(r.Limit), clone(r.Held)
	return r
}

// clone copies what is pointed to.
func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// Kind is what a CLI reports. Its adapter puts the CLI's own names and payloads into these words.
type Kind string

// The kinds of events. An adapter reports only what is final: a retry after an error of the API is no event.
const (
	KindSessionStart Kind = "session_start" // a conversation began or was taken up again, see Event.Source
	KindPrompt       Kind = "prompt"        // a prompt was submitted
	KindInput        Kind = "input"         // a permission or a question is shown; Message is the question
	KindAnswered     Kind = "answered"      // the user answered it
	KindTool         Kind = "tool"          // the CLI used a tool: it is at work
	KindEnd          Kind = "end"           // the answer is finished; Message is the answer
	KindLimit        Kind = "limit"         // a usage limit is reached, and the CLI goes on by itself once it is lifted
	KindError        Kind = "error"         // an error ended the turn; ErrorType and Message tell which
	KindInterrupt    Kind = "interrupt"     // the user stopped the turn
	KindSessionEnd   Kind = "session_end"   // the conversation was left, see Event.Source
)

// What Event.Source can be. A KindSessionStart has one of them; a KindSessionEnd has SourceClear or SourceResume when
// the CLI goes on with another conversation, and any other word when it exits.
const (
	SourceStartup = "startup" // a new conversation
	SourceResume  = "resume"  // one that existed
	SourceClear   = "clear"   // a new one instead of the one before
	SourceCompact = "compact" // the same one, shortened
	SourceFork    = "fork"    // a copy of another one
)

// Event is one report of a CLI. Fields that the CLI does not tell are empty.
type Event struct {
	Kind         Kind
	At           time.Time // of what the CLI's own record tells, zero for what happens now
	Conversation string
	TurnID       string // the CLI's own id of the turn
	Type         Type   // of the turn that a KindPrompt starts, TypePrompt where it is empty
	Prompt       string // of a KindPrompt; empty means that the CLI goes on by itself, such as with a tool's result
	Message      string
	ErrorType    string
	Limit        *Limit // of a KindError or a KindLimit
	Transcript   string // file of the conversation
	Source       string
	Background   int  // background tasks that still run at a KindEnd, subagents left out
	Subagents    int  // of a KindEnd: subagents that still work for the turn; the CLI goes on when one of them has ended
	Queued       bool // of a KindPrompt: the CLI is busy and takes the prompt into the turn that is open
	Follows      bool // of a KindPrompt that waited: it began the moment the turn before it ended
	Held         bool // of a KindEnd: a hook of the user may still send the CLI on, its own record will tell
	Again        bool // of a KindEnd: it was sent on after an end before this one
	Beside       bool // another conversation of the CLI works for the open turn
	Child        bool // of a sub-agent, or of a CLI that the agent itself started: counts nothing
}

// ActionKind is what to do about an event.
type ActionKind string

// The actions. Text is what the call of Turn with that name takes, if not said otherwise.
const (
	ActStart        ActionKind = "start"        // Turn.Start with Action.Start; launch, commit and number are the caller's to add
	ActExecute      ActionKind = "execute"      // Turn.Joined, with Action.TurnID and Action.Conversation
	ActHold         ActionKind = "hold"         // Turn.Hold; Text is the CLI's answer
	ActAwait        ActionKind = "await"        // Turn.Await with Action.Subagents; Text is the CLI's answer
	ActInput        ActionKind = "input"        // Turn.Input with Action.Conversation
	ActLimit        ActionKind = "limit"        // Turn.Limited with Action.Limit; Text is what the CLI says
	ActAnswered     ActionKind = "answered"     // Turn.Resumed
	ActFinish       ActionKind = "finish"       // Turn.Finish; Text is the CLI's answer
	ActAbort        ActionKind = "abort"        // Turn.Abort with Action.Abort
	ActNote         ActionKind = "note"         // Turn.Note
	ActConversation ActionKind = "conversation" // remember that the agent's conversation is Text; may come more than once
)

// Action is one step of what to do about an event.
type Action struct {
	Do     ActionKind
	Text   string
	TurnID string // of ActExecute: the id of the turn from now on, "" for the one it has
	Start  *Start // of ActStart
	Abort  *Abort // of ActAbort
	Limit  *Limit // of ActLimit
	// Subagents is how many ActAwait waits for.
	Subagents int
	// Conversation is the one that an ActExecute or an ActInput is about, where several work for the turn.
	Conversation string
}
