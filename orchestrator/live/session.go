package live

import (
	"context"
	"slices"
	"sync"

	"paw/session"
	"paw/session/history"
)

// Session is one agent in memory. What it tells is what the last look of its registry found; it may be used by several
// goroutines at once.
type Session struct {
	branch   Branch
	registry *Registry

	// Guarded by registry.mu, so that a look changes all sessions at once.
	facts    Facts
	gone     bool // the agent has left its session
	attached int
	history  history.History // nil until asked for
}

// Branch is what the session is known by.
func (s *Session) Branch() Branch { return s.branch }

// State is what the agent does, or whom it waits for.
func (s *Session) State() session.State {
	defer s.registry.reading()()
	return s.registry.status(s).State
}

// Status is State with its reason.
func (s *Session) Status() session.AgentStatus {
	defer s.registry.reading()()
	return s.registry.status(s)
}

// Gone reports whether the agent has left the session since it was loaded.
func (s *Session) Gone() bool {
	defer s.registry.reading()()
	return s.gone
}

// Parent is the agent that started this one, false without one.
func (s *Session) Parent() (Branch, bool) {
	defer s.registry.reading()()
	return s.facts.Parent, s.facts.Parent != Branch{}
}

// Children are the agents that this one started.
func (s *Session) Children() []Branch {
	defer s.registry.reading()()
	return slices.Clone(s.facts.Children)
}

// Wait is a copy of what the agent waits for, nil when it waits for none.
func (s *Session) Wait() *session.Wait {
	defer s.registry.reading()()
	return s.facts.Record.Wait.Clone()
}

// Family is the agent with those of its children that are loaded, which are all while it waits.
func (s *Session) Family() Family {
	defer s.registry.reading()()
	return s.registry.family(s)
}

// MayResume reports whether the agent waits and there is something for it to go on with, should the user turn to it.
func (s *Session) MayResume() bool {
	defer s.registry.reading()()
	return MayResume(s.registry.family(s))
}

// History is the conversation of the agent as of now.
func (s *Session) History(ctx context.Context) (history.History, error) {
	done := s.registry.reading()
	known := s.history
	done()
	if known != nil {
		return known, nil
	}
	loaded, err := s.registry.source.History(ctx, s.branch)
	if err != nil {
		return nil, err
	}
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	s.history = loaded
	return loaded, nil
}

// Attach notes that a user interface shows the session, until detach is called. It changes nothing else.
func (s *Session) Attach() (detach func()) {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	s.attached++
	return sync.OnceFunc(func() {
		s.registry.mu.Lock()
		defer s.registry.mu.Unlock()
		s.attached--
	})
}

// Attached is the number of user interfaces that show the session.
func (s *Session) Attached() int {
	defer s.registry.reading()()
	return s.attached
}
