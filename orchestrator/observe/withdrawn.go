package observe

import "paw/session"

// Withdrawn says why an agent must not be started any more although start or
// recover set out to: a stop or a remove came in between, of itself or of the
// parent that is just spawning it, "" for none. It is "" when the agent may start.
func Withdrawn(s *session.Session, agentName, parent string) string {
	if reason := withdrawal(s, agentName); reason != "" {
		return "it " + reason
	}
	if parent != "" {
		if reason := withdrawal(s, parent); reason != "" {
			return parent + " " + reason
		}
	}
	if s.Status == session.StatusStopped {
		return "the session was stopped in the meantime"
	}
	return ""
}

// withdrawal is what keeps one agent from being started, "" for nothing.
func withdrawal(s *session.Session, agentName string) string {
	w := s.Agent(agentName)
	if w == nil {
		return "was removed in the meantime"
	}
	switch w.Phase {
	case session.PhaseStopping, session.PhaseStopped:
		return "was stopped in the meantime"
	case session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving:
		return "is being removed"
	case session.PhaseCreating, session.PhaseLive, session.PhaseExited:
	}
	return ""
}
