package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Begin starts the next turn. It first claims the number, skipping numbers whose tag exists, then
// writes START, then takes the snapshot of the state before.
func (t *Recorder) Begin(ctx context.Context, start turn.Start) (*turn.Turn, error) {
	cutShort := t.endMove(ctx)
	head, err := t.head(ctx)
	if err != nil {
		return nil, err
	}
	start.Commit = head
	var skipped []int
	atLeast := max(t.Dir.Highest(), t.Record.TurnHighWater) + 1
	for {
		n, err := t.Repo.Refs().Claim(ctx, turn.ClaimPrefix(t.Record.TurnSession), atLeast, head)
		if err != nil {
			return nil, err
		}
		t.App.Step("turn.claimed")
		taken, err := t.tagged(ctx, n)
		if err != nil {
			return nil, err
		}
		if taken && t.Strict {
			return nil, &TagTakenError{Number: n, Tag: turn.TagName(t.Record.TurnSession, n)}
		}
		if taken {
			skipped, atLeast = append(skipped, n), n+1
			continue
		}
		one := turn.New(t.Dir, n, t.App.Now)
		if err := one.Start(start); err != nil {
			return nil, err
		}
		t.App.Step("turn.started")
		if t.Started != nil {
			t.Started()
		}
		if cutShort != "" {
			_ = one.Note(cutShort)
		}
		for _, n := range skipped {
			_ = one.Note(leftOut(n, turn.TagName(t.Record.TurnSession, n)))
		}
		if note := t.before(ctx, n, start.Follows); note != "" {
			_ = one.Note(note)
		}
		t.App.Step("turn.before")
		if err := t.begun(ctx, one); err != nil {
			_ = one.Note("what it waited for is still in the record: " + err.Error())
		}
		return one, nil
	}
}

// leftOut returns the note for a number that was skipped because a foreign tag has its name.
func leftOut(n int, tag string) string {
	return fmt.Sprintf("number %d was left out: tag %s exists already", n, tag)
}

// endMove finishes an interrupted move of files in the worktree before the agent works there; the
// note describes the outcome.
func (t *Recorder) endMove(ctx context.Context) (note string) {
	ended, err := t.Repo.Moves().EndMoveIn(ctx, t.Record.WorktreePath)
	switch {
	case err != nil && t.Repo.Journals().Settled(ctx, t.Record.WorktreePath) != nil:
		return "the files are half moved: " + err.Error()
	case err != nil || ended == nil:
		return ""
	}
	return ended.String()
}

// before creates the snapshot of the state before turn n. For a turn that follows another one
// immediately it is the snapshot of that turn's end: when the follower is noticed it is already at
// work.
func (t *Recorder) before(ctx context.Context, n int, follows bool) string {
	if follows {
		ended := turn.TurnRef(t.Record.TurnSession, n-1)
		if end, err := t.Repo.Refs().Read(ctx, ended); err == nil && end != "" {
			if _, err = t.Repo.Refs().Create(ctx, turn.BeforeRef(t.Record.TurnSession, n), end); err == nil {
				return ""
			}
		}
	}
	commit, head, note := t.snapshot(ctx, turn.BeforeRef(t.Record.TurnSession, n), fmt.Sprintf("paw: %s before turn %d", t.Record.Name, n))
	if commit != "" {
		note = cmp.Or(t.chain(ctx, commit, head, fmt.Sprintf("before turn %d", n)), note)
	}
	return note // without a snapshot the claim of the number keeps HEAD's commit
}

// hold records the present state as the one that the turn ends with, unless the CLI goes on with the
// turn.
func (t *Recorder) hold(ctx context.Context, one *turn.Turn, answer string) error {
	snapshot, _, note := t.snapshot(ctx, "", fmt.Sprintf("paw: %s after turn %d", t.Record.Name, one.Number()))
	if note != "" {
		_ = one.Note(note)
	}
	head, err := t.head(ctx)
	if err != nil {
		return err
	}
	t.Held = true
	return one.Hold(turn.End{CommitHash: head, Snapshot: snapshot, Message: answer})
}

