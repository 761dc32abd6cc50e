package observe

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/session"
)

// ProcessLook lists the processes of the machine when it is asked first, and
// answers the same from then on: one command needs it for many agents, or for none.
type ProcessLook func() session.Processes

// LookAtProcesses is a look that has not been made yet.
func LookAtProcesses() ProcessLook { return sync.OnceValue(session.ListProcesses) }

// Probe reports whether the last launch of an agent runs, and as which process.
// Everything that starts, ends or shows agents asks here.
func Probe(h *app.App, s *session.Session, w session.Agent, processes ProcessLook) (session.AgentLock, error) {
	lock, err := h.Locks.ProbeAgent(s.Name, w.Name)
	if err != nil {
		return lock, err
	}
	return withSurvivors(h, s, lock, w, processes), nil
}

// withSurvivors adds to a lock what runs on of the agent's CLI without it: processes that the launch has started, and those
// to which the CLI itself has moved the conversation.
func withSurvivors(h *app.App, s *session.Session, lock session.AgentLock, w session.Agent, processes ProcessLook) session.AgentLock {
	program := ""
	cli, known := h.CLIs.Get(w.CLI)
	if known {
		program = filepath.Base(cli.Program())
	}
	lock = lock.WithSurvivors(program, processes)
	if lock.State != session.LockFree || !known {
		return lock
	}
	for _, away := range cli.Away(h.SpecFor(s, &w, "")) {
		lock.State, lock.Holders = session.LockHeld, append(lock.Holders, away.PID)
	}
	return lock
}

// Outlives waits until an agent does not run any more, and reports whether it
// still does after that time.
func Outlives(ctx context.Context, h *app.App, s *session.Session, name string, d time.Duration) bool {
	w := s.Agent(name)
	if w == nil {
		return false
	}
	return !poll.Until(ctx, poll.Tick, d, func() bool {
		lock, err := Probe(h, s, *w, LookAtProcesses())
		return err != nil || lock.State != session.LockHeld
	})
}

// LaunchID is PAW_LAUNCH of one launch.
func LaunchID(sessionName, agentName string, generation int) string {
	return fmt.Sprintf("%s/%s/%d", sessionName, agentName, generation)
}

// RunsHeadless reports whether a living paw holds the lock for a headless turn.
func RunsHeadless(lock session.AgentLock) bool {
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
