package app

import (
	"path/filepath"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

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
