package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"paw/session"
)

// busyStates are those in which an agent may write to its worktree.
var busyStates = []session.State{session.StateRunning, session.StateWaitingInput, session.StateWaitingChildren, session.StateUnknown}

// refuseBusy refuses to take agents away in the middle of a turn, or when nobody
// can say whether they are in one. What does not run is in none, and a CLI that
// was just started has a moment to report.
func (p *Paw) refuseBusy(ctx context.Context, s *session.Session, agents ...string) error {
	for deadline := time.Now().Add(youngGrace); ; settle(ctx, youngGrace/50) {
		f, err := p.observeRevived(ctx, s)
		if err != nil {
			return err
		}
		err = p.refuseStates(f, agents, func(a AgentStatus) bool { return a.State == session.StateUnknown && a.PID == 0 })
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) || !f.anyYoung(agents) {
			return err
		}
	}
}

// youngGrace is how long after its launch a CLI may take to report for the first time before nobody waits for it.
const youngGrace = 5 * time.Second

// anyYoung reports whether a CLI of these agents, one with hooks, was launched just now without a prompt and had not
// reported yet. It is asked of the same facts as the refusal: the agent may report between two looks.
func (f facts) anyYoung(agents []string) bool {
	return slices.ContainsFunc(f.agents, func(a agentFacts) bool {
		return slices.Contains(agents, a.record.Agent) && a.young(f.now)
	})
}

// young is anyYoung of one agent.
func (a agentFacts) young(now time.Time) bool {
	h := a.lock.Holder
	return a.turns.visible && a.lock.State == session.LockHeld && !h.Headless && !h.Prompted &&
		now.Sub(h.At).Abs() < youngGrace && a.turns.hooksSeen.IsZero()
}

// refuseNotAtRest refuses an agent that may be at work: what it writes meanwhile
// would mix with what paw writes.
func (p *Paw) refuseNotAtRest(ctx context.Context, s *session.Session, agent string) error {
	f, err := p.observeRevived(ctx, s)
	if err != nil {
		return err
	}
	return p.refuseStates(f, []string{agent}, func(AgentStatus) bool { return false })
}

// refuseStates refuses agents that are or may be in a turn, but for those that harmless lets pass.
func (p *Paw) refuseStates(f facts, agents []string, harmless func(AgentStatus) bool) error {
	s := f.session
	if err := refuseSilent(f, agents); err != nil {
		return err
	}
	for _, a := range p.statusOf(f).Agents {
		what := fmt.Sprintf("a turn is in progress (%s)", a.State)
		switch {
		case !slices.Contains(agents, a.Record.Agent) || !slices.Contains(busyStates, a.State) || harmless(a):
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
		if f.tmux == session.TmuxUnknown && a.lock.State != session.LockFree && slices.Contains(agents, a.record.Agent) {
			return failf(KindRefused, "%s: it runs, and %s", a.record.Agent, silence(f.tmuxErr)).hint("paw status %s", f.session.Name)
		}
	}
	return nil
}
