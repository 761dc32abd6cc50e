package landing

import (
	"context"
	"strconv"
	"sync"

	"paw/orchestrator/errs"
)

// look looks at the target and, the first time, takes the agent's state. The two run at the same
// time, because each starts several git processes. The caller keeps other landings away.
func (l *landing) look(ctx context.Context) (t target, err error) {
	if l.composer != nil {
		l.composer.work, l.composer.asker = l.work, nil
		return l.lookAtTarget(ctx, l.branch, l.options.lineInto(l.work))
	}
	src, err := l.sourceOf(ctx, l.options.Turn, l.options.lineAt(l.work))
	if err != nil {
		return t, &notTakenError{err}
	}
	l.countTurns(src)
	if l.records, err = l.allRecords(); err != nil {
		return t, err
	}
	if _, err = l.siblings(ctx); err != nil { // decides what both looks then only read
		return t, err
	}
	var a *asker
	var targetErr error
	var beside sync.WaitGroup
	beside.Go(func() {
		if t, targetErr = l.lookAtTarget(ctx, l.branch, l.options.lineInto(l.work)); targetErr == nil {
			a = l.askAhead(ctx, t)
		}
	})
	err = src.take(ctx, l.work)
	beside.Wait()
	if err != nil {
		return t, &notTakenError{err}
	}
	if src.turn > 0 { // of another machine's agent, that machine has chosen the turn
		l.options.Turn = strconv.Itoa(src.turn)
	}
	if err := l.asShown(ctx, src); err != nil {
		return t, err
	}
	if a != nil {
		a.region = a.region.withState(src.state, src.head)
	}
	l.composer = &composer{
		work: l.work, source: src, asker: a, options: l.options, version: l.version,
		signs:   sync.OnceValues(func() (bool, error) { return l.Repo.Objects().SignsCommits(ctx) }),
		message: func(draft string) (string, error) { return l.message(ctx, draft) },
	}
	return t, targetErr
}

// askAhead returns an asker that knows the history of the target and of HEAD of the agent's
// worktree, nil after an error: the look that needs it meets that again.
func (l *landing) askAhead(ctx context.Context, t target) *asker {
	a, err := l.askerFor(ctx, t, l.options.Again)
	if err != nil {
		return nil
	}
	if l.options.Turn == "" {
		a.region, _ = a.regionOfHead(ctx)
	}
	return a
}

// asShown refuses a state that differs from the one the user was shown.
func (l *landing) asShown(ctx context.Context, now *source) error {
	if l.options.State == "" {
		return nil
	}
	shown, err := l.Repo.Objects().TreeOf(ctx, l.options.State)
	if err != nil {
		return err
	}
	if tree, err := l.Repo.Objects().TreeOf(ctx, now.state); err != nil || tree == shown {
		return err
	}
	return errs.New(errs.Refused, "%s: has changed since it was shown, nothing has landed", l.Record.Name).
		Hint("%s --dry-run", l.options.line(l.Session, l.Record.Name))
}
