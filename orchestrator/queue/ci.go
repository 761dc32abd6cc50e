package queue

import (
	"context"
	"errors"
	"time"

	"paw/orchestrator/errs"
	"paw/orchestrator/forge"
	"paw/orchestrator/landing"
	"paw/session"
	"paw/worktree"
)

// A task on the checks of a pull request has these for its check: the server is asked before its first turn and after
// each, and what has failed is the next prompt.

// longestAnswer limits how long gh or glab may take.
const longestAnswer = 2 * time.Minute

// notYet has a task wait whose server has no news of its checks, or does not answer, and reports whether it does. A push
// that did not come to its end is made again then.
func notYet(t *session.Task, err error, now time.Time, every time.Duration) bool {
	said, ok := errors.AsType[*errs.Error](err)
	switch waits := errors.Is(err, forge.ErrNotYet); {
	case waits:
		t.Turn, t.Refused, t.RefusedAt = 0, "", time.Time{}
	case ok && said.Kind == errs.Failed:
		if t.Refused = firstLine(err.Error()); t.RefusedAt.IsZero() {
			t.RefusedAt = now.UTC()
		}
	default:
		return false
	}
	t.State, t.Why, t.Typed, t.NotYet = session.TaskWaiting, "", false, now.Add(every).UTC()
	return true
}

// ask pushes, if the task says so, what its turn has made, and asks for the checks of the pull request.
func (o *ownHands) ask(ctx context.Context, t session.Task) (commit, failed string, err error) {
	s, err := o.Load(o.session)
	if err != nil {
		return "", "", err
	}
	h, err := o.asUser(s)
	if err != nil {
		return "", "", err
	}
	if t.Push && t.Turn > 0 {
		pushed, err := landing.PullRequest(ctx, h, s, t.Agent, landing.PullOptions{Terminal: worktree.Terminal{Env: h.Env}})
		if err != nil {
			return "", "", err
		}
		if pushed.Nothing || pushed.Commit == t.Commit {
			return "", "", errs.New(errs.Refused, "%s: nothing to push after the turn", t.Agent)
		}
		h.Step("queue.pushed")
	}
	return forge.CI(ctx, h, s, t.Agent, t.Commit)
}
