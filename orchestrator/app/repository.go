package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// ErrGone is the cause of an error about a session whose repository is nowhere.
var ErrGone = errors.New("is gone")

// ManagerOf works on the repository of a session. Where that is gone the error says how to go on.
func (h *App) ManagerOf(ctx context.Context, s *session.Session) (worktree.Manager, error) {
	repository, err := Discover(s)
	m := h.Manager(repository)
	if err == nil || !Gone(s) {
		return m, err
	}
	if here, places := h.MovedHere(ctx, s); len(places) > 0 {
		return m, errs.New(errs.Failed, "%s: its repository was moved from %s to %s", s.Name, s.RepoPath, RootIn(here)).Hint("paw recover %s", s.Name)
	}
	return m, errs.New(errs.Failed, "%s: its repository %s %w (if it was moved, run paw recover %s in it)", s.Name, s.RepoPath, ErrGone, s.Name).
		Hint("paw purge %s", s.Name)
}

// Discover finds the repository of a session. The git directory alone does not tell
// where the main checkout is when it lies elsewhere; the record does.
func Discover(s *session.Session) (worktree.Repository, error) {
	repository, err := worktree.Discover(s.GitCommonDir)
	if err != nil || repository.Path != "" || repository.Bare {
		return repository, err
	}
	if main, err := worktree.Discover(s.RepoPath); err == nil && main.CommonDir == repository.CommonDir {
		repository.Path = main.Path
	}
	return repository, nil
}

// Gone reports whether nothing is any more where the repository of a session was.
func Gone(s *session.Session) bool {
	_, err := os.Lstat(s.GitCommonDir)
	return errors.Is(err, fs.ErrNotExist)
}

// RootIn is the main worktree of a repository or, without one, its git directory.
func RootIn(repository worktree.Repository) string {
	if repository.Path != "" {
		return repository.Path
	}
	return repository.CommonDir
}

// MovedHere looks whether the repository one stands in is that of a session whose
// own is gone. The proof are the registrations of the agents' worktrees; places
// are where these are now, by agent. There are none when it is not.
func (h *App) MovedHere(ctx context.Context, s *session.Session) (here worktree.Repository, places map[string]string) {
	here, err := worktree.Discover(h.Dir)
	if err != nil || !Gone(s) {
		return here, nil
	}
	places, err = h.Manager(here).Moved(ctx, PlansOf(s, s.Agents), func(path string) string {
		relative, err := filepath.Rel(s.RepoPath, path)
		if err != nil {
			return path
		}
		return filepath.Join(RootIn(here), relative)
	})
	if err != nil {
		return here, nil
	}
	return here, places
}

// movedSession is the session whose repository was moved to the place that the
// user stands in, nil when there is none.
func (h *App) movedSession(ctx context.Context) (*session.Session, error) {
	sessions, _, err := h.Store.List()
	if err != nil {
		return nil, err
	}
	var found []*session.Session
	for _, s := range sessions {
		if _, places := h.MovedHere(ctx, s); len(places) > 0 {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	return nil, h.RecordError("", &session.AmbiguousError{Path: h.Dir, Sessions: found})
}

// Manager works on a repository.
func (h *App) Manager(repository worktree.Repository) worktree.Manager {
	return worktree.Manager{
		Repository: repository,
		Locks: func(ctx context.Context) (func(), error) {
			ctx, cancel := context.WithTimeout(ctx, LockWait)
			defer cancel()
			unlock, err := h.Locks.Repository(ctx, repository.CommonDir)
			if err != nil {
				return nil, h.RecordError("", err)
			}
			return unlock, nil
		},
		Busy:      func(path string) error { return h.busy(repository.CommonDir, path) },
		Waits:     func(path string) bool { return h.waits(repository.CommonDir, path) },
		Unsettled: h.unsettled,
	}
}

// ConfiguredFor is h with the configuration of the repository of a session, which
// need not be the one the user stands in.
func (h *App) ConfiguredFor(s *session.Session) (*App, error) {
	repository, err := Discover(s)
	if err != nil || repository.Path == h.configured {
		return h, nil //nolint:nilerr // whoever needs the repository says that it is gone
	}
	other := *h
	if err := other.Configure(repository.Path); err != nil && (h.Forgives == nil || !h.Forgives(err)) {
		return &other, err
	}
	other.TellMistake()
	return &other, nil
}
