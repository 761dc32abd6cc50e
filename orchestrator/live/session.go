package live

import (
	"context"

	"paw/session"
)

// Session is one agent in memory. What it tells is what the last look of its registry found; it may be used by several
// goroutines at once.
type Session struct {
	branch   Branch
	registry *Registry

	// Guarded by registry.mu, so that a look changes all sessions at once.
	facts   Facts
	gone    bool          // the agent has left its session
	history *Conversation // nil until asked for
}

// Status is what the agent does, or whom it waits for, with its reason.
func (s *Session) Status() session.AgentStatus {
	defer s.registry.reading()()
	return s.registry.status(s)
}

// Gone reports whether the agent has left the session since it was loaded.
func (s *Session) Gone() bool {
	defer s.registry.reading()()
	return s.gone
}

// Family is the agent with those of its children that are loaded, which are all while it waits.
func (s *Session) Family() Family {
	defer s.registry.reading()()
	return s.registry.family(s)
}

// History is the conversation of the agent as of now.
func (s *Session) History(ctx context.Context) (Conversation, error) {
	done := s.registry.reading()
	known := s.history
	done()
	if known != nil {
		return *known, nil
	}
	loaded, err := s.registry.source.History(ctx, s.branch)
	if err != nil {
		return Conversation{}, err
	}
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	s.history = &loaded
	return loaded, nil
}
