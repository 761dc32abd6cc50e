package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
)

// Making holds the locks of new agents whose worktrees this process makes. Commands that look at
// such an agent see the lock, and neither take the agent for one that a crash has left behind nor
// take its worktree away.
type Making struct {
	unlocks map[string]func() // by agent
}

// Hold takes the lock of a new agent, before the record names the agent.
func (m *Making) Hold(h *app.App, sessionName, agentName string) error {
	unlock, err := h.Locks.Creating(sessionName, agentName)
	if locked, ok := errors.AsType[*session.LockedError](err); ok {
		return errs.New(errs.Locked, "%w", locked).Hint("paw status %s", sessionName)
	}
	if err != nil {
		return err
	}
	if m.unlocks == nil {
		m.unlocks = map[string]func(){}
	}
	m.unlocks[agentName] = unlock
	return nil
}

// holds reports whether this process makes an agent.
func (m *Making) holds(agentName string) bool { return m.unlocks[agentName] != nil }

// Release gives the locks back: the panes are recorded, or what was made has been taken back. It may
// be called again.
func (m *Making) Release() {
	for _, unlock := range m.unlocks {
		unlock()
	}
	m.unlocks = nil
}

// AwaitMade waits until no paw makes the worktrees of these agents any more, as long as commands
// wait for a lock. Agents that git still checks out then are refused.
func AwaitMade(ctx context.Context, h *app.App, sessionName string, names []string) error {
	deadline := time.Now().Add(app.LockWait)
	for _, name := range names {
		free := func() bool { return RefuseMade(h, sessionName, name) == nil }
		if err := RefuseMade(h, sessionName, name); err != nil {
			h.Sayf("waiting: %s", err)
		}
		if !poll.Until(ctx, poll.Tick, time.Until(deadline), free) {
			return RefuseMade(h, sessionName, name)
		}
	}
	return nil
}

// RefuseMade refuses an agent whose worktree a paw makes now.
func RefuseMade(h *app.App, sessionName, agentName string) error {
	if pid, held := h.Locks.CreatedBy(sessionName, agentName); held {
		return errs.New(errs.Locked, "%s", made(agentName, pid)).Hint("paw status %s", sessionName)
	}
	return nil
}

// made says that the worktree of an agent is being made.
func made(name string, pid int) string {
	if pid == 0 {
		return name + ": " + session.ReasonMade
	}
	return fmt.Sprintf("%s: %s by process %d", name, session.ReasonMade, pid)
}
