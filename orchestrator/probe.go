package orchestrator

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"paw/session"
)

// processLook lists the processes of the machine when it is asked first, and
// answers the same from then on: one command needs it for many agents, or for none.
type processLook func() session.Processes

func lookAtProcesses() processLook { return sync.OnceValue(session.ListProcesses) }

// probe tells whether the last launch of an agent runs, and as which process.
// Everything that starts, ends or shows agents asks here.
func (p *Paw) probe(sessionName string, w session.Worktree, processes processLook) (session.AgentLock, error) {
	lock, err := p.Locks.ProbeAgent(sessionName, w.Agent)
	if err != nil {
		return lock, err
	}
	program := ""
	if cli, known := p.CLIs.Get(w.CLI); known {
		program = filepath.Base(cli.Program())
	}
	return lock.WithSurvivors(program, processes), nil
}

// outlives waits until an agent does not run any more, and reports whether it
// still does after that time.
func (p *Paw) outlives(ctx context.Context, s *session.Session, name string, d time.Duration) bool {
	w := s.Worktree(name)
	if w == nil {
		return false
	}
	for deadline := time.Now().Add(d); ; settle(ctx, tick) {
		lock, err := p.probe(s.Name, *w, lookAtProcesses())
		if err != nil || lock.State != session.LockHeld {
			return false
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return true
		}
	}
}
