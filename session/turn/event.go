package turn

import "time"

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
