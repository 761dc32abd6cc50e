package plain

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Turn is a prompt that an agent works on in a goroutine of its own. The dialogue reads Said and Asked
// until Done yields the error, and answers each question, unless it cancels the turn.
type Turn struct {
	Prompt  string
	Cancel  context.CancelCauseFunc // called with a Signal
	Said    chan Said
	Asked   chan Question
	Answers chan int   // index of a key of the question, -1 for a question that nobody answers
	Done    chan error // yields nil, Exit, Signal, or the failure
}

// Said is a text of the agent.
type Said struct {
	Text string
	More bool // it goes on with what the agent has said before
	Tool bool // it is a call of a tool
}

// Question is answered with one key.
type Question struct {
	ID   string // for Answer
	Text string
	Keys string // letters or digits
}

// prompt returns the last line of the question, after which its key is typed.
func (q Question) prompt() string {
	return Visible(q.Text) + " [" + strings.Join(strings.Split(q.Keys, ""), "/") + "] "
}

// NewTurn begins a turn whose work ends early when its context is cancelled.
func NewTurn(prompt string, work func(context.Context, *Turn) error) *Turn {
	ctx, cancel := context.WithCancelCause(context.Background())
	t := &Turn{Prompt: prompt, Cancel: cancel, Said: make(chan Said), Asked: make(chan Question),
		Answers: make(chan int, 1), Done: make(chan error, 1)}
	go func() {
		defer cancel(nil)
		t.Done <- work(ctx, t)
	}()
	return t
}

// Limit ends a turn as a usage limit does.
type Limit struct{ Until time.Time }

func (l Limit) Error() string { return "usage limit reached, resets at " + l.Until.Format("15:04") }

// Exit ends a turn and the program.
type Exit struct {
	Code int
	Why  string // told to the user, "" for nothing
}

func (e Exit) Error() string { return cmp.Or(e.Why, fmt.Sprintf("exit %d", e.Code)) }

// Signal ends a turn from outside: SIGINT is the user's interrupt, other signals end the program.
type Signal struct{ syscall.Signal }

func (s Signal) Error() string { return s.String() }

// Code returns the exit code of a program that the signal ends.
func (s Signal) Code() int { return 128 + int(s.Signal) }
