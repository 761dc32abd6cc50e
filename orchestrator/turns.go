package orchestrator

import (
	"context"
	"slices"

	"paw/orchestrator/home"
	"paw/orchestrator/turns"
	"paw/session"
)

// Turns lists the turns of these agents, in the order of the record, or of all when none is named. Logs that cannot be
// read come back as problems.
func Turns(ctx context.Context, h *home.Home, s *session.Session, agents ...string) (list []turns.Sequence, problems []error, err error) {
	if err := home.RequireAgents(s, agents...); err != nil {
		return nil, nil, err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range s.Worktrees {
		if len(agents) > 0 && !slices.Contains(agents, w.Agent) {
			continue
		}
		turns, bad, err := turns.List(ctx, h, m, s, w)
		if err != nil {
			return nil, nil, err
		}
		list, problems = append(list, turns), append(problems, bad...)
	}
	return list, problems, nil
}
