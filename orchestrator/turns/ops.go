package turns

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/session/turn"
)

// Op is one move of an agent's worktree by paw: a rewind, an update, or the undoing of one. Its ref is made as HEAD
// moves; the ref's commit has the Op in its message.
type Op struct {
	Kind   OpKind `json:"kind"`
	Undone bool   `json:"undone,omitempty"` // it takes such a move back
	At     int    `json:"at"`               // turn at whose end the worktree is after it, 0 for before the first turn
	From   int    `json:"from"`             // the same before it
	Last   int    `json:"last"`             // the agent's last turn at that time
	Head   string `json:"head"`             // HEAD after it

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

// opFile has the id of the commit of the newest move and its message, which saves a look with git.
func opFile(a app.Agent) string {
	return filepath.Join(a.App.StateDir(a.Session.Name, a.Record.Name), "op")
}

// newest returns the number of the newest move among an agent's refs, 0 for none, and its commit.
func newest(found map[string]string, turnSession string) (n int, commit string) {
	for ref, at := range found {
		text, is := strings.CutPrefix(ref, turn.OpPrefix(turnSession))
		if number, err := strconv.Atoi(text); is && err == nil && number > n {
			n, commit = number, at
		}
	}
	return n, commit
}

// Position returns the newest move of an agent's worktree, nil for none, and the turn at whose end the worktree is: last, the
// agent's last one, unless the move has put it elsewhere, 0 for before the first. The move counts as long as nobody else has
// moved HEAD, and the worktree was not made anew.
func Position(ctx context.Context, a app.Agent, last int) (op *Op, at int, err error) {
	own := a.Record.TurnSession
	found, err := a.Repo.Refs().List(ctx, turn.OpPrefix(own), turn.NowRef(own))
	n, commit := newest(found, own)
	if n == 0 || err != nil || !a.Repo.Objects().Has(ctx, commit) { // or gone with a history that was rewritten
		return nil, last, err
	}
	noted, _ := disk.ReadFile(opFile(a))
	text, is := strings.CutPrefix(string(noted), commit)
	if !is {
		if text, err = a.Repo.Objects().Home().Output(ctx, "cat-file", "commit", commit); err != nil {
			return nil, last, err
		}
	}
	op = &Op{}
	if err := json.Unmarshal([]byte(text[strings.LastIndex(text, "\n\n")+1:]), op); err != nil {
		return nil, last, fmt.Errorf("%s: %w", turn.OpRef(own, n), err)
	}
	head, err := a.Repo.Refs().WorktreeHead(ctx, a.Record.WorktreePath)
	if err != nil || op.Last != last || op.Head != head {
		return op, last, nil //nolint:nilerr // the worktree is gone
	}
	if now := found[turn.NowRef(own)]; now != op.After {
		if after, err := a.Repo.Objects().Contains(ctx, now, op.After); err != nil || !after {
			return op, last, nil //nolint:nilerr // the worktree was made anew
		}
	}
	return op, op.At, nil
}
