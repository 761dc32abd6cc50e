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
