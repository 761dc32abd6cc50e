package turn

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Op is one move of an agent's worktree by paw: a rewind, an update, or the undoing of one. Its ref is made as HEAD
// moves; the ref's commit has the Op in its message.
type Op struct {
	Kind   OpKind    `json:"kind"`
	Time   time.Time `json:"time"`
	Undone bool      `json:"undone,omitempty"` // it takes such a move back
	At     int       `json:"at"`               // turn at whose end the worktree is after it, 0 for before the first turn
	From   int       `json:"from"`             // the same before it
	Last   int       `json:"last"`             // the agent's last turn at that time
	Head   string    `json:"head"`             // HEAD after it

	Before string `json:"before"` // newest state in the chain before it
	After  string `json:"after"`  // and after it
	Files  string `json:"files"`  // commit of what was there before it
}

// Where says where the worktree is after the move, "" for at the end of its last turn.
func (op Op) Where() string {
	switch {
	case op.At == op.Last:
		return ""
	case op.Kind == OpUpdate && !op.Undone:
		return EndOfTurn(op.At) + ", with an update since"
	}
	return EndOfTurn(op.At)
}

// EndOfTurn returns the words for a worktree that was put back to the end of turn n.
func EndOfTurn(n int) string {
	if n == 0 {
		return "back before turn 1"
	}
	return fmt.Sprintf("back at the end of turn %d", n)
}

// OpKind is the kind of an Op.
type OpKind string

// Kinds of an Op.
const (
	OpRewind OpKind = "rewind"
	OpUpdate OpKind = "update"
)

// String is the message of the commit that keeps a move.
func (op Op) String() string {
	text, _ := json.Marshal(op) // cannot fail
	return fmt.Sprintf("paw: %s\n\n%s\n", op.Kind, text)
}

// ParseOp reads a move from the end of a text: of its message, or of the commit that git cat-file prints.
func ParseOp(text string) (*Op, error) {
	at := strings.LastIndex(text, "\n\n")
	if at < 0 {
		return nil, errors.New("no move")
	}
	op := &Op{}
	return op, json.Unmarshal([]byte(text[at:]), op)
}
