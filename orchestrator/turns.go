package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// turns is what changes the turns of one agent: its log, its refs and its
// record. Every method is called with the agent's turn lock held.
type turns struct {
	p      *Paw
	s      *session.Session
	w      *session.Worktree
	m      worktree.Manager
	dir    turn.Dir
	budget worktree.Budget
	strict bool // a number whose tag exists is an error: somebody can be told
	ended  bool // a turn came to its end
	held   bool // a turn came to what may be its end
	joined bool // a prompt joined a turn, or waits behind it
}

// turnDir is the folder with the turn logs of an agent.
func (p *Paw) turnDir(sessionName, agentName string) turn.Dir {
	return turn.Dir{Path: filepath.Join(p.Paths.TurnsDir(), sessionName, agentName)}
}

// withTurns runs change with the turn lock of an agent.
func (p *Paw) withTurns(ctx context.Context, s *session.Session, w *session.Worktree, change func(*turns) error) error {
	repository, err := p.repositoryOf(ctx, s)
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	unlock, err := p.Locks.Turn(waiting, s.Name, w.Agent)
	if err != nil {
		return p.recordError(s.Name, err)
	}
	defer unlock()
	return change(&turns{
		p: p, s: s, w: w, m: p.manager(repository), dir: p.turnDir(s.Name, w.Agent),
		budget: worktree.Budget{
			Time:  time.Duration(p.Config.Turns.SnapshotSeconds) * time.Second,
			Bytes: int64(p.Config.Turns.SnapshotMiB) << 20,
		},
	})
}

// begin starts the next turn: the number is claimed for good before anything
// else, a number whose tag exists already is left out, then START, then the
// snapshot of the state before.
func (t *turns) begin(ctx context.Context, start turn.Start) (*turn.Turn, error) {
	head, err := t.head(ctx)
	if err != nil {
		return nil, err
	}
	start.Commit = head
	var skipped []int
	atLeast := max(t.dir.Highest(), t.w.TurnHighWater) + 1
	for {
		n, err := t.m.ClaimTurn(ctx, t.w.TurnSession, atLeast, head)
		if err != nil {
			return nil, err
		}
		t.p.Step("turn.claimed")
		taken, err := t.tagged(ctx, n)
		if err != nil {
			return nil, err
		}
		if taken && t.strict {
			return nil, &TagTakenError{Number: n, Tag: turn.TagName(t.w.TurnSession, n)}
		}
		if taken {
			skipped, atLeast = append(skipped, n), n+1
			continue
		}
		one := turn.New(t.dir, n, t.p.Now)
		if err := one.Start(start); err != nil {
			return nil, err
		}
		t.p.Step("turn.started")
		for _, n := range skipped {
			_ = one.Note(fmt.Sprintf("number %d was left out: tag %s exists already", n, turn.TagName(t.w.TurnSession, n)))
		}
		if note := t.before(ctx, n, start.Follows); note != "" {
			_ = one.Note(note)
		}
		t.p.Step("turn.before")
		if err := t.begun(ctx, one); err != nil {
			_ = one.Note("what it waited for is still in the record: " + err.Error())
		}
		return one, nil
	}
}

// before makes the snapshot of the state before turn n. That of a turn which follows another at once is that of the
// other's end: it is known only when the turn is at work already.
func (t *turns) before(ctx context.Context, n int, follows bool) (note string) {
	if follows {
		ended := turn.TurnRef(t.w.TurnSession, n-1)
		refs, err := t.m.Refs(ctx, ended)
		if end := refs[ended]; err == nil && end != "" {
			if _, err = t.m.CreateRef(ctx, turn.BeforeRef(t.w.TurnSession, n), end); err == nil {
				return ""
			}
		}
	}
	return t.snapshotBefore(ctx, n)
}

// hold writes down how the turn ends if the CLI does not go on with it.
func (t *turns) hold(ctx context.Context, one *turn.Turn, answer string) error {
	snapshot, note := t.snapshot(ctx, "", fmt.Sprintf("paw: %s after turn %d", t.w.Agent, one.Number()))
	if note != "" {
		_ = one.Note(note)
	}
	head, err := t.head(ctx)
	if err != nil {
		return err
	}
	t.held = true
	return one.Hold(turn.End{CommitHash: head, Snapshot: snapshot, Message: answer})
}

