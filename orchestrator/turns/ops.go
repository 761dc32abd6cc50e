package turns

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/session/turn"
)

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
func Position(ctx context.Context, a app.Agent, last int) (op *turn.Op, at int, err error) {
	own := a.Record.TurnSession
	found, err := a.Repo.Refs().List(ctx, turn.OpPrefix(own), turn.NowRef(own))
	n, commit := newest(found, own)
	if n == 0 || err != nil || !a.Repo.Objects().Has(ctx, commit) { // or gone with a history that was rewritten
		return nil, last, err
	}
	noted, _ := disk.ReadFile(observe.OpFile(a))
	text, is := strings.CutPrefix(string(noted), commit)
	if !is {
		if text, err = a.Repo.Objects().Home().Output(ctx, "cat-file", "commit", commit); err != nil {
			return nil, last, err
		}
	}
	if op, err = turn.ParseOp(text); err != nil {
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
	if !is { // of a move that was killed before it was written down
		_ = disk.ReplaceSoon(observe.OpFile(a), []byte(commit+text))
	}
	return op, op.At, nil
}

// Ops returns the moves of an agent's worktree, oldest first.
func Ops(ctx context.Context, a app.Agent) (all []turn.Op, err error) {
	out, err := a.Repo.Objects().Home().Output(ctx, "for-each-ref", "--sort=version:refname", "--format=%(contents)%00", turn.OpPrefix(a.Record.TurnSession))
	for text := range strings.SplitSeq(out, "\x00\n") {
		if op, err := turn.ParseOp(text); err == nil {
			all = append(all, *op)
		}
	}
	return all, err
}

// PutBack returns where moves have left an agent's worktree, as the turn at whose end it was then, by the number of the
// agent's last turn at that time.
func PutBack(ctx context.Context, a app.Agent) (at map[int]int, err error) {
	ops, err := Ops(ctx, a)
	at = map[int]int{}
	for _, op := range ops {
		at[op.Last] = op.At
	}
	return at, err
}
