package orchestrator

import (
	"context"
	"fmt"
	"slices"

	"paw/session"
)

// refuseBusy refuses to take agents away in the middle of a turn, or when nobody
// can say whether they are in one.
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
	if err := refuseSilent(f, agents); err != nil {
		return err
	}
	for _, a := range p.statusOf(f).Agents {
		what := fmt.Sprintf("a turn is in progress (%s)", a.State)
		switch {
		case !contains(agents, a.Record.Agent) || !slices.Contains(states, a.State):
			continue
		case a.State == session.StateWaitingChildren && a.PID == 0:
			continue // it does not run
		case a.State == session.StateWaitingChildren:
			what = fmt.Sprintf("%s (%s)", a.Reason, a.State)
		case a.State == session.StateUnknown:
			what = fmt.Sprintf("may be in a turn (%s)", a.Reason)
		}
		return failf(KindRefused, "%s: %s", a.Record.Agent, what).
			hint("paw attach %s %s", s.Name, a.Record.Agent).hint("paw stop %s %s", s.Name, a.Record.Agent)
	}
	return nil
}

// refuseSilent refuses agents that run while tmux says nothing of them: they could
// not be ended now, and must not be ended later, when nobody thinks of it any more.
func refuseSilent(f facts, agents []string) error {
	for _, a := range f.agents {
		if f.tmux == session.TmuxUnknown && a.lock.State != session.LockFree && contains(agents, a.record.Agent) {
			return failf(KindRefused, "%s: it runs, and %s", a.record.Agent, silence(f.tmuxErr)).hint("paw status %s", f.session.Name)
		}
	}
	return nil
}
