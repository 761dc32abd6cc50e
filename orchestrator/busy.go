package orchestrator

import (
	"context"

	"paw/session"
)

// refuseBusy refuses to take an agent away in the middle of a turn.
func (p *Paw) refuseBusy(ctx context.Context, s *session.Session, agents ...string) error {
	f, err := p.observeRevived(ctx, s)
	if err != nil {
		return err
	}
	for _, a := range p.statusOf(f).Agents {
		busy := a.State == session.StateRunning || a.State == session.StateWaitingInput || a.State == session.StateWaitingChildren
		if busy && contains(agents, a.Record.Agent) {
			return failf(KindRefused, "%s: a turn is in progress (%s)", a.Record.Agent, a.State).
				hint("paw attach %s %s", s.Name, a.Record.Agent).hint("paw stop %s %s", s.Name, a.Record.Agent)
		}
	}
	return nil
}
