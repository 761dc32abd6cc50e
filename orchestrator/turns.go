package orchestrator

import (
	"context"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// Turns lists the turns of the named agents, or of all if none is named, in the order of the
// record. Logs that cannot be read come back as problems.
func Turns(ctx context.Context, h *app.App, s *session.Session, agents ...string) (list []turns.AgentTurns, problems []error, err error) {
	if err := app.RequireAgents(s, agents...); err != nil {
		return nil, nil, err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range s.Agents {
		if len(agents) > 0 && !slices.Contains(agents, w.Name) {
			continue
		}
		one, bad, err := turns.List(ctx, h.Agent(s, &w).In(m))
		if err == nil {
			err = one.CountFiles(ctx, m)
		}
		if err != nil {
			return nil, nil, err
		}
		list, problems = append(list, one), append(problems, bad...)
	}
	return list, problems, showCut(ctx, h, s, list)
}

// showCut shows the open turn of an agent whose CLI does not run as recover will close it. It asks
// tmux only if the lock of an agent with an open turn is free.
func showCut(ctx context.Context, h *app.App, s *session.Session, list []turns.AgentTurns) error {
	open := func(one turns.AgentTurns) bool {
		n := len(one.Turns)
		if n == 0 || one.Turns[n-1].State != turn.InProgress {
			return false
		}
		lock, err := h.Locks.ProbeAgent(s.Name, one.Agent)
		return err == nil && lock.State == session.LockFree
	}
	if !slices.ContainsFunc(list, open) {
		return nil
	}
	f, err := observe.Observe(ctx, h, s)
	if err != nil {
		return err
	}
	for _, one := range list {
		if a := f.Agent(one.Agent); a != nil && open(one) {
			last := &one.Turns[len(one.Turns)-1]
			if cut := turns.CutOf(ctx, h, f, *a); cut != nil && cut.Number == last.Number {
				last.Record, last.Cut = *cut, true
			}
		}
	}
	return nil
}
