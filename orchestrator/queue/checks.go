package queue

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"paw/config/poll"
	"paw/orchestrator/errs"
	"paw/orchestrator/forge"
	"paw/session"
)

// checkEvery is the time between two looks whether a check that runs is still wanted.
const checkEvery = 500 * time.Millisecond

// checkOne runs one check that is due, unless another process runs checks of this queue, and
// reports whether it did.
func (p *pump) checkOne(ctx context.Context) (did bool, err error) {
	q, err := p.Queues().Load(p.session)
	if err != nil || q == nil {
		return false, err
	}
	due := slices.IndexFunc(q.Tasks, func(t session.Task) bool { return t.State == session.TaskRunning && t.Checking })
	if due < 0 {
		return false, nil
	}
	unlock := p.Locks.QueueChecks(p.session)
	if unlock == nil {
		return false, nil // the holder of the lock looks for more afterwards
	}
	defer unlock()
	t := q.Tasks[due]
	commit, failed, checkErr := p.check(ctx, t)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	p.Step("queue.checked")
	if failed != "" {
		if err := p.Queues().KeepText(p.session, t.ID, session.TextBack, failed); err != nil {
			return false, err
		}
	}
	_, err = p.Queues().Update(ctx, p.session, func(q *session.Queue) error {
		if now := q.Task(t.ID); now != nil && now.State == session.TaskRunning && now.Checking && now.Turn == t.Turn {
			if checkErr == nil {
				now.Commit = commit
			}
			if t.On == "" || !notYet(now, checkErr, p.Now(), paceOf(p.App)) {
				Checked(now, failed != "", checkErr)
			}
		}
		return nil
	})
	return err == nil, err
}

// check runs the check of a task, or asks the server for its checks and their commit, and ends that as soon as the
// task is held or taken out.
func (p *pump) check(ctx context.Context, t session.Task) (commit, failed string, err error) {
	p.while(ctx, func(q *session.Queue) bool { return q.Task(t.ID) != nil && q.Task(t.ID).Checking }, func(ctx context.Context) {
		if t.On == "" {
			failed, err = p.hands.check(ctx, t)
			return
		}
		commit, failed, err = p.hands.ask(ctx, t)
	})
	return commit, failed, err
}

// notYet has a task wait whose server has no news of its checks, or does not answer, and reports whether it does: after
// Pace.GiveUp without an answer it does not. A push that did not come to its end is made again then.
func notYet(t *session.Task, err error, now time.Time, pace Pace) bool {
	said, ok := errors.AsType[*errs.Error](err)
	waits := errors.Is(err, forge.ErrNotYet)
	if waits {
		t.Turn = 0
	}
	switch {
	case ok && (said.Kind == errs.Failed || said.Kind == errs.Locked):
		if t.Refused = firstLine(err.Error()); t.RefusedAt.IsZero() {
			t.RefusedAt = now.UTC()
		}
		if now.Sub(t.RefusedAt) >= pace.GiveUp {
			return false
		}
	case waits:
		t.Refused, t.RefusedAt = "", time.Time{}
	default:
		return false
	}
	t.State, t.Why, t.Typed, t.NotYet = session.TaskWaiting, "", false, now.Add(pace.Ask).UTC()
	return true
}

// while runs a check, and ends it as soon as the queue does not want it any more.
func (p *pump) while(ctx context.Context, wanted func(*session.Queue) bool, check func(context.Context)) {
	ctx, end := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for poll.Sleep(ctx, checkEvery); ctx.Err() == nil; poll.Sleep(ctx, checkEvery) {
			q, err := p.Queues().Load(p.session)
			if err == nil && !wanted(q) {
				end()
			}
		}
	})
	defer watch.Wait()
	defer end()
	check(ctx)
}

// Checked records the outcome of a task's check: after a failure the output is sent to the agent,
// as often as the task allows.
func Checked(t *session.Task, failed bool, err error) {
	t.Checking, t.Refused, t.RefusedAt = false, "", time.Time{}
	switch {
	case err != nil:
		t.State, t.Why = session.TaskHeld, session.HeldCheck+firstLine(err.Error())
	case !failed:
		t.State, t.Why = session.TaskDone, ""
	case t.Tries >= t.Retries:
		t.Tries++
		t.State, t.Why = session.TaskFailed, "its check failed"
	default:
		t.Tries++
		t.State, t.Kind, t.Text, t.Turn, t.Typed = session.TaskWaiting, session.PromptTask, session.TextBack, 0, false
	}
}
