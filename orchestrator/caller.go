package orchestrator

import "paw/session"

// caller is the agent in whose pane paw was called, fresh from the record. Who
// calls command from anywhere else gets an error with that hint.
func (p *Paw) caller(command, hint string) (*session.Session, *session.Worktree, error) {
	name, agentName := p.getenv("PAW_SESSION"), p.getenv("PAW_AGENT")
	if name == "" || agentName == "" {
		return nil, nil, failf(KindUsage, "paw %s: is for an agent, inside its pane", command).hint("%s", hint)
	}
	s, err := p.load(name)
	if err != nil {
		return nil, nil, err
	}
	w, err := agentNamed(s, agentName)
	return s, w, err
}
