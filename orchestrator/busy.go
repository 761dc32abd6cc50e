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
		what := "a turn is in progress"
		switch {
		case !contains(agents, a.Record.Agent):
			continue
		case a.State == session.StateWaitingChildren && a.PID != 0:
			what = a.Reason
		case a.State != session.StateRunning && a.State != session.StateWaitingInput:
			continue
		}
		return failf(KindRefused, "%s: %s (%s)", a.Record.Agent, what, a.State).
			hint("paw attach %s %s", s.Name, a.Record.Agent).hint("paw stop %s %s", s.Name, a.Record.Agent)
	}
	return nil
}
