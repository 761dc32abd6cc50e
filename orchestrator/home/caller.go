package home

import (
	"paw/orchestrator/fault"
	"paw/session"
)

// Caller is the agent in whose pane paw was called, fresh from the record. Who
// calls command from anywhere else gets an error with that hint.
func (h *Home) Caller(command, hint string) (*session.Session, *session.Agent, error) {
	name, agentName := h.Getenv("PAW_SESSION"), h.Getenv("PAW_AGENT")
	if name == "" || agentName == "" {
		return nil, nil, fault.New(fault.Usage, "paw %s: is for an agent, inside its pane", command).Hint("%s", hint)
	}
	s, err := h.Load(name)
	if err != nil {
		return nil, nil, err
	}
	w, err := AgentNamed(s, agentName)
	return s, w, err
}
