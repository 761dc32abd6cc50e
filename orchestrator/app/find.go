package app

import (
	"context"
	"errors"
	"path/filepath"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// Find loads the session that a command is about: the named one or, without a name, that of the
// user's pane, worktree or repository; of several, the active one.
func (h *App) Find(name string) (*session.Session, error) {
	if name != "" {
		return h.Load(name)
	}
	here, err := h.SessionsHere()
	if err != nil {
		return nil, err
	}
	if len(here) == 0 {
		return nil, h.NoneHere()
	}
	if s := session.Among(here); s != nil {
		return s, nil
	}
	return nil, h.RecordError("", &session.AmbiguousError{Path: h.Dir, Sessions: here})
}

// NoneHere returns the error of a command that needs a session where there is none, or whose record
// cannot be read.
func (h *App) NoneHere() error {
	if err := h.UnreadableHere(); err != nil {
		return err
	}
	none := errs.New(errs.NotFound, "no session here").Hint("paw status --all")
	none.Hints = append(none.Hints, h.StartHints()...)
	return none
}

// SessionsHere returns the sessions of the user's place: that of the pane or worktree, or all of
// the repository. Of several, those with an unreadable record are left out.
func (h *App) SessionsHere() ([]*session.Session, error) {
	s, err := h.Here()
	var several *session.AmbiguousError
	switch {
	case errors.As(err, &several):
		return several.Sessions, nil
	case err != nil || s == nil:
		return nil, err
	}
	return []*session.Session{s}, nil
}

// Here returns the session of the user's place, nil for none, and an *AmbiguousError for several.
func (h *App) Here() (*session.Session, error) {
	if name := h.Getenv("PAW_SESSION"); name != "" {
		s, err := h.Store.Load(name)
		if err == nil && s != nil {
			return s, nil
		}
	}
	repository, err := worktree.Discover(h.Dir)
	places := []string{repository.Worktree, repository.Path, repository.CommonDir}
	inside := err == nil
	if errors.Is(err, worktree.ErrNotRepository) {
		places, err = []string{h.Dir}, nil // an agent's worktree may have lost its .git file
	}
	if err != nil {
		return nil, err
	}
	for _, place := range places {
		if place == "" {
			continue
		}
		s, err := h.Store.FindByRepo(place)
		if err != nil {
			return nil, h.RecordError("", err)
		}
		if s != nil {
			return s, nil
		}
	}
	if !inside {
		return nil, nil
	}
	return h.movedSession(context.Background())
}

// AgentHere returns the agent of s in whose pane or worktree the user is, "" for none.
func (h *App) AgentHere(s *session.Session) string {
	if h.Getenv("PAW_SESSION") == s.Name && s.Agent(h.Getenv("PAW_AGENT")) != nil {
		return h.Getenv("PAW_AGENT")
	}
	repository, err := worktree.Discover(h.Dir)
	if err != nil || repository.Worktree == "" {
		return ""
	}
	for i := range s.Agents {
		real, err := filepath.EvalSymlinks(s.Agents[i].WorktreePath)
		if err == nil && real == repository.Worktree {
			return s.Agents[i].Name
		}
	}
	return ""
}

// Caller returns the session and agent in whose pane paw was called, freshly loaded. Outside of an
// agent's pane it returns an error with hint as its hint.
func (h *App) Caller(command, hint string) (*session.Session, *session.Agent, error) {
	name, agentName := h.Getenv("PAW_SESSION"), h.Getenv("PAW_AGENT")
	if name == "" || agentName == "" {
		return nil, nil, errs.New(errs.Usage, "paw %s: is for an agent, inside its pane", command).Hint("%s", hint)
	}
	s, err := h.Load(name)
	if err != nil {
		return nil, nil, err
	}
	w, err := AgentNamed(s, agentName)
	return s, w, err
}
