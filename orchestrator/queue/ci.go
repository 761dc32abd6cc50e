package queue

import (
	"context"
	"strconv"

	"paw/orchestrator/errs"
	"paw/orchestrator/forge"
	"paw/orchestrator/landing"
	"paw/session"
	"paw/worktree"
)

// A task on the checks of a pull request has these for its check: the server is asked before its first turn and after
// each, and what has failed is the next prompt.

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
		pushed, err := landing.PullRequest(ctx, h, s, t.Agent, landing.PullOptions{Turn: strconv.Itoa(t.Turn), Terminal: worktree.Terminal{Env: h.Env}})
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
