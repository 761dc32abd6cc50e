package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

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
	Session   string
	Agent     string
	CLI       string
	Branch    string
	Worktree  string
	RescueRef string   // holds what was not committed, with --force
	Rescue    string   // refs that hold what only its git directory led to
	Trash     string   // folder that was kept: with --force, or because of Aside
	Aside     []string // what git does not have and is no reason to refuse, such as ignored folders
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
	removed := &Removed{Session: s.Name, Agent: name, CLI: w.CLI, Branch: w.Branch, Worktree: w.WorktreePath, Children: s.Children(name)}
	if err := p.betweenTurns(ctx, s, []string{name}, o); err != nil {
		return removed, err
	}
	if removed.Aside, err = p.removable(ctx, m, s, w, o); err != nil || o.DryRun {
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

// Kept says where what is not deleted with an agent is, one line each.
func (r *Removed) Kept() []string {
	var lines []string
	if r.RescueRef != "" {
		lines = append(lines, "its files are in the commit "+r.RescueRef)
	}
	if r.Rescue != "" {
		lines = append(lines, "what only its git directory led to is kept in "+r.Rescue)
	}
	switch {
	case r.Trash == "":
	case len(r.Aside) > 0:
		lines = append(lines, fmt.Sprintf("its directory is kept in %s, because of what git does not have: %s", r.Trash, strings.Join(r.Aside, ", ")))
	default:
		lines = append(lines, "its directory is kept in "+r.Trash)
	}
	return lines
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
		if err := m.Release(ctx, planOf(s, *w)); err != nil {
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
	_, err = p.endAgents(ctx, s, f, func(agent string) bool { return agent == name })
	return err
}

// resumeRemoval goes on with a removal that was cut short.
func (p *Paw) resumeRemoval(ctx context.Context, s *session.Session, name string, removed *Removed) error {
	repository, err := p.repositoryOf(ctx, s)
	if err != nil {
		return err
	}
	return p.finishRemoval(ctx, p.manager(repository), s, name, removed, func() {})
}

// removeWorktree looks again, now that the CLI is dead, rescues what --force
// discards, and moves the directory away.
func (p *Paw) removeWorktree(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree, removed *Removed) error {
	force := w.Phase == session.PhaseDiscarding
	there, err := m.Removable(ctx, planOf(s, *w))
	if err != nil {
		return notRemoved(s, w, err)
	}
	_, missing := os.Lstat(w.WorktreePath)
	if force && there && missing == nil && !m.HalfMade(w.WorktreePath) {
		ref := turn.RescueRef(w.TurnSession, p.Now())
		snapshot, err := m.Snapshot(ctx, w.WorktreePath, ref, "paw: "+w.Agent+" before its worktree was removed")
		if err != nil {
			return failf(KindRefused, "%s: not removed, its work could not be saved: %w", w.Agent, err)
		}
		removed.RescueRef = snapshot.Ref
		p.Step("remove.rescued")
	}
	done, err := m.Remove(ctx, planOf(s, *w), force)
	removed.Trash, removed.Aside, removed.Rescue = done.Trash, done.Aside, done.Rescue
	return notRemoved(s, w, err)
}

// notRemoved is a refusal of the worktree package with a way out.
func notRemoved(s *session.Session, w *session.Worktree, err error) error {
	var refused *worktree.ConflictError
	if !errors.As(err, &refused) {
		return err
	}
	e := failf(KindRefused, "%s: not removed: %w", w.Agent, err)
	if refused.Hint != "" {
		return e.hint("%s", refused.Hint)
	}
	return e.hint("git -C %s status --ignored", Quote(w.WorktreePath)).hint("paw remove %s --force --session %s", w.Agent, s.Name)
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

// removable refuses to remove a worktree that holds anything git does not have. It
// returns what would be kept in the trash.
func (p *Paw) removable(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree, o RemoveOptions) ([]string, error) {
	if o.KeepWorktree {
		return nil, nil
	}
	_, err := os.Lstat(w.WorktreePath)
	exists := err == nil
	if exists {
		if err := worktree.Verify(w.WorktreePath, s.GitCommonDir, ""); err != nil {
			return nil, notTheWorktree(ctx, m, s, w, err)
		}
	}
	there, err := m.Removable(ctx, planOf(s, *w))
	if err != nil {
		return nil, notRemoved(s, w, err)
	}
	if !there || !exists || o.Force || m.HalfMade(w.WorktreePath) {
		return nil, nil
	}
	dirt, err := m.Inspect(ctx, w.WorktreePath)
	if err != nil {
		return nil, failf(KindRefused, "%s: not removed, its state cannot be read: %w", w.Agent, err)
	}
	if dirt.Clean() {
		return dirt.Aside, nil
	}
	return nil, failf(KindRefused, "%s has %s", w.Agent, dirt.Summary()).
		hint("git -C %s status --ignored", Quote(w.WorktreePath)).
		hint("paw remove %s --force --session %s", w.Agent, s.Name)
}

// notTheWorktree says how to go on with a directory that is not the worktree that
// it was.
func notTheWorktree(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree, err error) error {
	refused := failf(KindRefused, "%s: not removed: %w", w.Agent, err)
	unlinked, _ := m.Unlinked(ctx, planOf(s, *w))
	if w.Phase == session.PhaseCreating || unlinked || m.Unregistered(planOf(s, *w)) {
		return refused.hint("paw recover %s", s.Name)
	}
	return refused.hint("%s", wayBack(s, w))
}