// endOf is the state that a turn ends with: that which was held, or the one of now.
func (t *turns) endOf(ctx context.Context, one *turn.Turn, answer string) (head, snapshot, said, note string, err error) {
	ref := turn.TurnRef(t.w.TurnSession, one.Number())
	if held := one.Record().Held; held != nil {
		if _, err := t.m.CreateRef(ctx, ref, held.Snapshot); err == nil {
			return held.Commit, held.Snapshot, held.Message, "", nil
		}
		note = "the snapshot of its end is lost, a later one stands in for it"
	}
	snapshot, missing := t.snapshotAfter(ctx, one.Number(), "")
	head, err = t.head(ctx)
	return head, snapshot, answer, cmp.Or(missing, note), err
}

// finish ends a turn well: snapshot, END with the result, record, tag, in this
// order. If the tag fails, the result is known all the same and recover tags it.
func (t *turns) finish(ctx context.Context, one *turn.Turn, answer string) (turn.Result, error) {
	n := one.Number()
	head, snapshot, answer, note, err := t.endOf(ctx, one, answer)
	if note != "" {
		_ = one.Note(note)
	}
	t.p.Step("turn.snapshot")
	if err != nil {
		return turn.Result{}, err
	}
	end := turn.End{Outcome: "success", Message: firstLine(answer), CommitHash: head, Snapshot: snapshot}
	if start := one.Record().StartCommit; head != start {
		message, err := t.m.LastMessage(ctx, t.w.WorktreePath, head, start)
		if err != nil {
			_ = one.Note("the message of the last commit cannot be read: " + err.Error())
		}
		if message != "" {
			end.Message = message
			if outcome := outcomeFooter(message); outcome != "" {
				end.Outcome = outcome
			}
		}
	}
	if done := t.said(n); done != nil {
		end.Outcome, end.Message = cmp.Or(done.Outcome, end.Outcome), cmp.Or(done.Message, end.Message)
	}
	result, err := one.Finish(end)
	if err != nil {
		return result, err
	}
	t.ended = true
	t.p.Step("turn.ended")
	t.remember(ctx, n, func(f *session.Finished) {
		if f.Last == 0 && n > 1 { // the record may be that of a paw that did not count
			*f = countFinished(finishedTurns(t.w, t.dir))
		}
		f.Add(n)
	})
	t.p.Step("turn.remembered")
	err = t.tag(ctx, result)
	t.p.Step("turn.tagged")
	return result, err
}

// tag makes the tag of a finished turn, on the commit of its result.
func (t *turns) tag(ctx context.Context, r turn.Result) error {
	won, err := t.m.CreateRef(ctx, turn.TagRef(t.w.TurnSession, r.Number), r.CommitHash)
	if err == nil && !won {
		err = fmt.Errorf("tag %s exists already", turn.TagName(t.w.TurnSession, r.Number))
	}
	return err
}

// abort ends a turn badly: ABORT first, then the snapshot of what it left.
func (t *turns) abort(ctx context.Context, one *turn.Turn, cause *turn.Abort) {
	_ = one.Abort(cause)
	t.ended = true
	t.p.Step("turn.aborted")
	n := one.Number()
	if _, note := t.snapshotAfter(ctx, n, ", "+string(cause.Reason)); note != "" {
		_ = one.Note(note)
	}
	t.p.Step("turn.snapshot")
	t.remember(ctx, n, func(*session.Finished) {})
	t.p.Step("turn.remembered")
}

// remember writes the number into the record, and with count how many turns have
// finished: the record keeps both even when log and refs are lost.
func (t *turns) remember(ctx context.Context, n int, count func(*session.Finished)) {
	finished := t.w.Finished
	if count(&finished); t.w.TurnHighWater >= n && finished == t.w.Finished {
		return
	}
	saved, err := t.p.update(ctx, t.s.Name, func(rec *session.Session) error {
		if w := rec.Worktree(t.w.Agent); w != nil {
			w.TurnHighWater = max(w.TurnHighWater, n)
			count(&w.Finished)
		}
		return nil
	})
	if err == nil && saved.Worktree(t.w.Agent) != nil {
		w := saved.Worktree(t.w.Agent)
		t.w.TurnHighWater, t.w.Finished = w.TurnHighWater, w.Finished
	}
}

// open returns the agent's last turn when it is open.
func (t *turns) open() (*turn.Turn, error) {
	last, err := t.dir.Last()
	if err != nil || last == nil || last.State != turn.InProgress {
		return nil, err
	}
	return turn.Open(last.LogFile, t.p.Now)
}
