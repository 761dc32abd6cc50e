package landing

import (
	"context"
	"strconv"
	"sync"

	"paw/orchestrator/errs"
)

// look looks at the target and, the first time, takes the agent's state. The two run at the same
// time, because each starts several git processes. The caller keeps other landings away.
func (l *landing) look(ctx context.Context) (err error) {
	if l.asker = nil; l.source != nil {
		l.target, err = l.lookAtTarget(ctx, l.branch, l.options.lineInto(l.work))
		return err
	}
	src, err := l.sourceOf(ctx, l.options.Turn, l.options.lineAt(l.work))
	if err != nil {
		return &notTakenError{err}
	}
	l.countTurns(src)
	if l.records, err = l.allRecords(); err != nil {
		return err
	}
	if _, err = l.siblings(ctx); err != nil { // decides what both looks then only read
		return err
	}
	var targetErr error
	var beside sync.WaitGroup
	beside.Go(func() {
		if l.target, targetErr = l.lookAtTarget(ctx, l.branch, l.options.lineInto(l.work)); targetErr == nil {
			l.asker = l.askAhead(ctx)
		}
	})
	err = src.take(ctx, l.work)
	beside.Wait()
	if err != nil {
		return &notTakenError{err}
	}
	if src.turn > 0 { // of another machine's agent, that machine has chosen the turn
		l.options.Turn = strconv.Itoa(src.turn)
	}
	if err := l.asShown(ctx, src); err != nil {
		return err
	}
	if l.asker != nil {
		l.asker.region = l.asker.region.withState(src.state, src.head)
	}
	l.source = src
	return targetErr
}

// askAhead returns an asker that knows the history of the target and of HEAD of the agent's
// worktree, nil after an error: the look that needs it meets that again.
func (l *landing) askAhead(ctx context.Context) *asker {
	a, err := l.askerFor(ctx, l.target, l.options.Again)
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
