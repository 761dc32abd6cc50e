package orchestrator

import (
	"context"

	"paw/session"
)

// refuseBusy refuses to take an agent away in the middle of a turn, or when nobody
// can say whether it is in one.
func (p *Paw) refuseBusy(ctx context.Context, s *session.Session, agents ...string) error {
	f, err := p.observeRevived(ctx, s)
	if err != nil {
		return err
	}
	if err := refuseSilent(f, agents); err != nil {
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
