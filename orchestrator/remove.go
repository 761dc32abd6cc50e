package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"paw/session"
	"paw/worktree"
)

// RemoveOptions says how much of an agent goes.
type RemoveOptions struct {
	KeepWorktree bool
	Force        bool // rescue what is not committed, then remove
	DryRun       bool
}

// Removed is what remove did, and how to get it back.
type Removed struct {
	Agent     string
	Branch    string
	Worktree  string
	RescueRef string // holds what was not committed, with --force
	Trash     string // folder that was kept, with --force
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
	repository, err := worktree.Discover(s.GitCommonDir)
	if err != nil {
		return nil, failf(KindError, "%s: the repository is gone: %w", s.RepoPath, err)
	}
	m := p.manager(repository)
	removed := &Removed{Agent: name, Branch: w.Branch, Worktree: w.WorktreePath}
	if err := p.removable(ctx, m, s, w, o); err != nil || o.DryRun {
		return removed, err
	}
	phase := session.PhaseRemoving
	switch {
	case o.KeepWorktree:
		phase = session.PhaseLeaving
	case o.Force:
		phase = session.PhaseDiscarding
	}
	if _, err := p.Stop(ctx, s, []string{name}); err != nil {
		return nil, err
	}
	s, err = p.update(ctx, s.Name, func(rec *session.Session) error {
		rec.Worktree(name).Phase = phase
		return nil
	})
	if err != nil {
		return nil, p.recordError(s.Name, err)
	}
	p.Step("remove.recorded")
	return removed, p.finishRemoval(ctx, m, s, name, removed)
}

// finishRemoval carries out the removal that the record asks for. It may be
// repeated after a crash at any point.
func (p *Paw) finishRemoval(ctx context.Context, m worktree.Manager, s *session.Session, name string, removed *Removed) error {
	w := s.Worktree(name)
	_, missing := os.Lstat(w.WorktreePath)
	switch {
	case w.Phase == session.PhaseLeaving:
		if err := m.Unlock(ctx, w.WorktreePath); err != nil {
			return err
		}
	case errors.Is(missing, os.ErrNotExist):
		if err := m.Forget(ctx, w.WorktreePath); err != nil {
			return err
		}
	default:
		// The CLI is dead now: look again, then act.
		if err := p.removable(ctx, m, s, w, RemoveOptions{Force: w.Phase == session.PhaseDiscarding}); err != nil {
			_ = p.savePhase(ctx, s.Name, func(agent string) bool { return agent == name }, session.PhaseStopped, false)
			return err
		}
		if err := p.removeWorktree(ctx, m, w, removed); err != nil {
			return err
		}
	}
	p.Step("remove.worktree-gone")
	_, err := p.update(ctx, s.Name, func(rec *session.Session) error {
		dropAgent(rec, name)
		return nil
	})
	p.Step("remove.finished")
	return err
}

// resumeRemoval goes on with a removal that was cut short.
func (p *Paw) resumeRemoval(ctx context.Context, s *session.Session, name string) error {
	repository, err := worktree.Discover(s.GitCommonDir)
	if err != nil {
		return err
	}
	return p.finishRemoval(ctx, p.manager(repository), s, name, &Removed{Agent: name})
}

// removeWorktree rescues what --force discards and moves the directory away.
func (p *Paw) removeWorktree(ctx context.Context, m worktree.Manager, w *session.Worktree, removed *Removed) error {
	force := w.Phase == session.PhaseDiscarding
	if force {
		ref := fmt.Sprintf("refs/paw/%s/rescue/%s", w.TurnSession, p.Now().UTC().Format("20060102T150405.000Z"))
		snapshot, err := m.Snapshot(ctx, w.WorktreePath, ref, "paw: "+w.Agent+" before its worktree was removed")
		if err != nil {
			return failf(KindRefused, "%s: not removed, its work could not be saved: %w", w.Agent, err)
		}
		removed.RescueRef = snapshot.Ref
		p.Step("remove.rescued")
	}
	trash, err := m.Remove(ctx, w.WorktreePath, force)
	if err != nil {
		return err
	}
	if force {
		removed.Trash = trash
	}
	return nil
}

// removable refuses to remove a worktree that holds anything git does not have.
func (p *Paw) removable(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree, o RemoveOptions) error {
	if _, err := os.Lstat(w.WorktreePath); errors.Is(err, os.ErrNotExist) || o.KeepWorktree {
		return nil
	}
	if err := worktree.Verify(w.WorktreePath, s.GitCommonDir, ""); err != nil {
		return failf(KindRefused, "%s: not removed: %w", w.Agent, err).hint("git -C %s worktree repair %s", quote(s.RepoPath), quote(w.WorktreePath))
	}
	if o.Force {
		return nil
	}
	dirt, err := m.Inspect(ctx, w.WorktreePath)
	if err != nil {
		return failf(KindRefused, "%s: not removed, its state cannot be read: %w", w.Agent, err)
	}
	reasons := dirtReasons(dirt)
	if len(reasons) == 0 {
		return nil
	}
	return failf(KindRefused, "%s has %s", w.Agent, strings.Join(reasons, ", ")).
		hint("git -C %s status --ignored", quote(w.WorktreePath)).
		hint("paw remove %s --force", w.Agent)
}

// dirtReasons says what a worktree holds that removing it would lose.
func dirtReasons(d worktree.Dirt) []string {
	var reasons []string
	count := func(files []string, what string) {
		switch {
		case len(files) == 1:
			reasons = append(reasons, fmt.Sprintf("1 %s (%s)", strings.TrimSuffix(what, "s"), files[0]))
		case len(files) > 1:
			reasons = append(reasons, fmt.Sprintf("%d %s (%s, ...)", len(files), what, files[0]))
		}
	}
	count(d.Uncommitted, "uncommitted files")
	count(d.Untracked, "untracked files")
	count(d.Ignored, "ignored files")
	count(d.Hidden, "files with hidden edits")
	count(d.Submodules, "changed submodules")
	count(d.Embedded, "repositories of its own")
	if d.Operation != "" {
		reasons = append(reasons, "an unfinished "+d.Operation)
	}
	if d.Detached != "" {
		reasons = append(reasons, "commits on no branch")
	}
	return reasons
}
