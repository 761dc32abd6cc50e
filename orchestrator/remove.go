package orchestrator

import (
	"context"
	"errors"
	"os"

	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// RemoveOptions says how much of an agent goes.
type RemoveOptions struct {
	KeepWorktree bool
	Force        bool // rescue what is not committed, then remove
	DryRun       bool
	Tags         bool // of purge: turn tags, refs/paw and turn logs go, too
}

// Removed is what remove did, and how to get it back.
type Removed struct {
	Agent     string
	Branch    string
	Worktree  string
	RescueRef string   // holds what was not committed, with --force
	Trash     string   // folder that was kept, with --force
	Children  []string // agents that it has started; they stay
}

// Remove ends an agent and removes its worktree; its branch and tags stay. It
// refuses as long as anything would be lost (docs/never-lose-work.md).
func (p *Paw) Remove(ctx context.Context, s *session.Session, name string, o RemoveOptions) (*Removed, error) {
	w, err := agentNamed(s, name)
	if err != nil {
		return nil, err
	}
	if err := p.requireGit(ctx); err != nil {
		return nil, err
	}
	repository, err := p.repositoryOf(ctx, s)
	if err != nil {
		return nil, err
	}
	m := p.manager(repository)
	removed := &Removed{Agent: name, Branch: w.Branch, Worktree: w.WorktreePath, Children: s.Children(name)}
	if err := p.betweenTurns(ctx, s, []string{name}, o); err != nil {
		return removed, err
	}
	if err := p.removable(ctx, m, s, w, o); err != nil || o.DryRun {
		return removed, err
	}
	phase := removalPhase(o)
	rec, err := p.update(ctx, s.Name, func(rec *session.Session) error {
		w, err := agentNamed(rec, name)
		if err == nil {
			w.Phase = phase
		}
		return err
	})
	if err != nil {
		return nil, p.recordError(s.Name, err)
	}
	p.Step("remove.recorded")
	defer p.claimAfter(s.Name, name, Claim{})
	return removed, p.finishRemoval(ctx, m, rec, name, removed, func() {})
}

// removalPhase is the intent that a removal records.
func removalPhase(o RemoveOptions) session.Phase {
	switch {
	case o.KeepWorktree:
		return session.PhaseLeaving
	case o.Force:
		return session.PhaseDiscarding
	}
	return session.PhaseRemoving
}

// finishRemoval carries out the removal that the record asks for, and last, as
// long as the record still has the agent. It may be repeated after a crash at any
// point.
func (p *Paw) finishRemoval(ctx context.Context, m worktree.Manager, s *session.Session, name string, removed *Removed, last func()) error {
	if err := p.endForRemoval(ctx, s, name); err != nil {
		return err
	}
	p.Step("remove.agent-ended")
	w := s.Worktree(name)
	p.cutTurn(ctx, s, *w, turn.ReasonStopped)
	if w.Phase == session.PhaseLeaving {
		if err := m.Release(ctx, w.WorktreePath); err != nil {
			return err
		}
	} else if err := p.removeWorktree(ctx, m, s, w, removed); err != nil {
		return errors.Join(err, p.giveUpRemoval(ctx, s.Name, name))
	}
	p.Step("remove.worktree-gone")
	last()
	_, err := p.update(ctx, s.Name, func(rec *session.Session) error {
		dropAgent(rec, name)
		return nil
	})
	p.Step("remove.finished")
	return err
}

// giveUpRemoval records that an agent stays, stopped, after all.
func (p *Paw) giveUpRemoval(ctx context.Context, sessionName, agentName string) error {
	_, err := p.update(ctx, sessionName, func(rec *session.Session) error {
		if w := rec.Worktree(agentName); w != nil {
			w.Phase = session.PhaseStopped
		}
		return nil
	})
	return err
}

// endForRemoval ends the agent whose worktree is about to go.
func (p *Paw) endForRemoval(ctx context.Context, s *session.Session, name string) error {
	f, err := p.observeRevived(ctx, s)
	if err != nil {
		return err
	}
	if f.tmux == session.TmuxUnknown {
		return failf(KindError, "%s: %s; its pane may still run", name, silence(f.tmuxErr)).hint("paw recover %s", s.Name)
	}
	return p.endAgents(ctx, s, f, func(agent string) bool { return agent == name }, &Stopped{})
}

// resumeRemoval goes on with a removal that was cut short.
func (p *Paw) resumeRemoval(ctx context.Context, s *session.Session, name string) error {
	repository, err := p.repositoryOf(ctx, s)
	if err != nil {
		return err
	}
	return p.finishRemoval(ctx, p.manager(repository), s, name, &Removed{Agent: name}, func() {})
}

// removeWorktree looks again, now that the CLI is dead, rescues what --force
// discards, and moves the directory away.
func (p *Paw) removeWorktree(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree, removed *Removed) error {
	force := w.Phase == session.PhaseDiscarding
	_, missing := os.Lstat(w.WorktreePath)
	if force && missing == nil && !m.HalfMade(w.WorktreePath) {
		ref := turn.RescueRef(w.TurnSession, p.Now())
		snapshot, err := m.Snapshot(ctx, w.WorktreePath, ref, "paw: "+w.Agent+" before its worktree was removed")
		if err != nil {
			return failf(KindRefused, "%s: not removed, its work could not be saved: %w", w.Agent, err)
		}
		removed.RescueRef = snapshot.Ref
		p.Step("remove.rescued")
	}
	trash, err := m.Remove(ctx, w.WorktreePath, force)
	if force {
		removed.Trash = trash
	}
	var refused *worktree.ConflictError
	if errors.As(err, &refused) {
		return failf(KindRefused, "%s: not removed: %w", w.Agent, err).
			hint("git -C %s status --ignored", quote(w.WorktreePath)).hint("paw remove %s --force --session %s", w.Agent, s.Name)
	}
	return err
}

// betweenTurns refuses to end agents in the middle of a turn, unless by force, and
// such as cannot be ended now.
func (p *Paw) betweenTurns(ctx context.Context, s *session.Session, names []string, o RemoveOptions) error {
	if !o.Force {
		return p.refuseBusy(ctx, s, names...)
	}
	f, err := p.observeRevived(ctx, s)
	if err != nil {
		return err
	}
	return refuseSilent(f, names)
}

// removable refuses to remove a worktree that holds anything git does not have.
func (p *Paw) removable(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree, o RemoveOptions) error {
	if _, err := os.Lstat(w.WorktreePath); errors.Is(err, os.ErrNotExist) || o.KeepWorktree {
		return nil
	}
	if err := worktree.Verify(w.WorktreePath, s.GitCommonDir, ""); err != nil {
		refused := failf(KindRefused, "%s: not removed: %w", w.Agent, err)
		if w.Phase == session.PhaseCreating || m.Unregistered(planOf(s, *w)) {
			return refused.hint("paw recover %s", s.Name)
		}
		return refused.hint("git -C %s worktree repair %s", quote(s.RepoPath), quote(w.WorktreePath))
	}
	if o.Force || m.HalfMade(w.WorktreePath) {
		return nil
	}
	dirt, err := m.Inspect(ctx, w.WorktreePath)
	if err != nil {
		return failf(KindRefused, "%s: not removed, its state cannot be read: %w", w.Agent, err)
	}
	if dirt.Clean() {
		return nil
	}
	return failf(KindRefused, "%s has %s", w.Agent, dirt.Summary()).
		hint("git -C %s status --ignored", quote(w.WorktreePath)).
		hint("paw remove %s --force --session %s", w.Agent, s.Name)
}
