package orchestrator

import (
	"context"
	"errors"
	"strings"

	"paw/session"
	"paw/worktree"
)

// Find loads the session a command is about: the one called name or, without a
// name, that of the pane, the worktree or the repository the user stands in, the
// active one where there are several.
func (p *Paw) Find(name string) (*session.Session, error) {
	if name != "" {
		return p.load(name)
	}
	here, err := p.SessionsHere()
	if err != nil {
		return nil, err
	}
	if len(here) == 0 {
		return nil, p.NoneHere()
	}
	if s := session.Among(here); s != nil {
		return s, nil
	}
	several := &session.AmbiguousError{Path: p.Dir}
	for _, s := range here {
		several.Names = append(several.Names, s.Name)
	}
	return nil, p.recordError("", several)
}

// NoneHere is the error of a command that needs a session where there is none.
func (p *Paw) NoneHere() error {
	return failf(KindNotFound, "no session here").hint("paw status --all").hint("paw start --cli %s", p.Config.DefaultCLI)
}

// load reads the record of a session that must exist.
func (p *Paw) load(name string) (*session.Session, error) {
	if err := session.ValidateName("session", name); err != nil {
		return nil, failf(KindUsage, "%w", err)
	}
	s, err := p.Store.Load(name)
	if err != nil {
		return nil, p.recordError(name, err)
	}
	if s == nil {
		return nil, failf(KindNotFound, "%s: no such session", name).hint("paw status --all")
	}
	return s, nil
}

// SessionsHere are the sessions of the place the user stands in: that of the pane
// or of the worktree, or all of the repository. Of several, those whose record
// cannot be read are left out.
func (p *Paw) SessionsHere() ([]*session.Session, error) {
	s, err := p.here()
	var several *session.AmbiguousError
	switch {
	case errors.As(err, &several):
		var sessions []*session.Session
		for _, name := range several.Names {
			if s, err := p.Store.Load(name); err == nil && s != nil {
				sessions = append(sessions, s)
			}
		}
		return sessions, nil
	case err != nil || s == nil:
		return nil, err
	}
	return []*session.Session{s}, nil
}

// here is the session of the place the user stands in, nil when there is none,
// and an *AmbiguousError for several.
func (p *Paw) here() (*session.Session, error) {
	if name := p.getenv("PAW_SESSION"); name != "" {
		s, err := p.Store.Load(name)
		if err == nil && s != nil {
			return s, nil
		}
	}
	repository, err := worktree.Discover(p.Dir)
	places := []string{repository.Worktree, repository.Path, repository.CommonDir}
	inside := err == nil
	if errors.Is(err, worktree.ErrNotRepository) {
		places, err = []string{p.Dir}, nil // maybe an agent's worktree that lost its .git file
	}
	if err != nil {
		return nil, err
	}
	for _, place := range places {
		if place == "" {
			continue
		}
		s, err := p.Store.FindByRepo(place)
		if err != nil {
			return nil, p.recordError("", err)
		}
		if s != nil {
			return s, nil
		}
	}
	if !inside {
		return nil, nil
	}
	return p.movedSession(context.Background())
}

// recordError puts an error of the store into the user's words.
func (p *Paw) recordError(name string, err error) error {
	var ambiguous *session.AmbiguousError
	var locked *session.LockedError
	var corrupt *session.CorruptError
	switch {
	case errors.As(err, &corrupt):
		return failf(KindError, "%w", err).hint("mv %s %s", Quote(corrupt.Path), Quote(corrupt.Path+".aside"))
	case errors.As(err, &ambiguous):
		return failf(KindUsage, "%w", err).hint("paw status --all")
	case errors.As(err, &locked):
		return failf(KindLocked, "%w", err)
	case errors.Is(err, session.ErrNotFound):
		return failf(KindNotFound, "%s: no such session", name).hint("paw status --all")
	}
	return err
}

// agentNamed finds one agent of a session.
func agentNamed(s *session.Session, name string) (*session.Worktree, error) {
	if w := s.Worktree(name); w != nil {
		return w, nil
	}
	return nil, failf(KindNotFound, "%s: no such agent in %s (it has %s)", name, s.Name, strings.Join(agentNames(s), ", ")).
		hint("paw status %s", s.Name)
}
