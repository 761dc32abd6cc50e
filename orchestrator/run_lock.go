package orchestrator

import (
	"context"
	"errors"
	"os"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/tmux"
)

// heldAgent is an agent whose lock this process holds.
type heldAgent struct {
	s          *session.Session
	w          *session.Worktree
	cli        agent.CLI
	lock       *os.File // for the CLI to inherit
	giveBack   func()
	generation int
}

// holdAgent takes the lock of an agent that does not run, for the time of a
// headless turn. It looks and takes under the session lock, so that a start or a
// recover at the same time either finds the lock held or is found itself.
func (p *Paw) holdAgent(ctx context.Context, s *session.Session, name string, cli agent.CLI) (*heldAgent, error) {
	held := &heldAgent{cli: cli}
	saved, err := p.update(ctx, s.Name, func(rec *session.Session) error {
		w, err := agentNamed(rec, name)
		if err != nil {
			return err
		}
		if err := settledAgent(rec, w); err != nil {
			return err
		}
		f, err := p.observe(ctx, rec)
		if err != nil {
			return err
		}
		if err := p.notAtWork(rec, f, *f.agent(name)); err != nil {
			return err
		}
		if err := p.withdrawLaunches(rec.Name, name); err != nil {
			return err
		}
		held.generation = nextGeneration(rec, f)
		holder, err := session.ThisProcess()
		if err != nil {
			return err
		}
		holder.Generation, rec.Generation = held.generation, held.generation
		held.lock, held.giveBack, err = p.Locks.HoldForTurn(rec.Name, name, holder)
		return err
	})
	if err != nil {
		if held.giveBack != nil {
			held.giveBack()
		}
		var locked *session.LockedError
		if errors.As(err, &locked) {
			return nil, failf(KindLocked, "%w", err).hint("paw status %s", s.Name)
		}
		return nil, p.recordError(s.Name, err)
	}
	held.s, held.w = saved, saved.Worktree(name)
	p.Step("run.locked")
	return held, nil
}

// settledAgent refuses agents that another command has not finished with.
func settledAgent(s *session.Session, w *session.Worktree) error {
	switch w.Phase {
	case session.PhaseCreating:
		return failf(KindError, "%s: was not made completely", w.Agent).hint("paw recover %s", s.Name)
	case session.PhaseStopping:
		return failf(KindError, "%s: is being stopped", w.Agent).hint("paw stop %s %s", s.Name, w.Agent)
	case session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving:
		return failf(KindError, "%s: is being removed", w.Agent).hint("paw recover %s", s.Name)
	case session.PhaseLive, session.PhaseStopped, session.PhaseExited:
	}
	return nil
}

// notAtWork refuses an agent whose CLI runs or is about to, with its pid.
func (p *Paw) notAtWork(s *session.Session, f facts, a agentFacts) error {
	name := a.record.Agent
	if runsHeadless(a.lock) {
		return failf(KindLocked, "%s: a headless turn runs (pid %d)", name, holderPID(a.lock)).hint("paw turns %s %s", s.Name, name)
	}
	paneless := f.tmux != session.TmuxUnknown && (a.pane == nil || a.pane.Dead)
	if a.lock.State == session.LockHeld && paneless {
		return failf(KindLocked, "%s: its CLI runs (pid %d), and has no pane", name, holderPID(a.lock)).hint("paw stop %s %s", s.Name, name)
	}
	if a.lock.State == session.LockHeld {
		return failf(KindLocked, "%s: its CLI runs (pid %d)", name, holderPID(a.lock)).
			hint("paw send %s/%s TEXT", s.Name, name).hint("paw stop %s %s", s.Name, name)
	}
	if a.pane != nil && !a.pane.Dead {
		return failf(KindLocked, "%s: its pane runs pid %d", name, a.pane.PID).hint("paw attach %s %s", s.Name, name)
	}
	// tmux is not needed here; but one that does not answer may hold a launcher
	// that is about to take the lock.
	if f.tmux == session.TmuxUnknown && !errors.Is(f.tmuxErr, tmux.ErrNotInstalled) && p.anyLaunchOpen(s.Name, name) {
		return failf(KindLocked, "%s: may be starting; %s", name, silence(f.tmuxErr)).hint("paw status %s", s.Name)
	}
	return nil
}

// anyLaunchOpen tells whether some launch of an agent waits for its launcher.
func (p *Paw) anyLaunchOpen(sessionName, agentName string) bool {
	return len(p.openLaunches(sessionName)[agentName]) > 0
}

// runsHeadless tells whether a living paw holds the lock for a headless turn.
func runsHeadless(lock session.AgentLock) bool {
	return lock.State == session.LockHeld && lock.Holder.Headless && lock.HolderAlive
}

// holderPID is a process that holds an agent's lock: the one that took it or,
// when that was killed, one that inherited it.
func holderPID(lock session.AgentLock) int {
	if pid := lock.PID(); pid != 0 {
		return pid
	}
	return lock.Holder.PID
}
