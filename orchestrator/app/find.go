package app

import (
	"context"
	"errors"
	"path/filepath"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// Find loads the session a command is about: the one called name or, without a
// name, that of the pane, the worktree or the repository the user stands in, the
// active one where there are several.
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

// NoneHere is the error of a command that needs a session where there is none, or where there is one whose record cannot be
// read.
func (h *App) NoneHere() error {
	if err := h.UnreadableHere(); err != nil {
		return err
	}
	none := errs.New(errs.NotFound, "no session here").Hint("paw status --all")
	none.Hints = append(none.Hints, h.StartHints()...)
	return none
}

// SessionsHere are the sessions of the place the user stands in: that of the pane
// or of the worktree, or all of the repository. Of several, those whose record
// cannot be read are left out.
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

// Here is the session of the place the user stands in, nil when there is none,
// and an *AmbiguousError for several.
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
		places, err = []string{h.Dir}, nil // maybe an agent's worktree that lost its .git file
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

// AgentHere is the agent of a session in whose pane or worktree the user is, "" for none.
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

// Caller is the agent in whose pane paw was called, fresh from the record. Who
// calls command from anywhere else gets an error with that hint.
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
