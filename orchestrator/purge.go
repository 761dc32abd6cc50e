package orchestrator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"paw/session"
	"paw/worktree"
)

// Purged is what purge did.
type Purged struct {
	Session string
	Removed []string          // agents
	Deleted []string          // branches
	Kept    map[string]string // branches that stay, with the reason
	Rescues []string          // refs with rescued work, which stay
	Aside   []Removed         // agents of which something is kept, or would be

	Gone      string   // the repository when it is gone: only the record could be deleted
	Worktrees []string // directories of such a session, which stay
}

// Purge ends a session for good: stop, remove every agent, delete the merged
// branches that paw made, and the record. It refuses as a whole, before it
// changed anything, when one agent cannot be removed.
func (p *Paw) Purge(ctx context.Context, s *session.Session, o RemoveOptions) (*Purged, error) {
	if err := p.requireGit(ctx); err != nil {
		return nil, err
	}
	repository, err := p.repositoryOf(ctx, s)
	if err != nil && !errors.Is(err, errGone) {
		return nil, err
	}
	if err := p.betweenTurns(ctx, s, agentNames(s), o); err != nil {
		return nil, err
	}
	if err != nil {
		return p.purgeWithoutRepository(ctx, s, o)
	}
	m := p.manager(repository)
	planned := &Purged{Session: s.Name}
	for i := range s.Worktrees {
		w := &s.Worktrees[i]
		aside, err := p.removable(ctx, m, s, w, o)
		if err != nil {
			return nil, err
		}
		if len(aside) > 0 {
			planned.Aside = append(planned.Aside, Removed{Agent: w.Agent, Aside: aside})
		}
	}
	if o.DryRun {
		return planned, nil
	}
	if _, err := p.Stop(ctx, s, StopOptions{}); err != nil {
		return nil, err
	}
	purged := &Purged{Session: s.Name, Kept: map[string]string{}}
	for _, w := range s.Worktrees {
		if err := p.purgeAgent(ctx, m, s.Name, w, o, purged); err != nil {
			return purged, err
		}
		purged.Removed = append(purged.Removed, w.Agent)
		p.Step("purge.removed")
	}
	return purged, p.deleteSession(ctx, s.Name, nil, func() error {
		if err := p.deleteState(s.Name); err != nil || !o.Tags {
			return err
		}
		agents, err := p.turnsToPurge(ctx, m, s)
		if err != nil {
			return err
		}
		return p.purgeTurns(ctx, m, s.Name, agents, purged, o.Force)
	})
}

// purgeWithoutRepository ends a session whose repository is gone. Nobody can say
// what would be lost with its worktrees, so they stay.
func (p *Paw) purgeWithoutRepository(ctx context.Context, s *session.Session, o RemoveOptions) (*Purged, error) {
	purged := &Purged{Session: s.Name, Gone: s.RepoPath}
	for _, w := range s.Worktrees {
		if _, err := os.Lstat(w.WorktreePath); err == nil {
			purged.Worktrees = append(purged.Worktrees, w.WorktreePath)
		}
	}
	if o.DryRun {
		return purged, nil
	}
	if _, err := p.Stop(ctx, s, StopOptions{}); err != nil {
		return nil, err
	}
	return purged, p.deleteSession(ctx, s.Name, agentNames(s), func() error {
		if err := p.deleteState(s.Name); err != nil || !o.Tags {
			return err
		}
		return os.RemoveAll(filepath.Join(p.Paths.TurnsDir(), s.Name))
	})
}

// deleteState deletes what paw keeps of a session beside its record and its turns.
func (p *Paw) deleteState(name string) error {
	for _, dir := range []string{filepath.Join(p.Paths.LaunchDir(), name), filepath.Dir(p.stateDir(name, "x"))} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

func agentNames(s *session.Session) []string {
	names := make([]string, len(s.Worktrees))
	for i, w := range s.Worktrees {
		names[i] = w.Agent
	}
	return names
}

// deleteSession deletes the record, and what last deletes, unless it has agents
// that are not among the known: an add or a run that came in between made them.
func (p *Paw) deleteSession(ctx context.Context, name string, known []string, last func() error) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	err := p.Store.Delete(ctx, name, func(rec *session.Session) error {
		for _, w := range rec.Worktrees {
			if !slices.Contains(known, w.Agent) {
				return failf(KindRefused, "%s: not deleted, %s was added in the meantime", name, w.Agent).hint("paw status %s", name)
			}
		}
		return last()
	})
	return p.recordError(name, err)
}

// purgeAgent removes one agent of a session that was stopped and looked at. Its
// branch goes while the record still says that paw made it.
func (p *Paw) purgeAgent(ctx context.Context, m worktree.Manager, sessionName string, w session.Worktree, o RemoveOptions, purged *Purged) error {
	rec, err := p.update(ctx, sessionName, func(rec *session.Session) error {
		w, err := agentNamed(rec, w.Agent)
		if err == nil {
			w.Phase = removalPhase(o)
		}
		return err
	})
	if err != nil {
		return p.recordError(sessionName, err)
	}
	removed := &Removed{Agent: w.Agent}
	err = p.finishRemoval(ctx, m, rec, w.Agent, removed, func() { p.deleteBranch(ctx, m, w, purged) })
	if len(removed.Kept()) > 0 {
		purged.Aside = append(purged.Aside, *removed)
	}
	return err
}

// deleteBranch deletes a branch that paw made, when nothing on it would be lost.
func (p *Paw) deleteBranch(ctx context.Context, m worktree.Manager, w session.Worktree, purged *Purged) {
	if !madeByPaw(purged.Session, w) {
		purged.Kept[w.Branch] = "paw did not make it"
		return
	}
	tips, err := m.Branches(ctx, []string{w.Branch})
	if err != nil || tips[w.Branch] == "" {
		return
	}
	deleted, err := m.DeleteBranch(ctx, w.Branch, tips[w.Branch], "HEAD")
	switch {
	case err != nil:
		purged.Kept[w.Branch] = err.Error()
	case deleted:
		purged.Deleted = append(purged.Deleted, w.Branch)
	default:
		purged.Kept[w.Branch] = "not merged"
	}
}
