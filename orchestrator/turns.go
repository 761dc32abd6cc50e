package orchestrator

import (
	"context"

	"paw/orchestrator/home"
	"paw/orchestrator/turns"
	"paw/session"
)

// Turns lists the turns of one agent, or of all when agentName is empty. Logs
// that cannot be read come back as problems.
func Turns(ctx context.Context, h *home.Home, s *session.Session, agentName string) (list []turns.Sequence, problems []error, err error) {
	if agentName != "" {
		if _, err := home.AgentNamed(s, agentName); err != nil {
			return nil, nil, err
		}
	}
	repository, err := h.RepositoryOf(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	m := h.Manager(repository)
	for _, w := range s.Worktrees {
		if agentName != "" && w.Agent != agentName {
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
