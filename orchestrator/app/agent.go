package app

import (
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Agent is one agent, with what a command needs to do something with it.
type Agent struct {
	App     *App
	Session *session.Session
	Record  *session.Agent
	Repo    worktree.Manager // repository of the session; the zero Manager before In
}

// Agent returns the handle of an agent of a session, without its repository.
func (h *App) Agent(s *session.Session, w *session.Agent) Agent {
	return Agent{App: h, Session: s, Record: w}
}

// In returns the handle with the repository of the session.
func (a Agent) In(m worktree.Manager) Agent {
	a.Repo = m
	return a
}

// TurnDir returns the folder with the agent's turn logs.
func (a Agent) TurnDir() turn.Dir { return a.App.TurnDir(a.Session.Name, a.Record.Name) }

// ProbeLock looks at the agent's lock, and finds its holder.
func (a Agent) ProbeLock() (session.AgentLock, error) {
	return a.App.Locks.ProbeAgent(a.Session.Name, a.Record.Name)
}
