package orchestrator

import (
	"context"
	"slices"

	"paw/session"
)

// refuseBusy refuses to take agents away in the middle of a turn.
func (p *Paw) refuseBusy(ctx context.Context, s *session.Session, agents ...string) error {
	return p.refuseStates(ctx, s, agents, session.StateRunning, session.StateWaitingInput, session.StateWaitingChildren)
}

// refuseNotAtRest refuses an agent that may be at work: what it writes meanwhile
// would mix with what paw writes.
func (p *Paw) refuseNotAtRest(ctx context.Context, s *session.Session, agent string) error {
	return p.refuseStates(ctx, s, []string{agent},
		session.StateRunning, session.StateWaitingInput, session.StateWaitingChildren, session.StateUnknown)
}

// refuseStates refuses agents that are in one of the states.
func (p *Paw) refuseStates(ctx context.Context, s *session.Session, agents []string, states ...session.State) error {
	f, err := p.observeRevived(ctx, s)
	if err != nil {
		return err
	}
	for _, a := range p.statusOf(f).Agents {
		if !contains(agents, a.Record.Agent) || !slices.Contains(states, a.State) {
			continue
		}
		e := failf(KindRefused, "%s: a turn is in progress (%s)", a.Record.Agent, a.State)
		if a.State == session.StateUnknown {
			e = failf(KindRefused, "%s: may be in a turn (%s)", a.Record.Agent, a.Reason)
		}
		return e.hint("paw attach %s %s", s.Name, a.Record.Agent).hint("paw stop %s %s", s.Name, a.Record.Agent)
	}
	return nil
}