// endOf returns the state that a turn ends with: the held one, else the present one. A state that
// was held while subagents were at work is not the turn's last.
func (t *Recorder) endOf(ctx context.Context, one *turn.Turn, answer string) (head, snapshot, said, note string, err error) {
	ref := turn.TurnRef(t.Record.TurnSession, one.Number())
	if held := one.Record().Held; held != nil && held.Subagents == 0 {
		if _, err := t.Repo.Refs().Create(ctx, ref, held.Snapshot); err == nil {
			note = t.chain(ctx, held.Snapshot, held.Commit, fmt.Sprintf("after turn %d", one.Number()), turn.StateRef(t.Record.TurnSession, one.Number()))
			return held.Commit, held.Snapshot, held.Message, note, nil
		}
		note = "the snapshot of its end is lost, a later one stands in for it"
	}
	snapshot, missing := t.snapshotAfter(ctx, one.Number(), "")
	head, err = t.head(ctx)
	return head, snapshot, answer, cmp.Or(missing, note), err
}

// Finish ends a turn successfully: snapshot, END with the result, record, tag, in this order. If
// the tag fails, the result is recorded; the end of the next turn, or recover, makes the tag.
func (t *Recorder) Finish(ctx context.Context, one *turn.Turn, answer string) (turn.Result, error) {
	n := one.Number()
	head, snapshot, answer, note, err := t.endOf(ctx, one, answer)
	if note != "" {
		_ = one.Note(note)
	}
	t.noteStrays(one)
	t.App.Step("turn.snapshot")
	if err != nil {
		return turn.Result{}, err
	}
	end := turn.End{Outcome: "success", Message: display.FirstLine(answer), CommitHash: head, Snapshot: snapshot}
	if start := one.Record().StartCommit; head != start {
		message, err := t.Repo.Objects().LastMessage(ctx, t.Record.WorktreePath, head, start)
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
	t.Ended = true
	t.App.Step("turn.ended")
	t.remember(ctx, n, func(f *session.Finished) { f.Add(n) })
	t.App.Step("turn.remembered")
	if err = t.tag(ctx, result); err != nil {
		_ = one.Note("its tag could not be made: " + err.Error())
	} else {
		t.tagEarlier(ctx, n)
	}
	t.App.Step("turn.tagged")
	return result, err
}

// noteStrays notes the worktrees that the CLI may have made in a turn which ends.
func (t *Recorder) noteStrays(one *turn.Turn) {
	for _, stray := range worktree.Strays(t.Record.WorktreePath, t.Session.GitCommonDir, one.Record().StartedAt) {
		_ = one.Stray(stray.Name, fmt.Sprintf(session.ReasonStray, stray.Path))
	}
}

// tagged reports whether the tag of a turn exists. It reads that one ref: a repository may have thousands of tags.
func (t *Recorder) tagged(ctx context.Context, n int) (bool, error) {
	at, err := t.Repo.Refs().Read(ctx, turn.TagRef(t.Record.TurnSession, n))
	return at != "", err
}

// mostLate is how many turns tagEarlier looks back: a hook has little time.
const mostLate = 8

// tagEarlier makes the tags that the turns right before n lack, back to the first turn that has one: they could not be made.
// A tag that lacks before that was deleted since, and is left to recover.
func (t *Recorder) tagEarlier(ctx context.Context, n int) {
	for r := range t.Dir.Backward(n - 1) {
		result, finished := r.Result()
		there, err := t.tagged(ctx, r.Number)
		if r.Number < n-mostLate || there || err != nil || finished && t.tag(ctx, result) != nil {
			return
		}
	}
}

// tag creates the tag of a finished turn on the commit of its result.
func (t *Recorder) tag(ctx context.Context, r turn.Result) error {
	won, err := t.Repo.Refs().Create(ctx, turn.TagRef(t.Record.TurnSession, r.Number), r.CommitHash)
	if err == nil && !won {
		err = fmt.Errorf("tag %s exists already", turn.TagName(t.Record.TurnSession, r.Number))
	}
	return err
}

// Abort ends a turn without success: ABORT, snapshot, record, in this order, since a CLI that ends may
// end its hook, too. For a turn that failed the snapshot comes first, as for one that succeeded: who
// waits for the turn may use its snapshot at once. Where ABORT cannot be written the turn has not
// ended: Abort returns the error, and no end is reported.
func (t *Recorder) Abort(ctx context.Context, one *turn.Turn, cause *turn.Abort) error {
	n := one.Number()
	save := func() {
		if _, note := t.snapshotAfter(ctx, n, ", "+string(cause.Reason)); note != "" {
			_ = one.Note(note)
		}
		t.App.Step("turn.snapshot")
	}
	failed := cause.Reason == turn.ReasonError
	if failed {
		save()
	}
	if err := one.Abort(cause); one.State() != turn.Aborted {
		return err
	}
	t.Ended = true
	t.App.Step("turn.aborted")
	if !failed {
		save()
	}
	t.noteStrays(one)
	t.remember(ctx, n, func(*session.Finished) {})
	t.App.Step("turn.remembered")
	return nil
}

// TagTakenError means that a turn cannot have its number: the tag for its end exists already, and
// not from this turn.
type TagTakenError struct {
	Number int
	Tag    string
}

// said returns what the agent reported by paw done in turn n, nil for nothing. It reads the record
// again, which may have changed since t was made.
func (t *Recorder) said(n int) *session.Done {
	rec, err := t.App.Store.Load(t.Session.Name)
	if err != nil || rec == nil {
		return nil
	}
	w := rec.Agent(t.Record.Name)
	if w == nil || w.Done == nil || w.Done.Turn != n {
		return nil
	}
	return w.Done
}

func (e *TagTakenError) Error() string {
	return fmt.Sprintf("turn %d: tag %s exists already", e.Number, e.Tag)
}

// outcomeFooter returns the word of the "outcome:" footer of a commit message.
func outcomeFooter(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	// Some CLIs add a footer as another paragraph: all last lines that look like footers count.
	for i := len(lines) - 1; i > 0; i-- {
		name, value, ok := strings.Cut(lines[i], ":")
		switch {
		case strings.TrimSpace(lines[i]) == "":
			continue
		case !ok || strings.ContainsAny(name, " \t"):
			return ""
		case strings.EqualFold(name, "outcome") && len(strings.Fields(value)) > 0:
			return strings.Fields(value)[0]
		}
	}
	return ""
}

// ErrSettled means that the record has another wait by now, or none: another process was first.
var ErrSettled = errors.New("settled already")

// SettleWait removes a wait whose results were typed from the record.
func SettleWait(ctx context.Context, h *app.App, sessionName, agentName, id string) error {
	_, err := h.Update(ctx, sessionName, func(rec *session.Session) error {
		w := rec.Agent(agentName)
		if w == nil || w.Wait == nil || w.Wait.ID != id || w.Wait.TypedAt == nil {
			return ErrSettled
		}
		rec.SettleWait(agentName)
		return nil
	})
	if errors.Is(err, ErrSettled) {
		return nil
	}
	if err == nil {
		h.Step("deliver.acknowledged")
	}
	return err
}

// begun settles the agent's wait at the begin of a turn, whose prompt may be the results. If it is
// another prompt, results that were typed before never arrived: the turn notes that, and they are
// no longer owed.
func (t *Recorder) begun(ctx context.Context, one *turn.Turn) error {
	wait := t.Record.Wait
	if wait == nil || wait.TypedAt == nil {
		return nil
	}
	if !observe.Arrived(t.App, t.Session.Name, *t.Record) {
		if t.App.Locks.DeliveryHeld(t.Session.Name, t.Record.Name) {
			return nil // the deliverer is about to find out
		}
		names := strings.Join(wait.Children, ", ")
		if err := one.Note(fmt.Sprintf("the results of %s were typed before and not confirmed", names)); err != nil {
			return err
		}
	}
	t.Record.Wait = nil
	return SettleWait(ctx, t.App, t.Session.Name, t.Record.Name, wait.ID)
}
