package orchestrator

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"paw/session"
	"paw/worktree"
)

// errGone is the cause of an error about a session whose repository is nowhere.
var errGone = errors.New("is gone")

// repositoryOf is the repository of a session. Without it there is an error that
// says how to go on.
func (p *Paw) repositoryOf(ctx context.Context, s *session.Session) (worktree.Repository, error) {
	repository, err := discover(s)
	if err == nil || !gone(s) {
		return repository, err
	}
	if here, places := p.movedHere(ctx, s); len(places) > 0 {
		return repository, failf(KindError, "%s: its repository was moved from %s to %s", s.Name, s.RepoPath, rootIn(here)).hint("paw recover %s", s.Name)
	}
	return repository, failf(KindError, "%s: its repository %s %w (if it was moved, run paw recover %s in it)", s.Name, s.RepoPath, errGone, s.Name).
		hint("paw purge %s", s.Name)
}

// discover finds the repository of a session. The git directory alone does not tell
// where the main checkout is when it lies elsewhere; the record does.
func discover(s *session.Session) (worktree.Repository, error) {
	repository, err := worktree.Discover(s.GitCommonDir)
	if err != nil || repository.Path != "" || repository.Bare {
		return repository, err
	}
	if main, err := worktree.Discover(s.RepoPath); err == nil && main.CommonDir == repository.CommonDir {
		repository.Path = main.Path
	}
	return repository, nil
}

// gone tells whether nothing is any more where the repository of a session was.
func gone(s *session.Session) bool {
	_, err := os.Lstat(s.GitCommonDir)
	return errors.Is(err, fs.ErrNotExist)
}

// rootIn is the main worktree of a repository or, without one, its git directory.
func rootIn(repository worktree.Repository) string {
	if repository.Path != "" {
		return repository.Path
	}
	return repository.CommonDir
}

// movedHere looks whether the repository one stands in is that of a session whose
// own is gone. The proof are the registrations of the agents' worktrees; places
// are where these are now, by agent. There are none when it is not.
func (p *Paw) movedHere(ctx context.Context, s *session.Session) (here worktree.Repository, places map[string]string) {
	here, err := worktree.Discover(p.Dir)
	if err != nil || !gone(s) {
		return here, nil
	}
	places, err = p.manager(here).Moved(ctx, plansOf(s, s.Worktrees), func(path string) string {
		relative, err := filepath.Rel(s.RepoPath, path)
		if err != nil {
			return path
		}
		return filepath.Join(rootIn(here), relative)
	})
	if err != nil {
		return here, nil
	}
	return here, places
}

// adoptFor makes sure that the repository of a session that is to be recovered is
// there: one that was moved to where the user stands is adopted.
func (p *Paw) adoptFor(ctx context.Context, s *session.Session, dryRun bool) (*session.Session, error) {
	if !dryRun {
		var err error
		if s, err = p.adopt(ctx, s); err != nil {
			return nil, err
		}
	}
	_, err := p.repositoryOf(ctx, s)
	return s, err
}

// adopt records where the repository of a session is now, when it was moved to
// where the user stands. Links between its worktrees and it are mended by repair.
func (p *Paw) adopt(ctx context.Context, s *session.Session) (*session.Session, error) {
	here, places := p.movedHere(ctx, s)
	if len(places) == 0 {
		return s, nil
	}
	m := p.manager(here)
	for _, w := range s.Worktrees {
		if path := places[w.Agent]; path != "" {
			if err := m.Follow(ctx, planOf(s, w), path); err != nil {
				return nil, err
			}
		}
	}
	p.Step("adopt.followed")
	saved, err := p.update(ctx, s.Name, func(rec *session.Session) error {
		rec.RepoPath, rec.GitCommonDir, rec.ProjectName = rootIn(here), here.CommonDir, filepath.Base(rootIn(here))
		for i := range rec.Worktrees {
			w := &rec.Worktrees[i]
			if path := places[w.Agent]; path != "" {
				w.WorktreePath = path
			}
		}
		return nil
	})
	if err != nil {
		return nil, p.recordError(s.Name, err)
	}
	p.Step("adopt.recorded")
	p.note("%s: its repository is at %s now", s.Name, rootIn(here))
	return saved, nil
}

// movedSession is the session whose repository was moved to the place that the
// user stands in, nil when there is none.
func (p *Paw) movedSession(ctx context.Context) (*session.Session, error) {
	sessions, _, err := p.Store.List()
	if err != nil {
		return nil, err
	}
	var found *session.Session
	var names []string
	for _, s := range sessions {
		if _, places := p.movedHere(ctx, s); len(places) > 0 {
			found, names = s, append(names, s.Name)
		}
	}
	if len(names) > 1 {
		return nil, p.recordError("", &session.AmbiguousError{Path: p.Dir, Names: names})
	}
	return found, nil
}
