package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"paw/session"
	"paw/worktree"
)

// undoStart removes what a failed start made, as long as nobody used it;
// otherwise it says how to go on.
func (p *Paw) undoStart(s *session.Session, plans []worktree.Plan, cause error) error {
	// The user's Ctrl-C must not stop the clean-up.
	ctx := context.Background()
	if err := p.rollbackWorktrees(ctx, s, plans); err != nil {
		return withHint(cause, "paw recover "+s.Name, "paw purge "+s.Name)
	}
	known := make([]string, len(plans))
	for i, plan := range plans {
		known[i] = plan.Agent
	}
	if err := p.deleteSession(ctx, s.Name, known, func() error { return nil }); err != nil {
		return withHint(cause, "paw purge "+s.Name)
	}
	return cause
}

// undoAdd takes agents that never started out of the record again.
func (p *Paw) undoAdd(s *session.Session, plans []worktree.Plan, cause error) error {
	draft := *s
	draft.Worktrees = nil
	for _, plan := range plans {
		if w := s.Worktree(plan.Agent); w != nil {
			draft.Worktrees = append(draft.Worktrees, *w)
		}
	}
	ctx := context.Background()
	if err := p.rollbackWorktrees(ctx, &draft, plans); err != nil {
		return withHint(cause, "paw recover "+s.Name)
	}
	_, err := p.update(ctx, s.Name, func(rec *session.Session) error {
		for _, plan := range plans {
			dropAgent(rec, plan.Agent)
		}
		return nil
	})
	if err != nil {
		return withHint(cause, "paw recover "+s.Name)
	}
	return cause
}

// rollbackWorktrees removes the worktrees and branches of agents that were
// never started; it refuses when one was.
func (p *Paw) rollbackWorktrees(ctx context.Context, s *session.Session, plans []worktree.Plan) error {
	f, err := p.observe(ctx, s)
	if err != nil {
		return err
	}
	for _, a := range f.agents {
		if a.everLaunched(s) || a.pane != nil {
			return fmt.Errorf("%s was started", a.record.Agent)
		}
	}
	repository, err := discover(s)
	if err != nil {
		return err
	}
	var made []worktree.Made
	for _, plan := range plans {
		if plan.TakeBack { // it was there before
			if err := p.manager(repository).Release(ctx, plan); err != nil {
				return err
			}
			continue
		}
		// What Create could not complete it has taken back already.
		if _, err := os.Lstat(plan.Path); err == nil {
			one := worktree.Made{Agent: plan.Agent, BranchCreated: plan.CreateBranch}
			if w := s.Worktree(plan.Agent); w != nil && w.From != nil {
				one.Snapshot = w.From.Snapshot
			}
			made = append(made, one)
		}
	}
	if err := p.manager(repository).Rollback(ctx, plans, made); err != nil {
		return err
	}
	if err := p.untagStarts(ctx, p.manager(repository), s); err != nil {
		return err
	}
	if err := p.dropOrigins(ctx, p.manager(repository), s); err != nil {
		return err
	}
	for _, w := range s.Worktrees {
		if err := p.withdrawLaunches(s.Name, w.Agent); err != nil {
			return err
		}
		_ = os.Remove(p.promptPath(s.Name, w.Agent))
	}
	_ = os.Remove(filepath.Join(p.Paths.LaunchDir(), s.Name)) // when it is empty
	return nil
}

// withHint adds commands to an error that has to be shown.
func withHint(err error, hints ...string) error {
	var e *Error
	if !errors.As(err, &e) {
		e = failf(KindError, "%w", err)
	}
	e.Hints = append(e.Hints, hints...)
	return e
}

// dropAgent takes an agent out of a record.
func dropAgent(s *session.Session, name string) {
	kept := s.Worktrees[:0]
	for _, w := range s.Worktrees {
		if w.Agent != name {
			kept = append(kept, w)
		}
	}
	s.Worktrees = kept
	for i := range s.Worktrees {
		// A later agent of that name has not started them.
		if s.Worktrees[i].Parent == name {
			s.Worktrees[i].Parent = ""
		}
	}
}
