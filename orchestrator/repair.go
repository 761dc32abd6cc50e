package orchestrator

import (
	"context"
	"strings"

	"paw/session"
)

// repair mends the worktree registrations that paw's own interrupted steps left
// in the repository of a session: a half-made one stops git for everybody. Those of
// the session that the user has unlocked are locked again.
func (p *Paw) repair(ctx context.Context, s *session.Session) error {
	repository, err := p.repositoryOf(ctx, s)
	if err != nil {
		return err
	}
	m := p.manager(repository)
	report, err := m.Repair(ctx, func(reason string) bool {
		return strings.HasPrefix(reason, ownerPrefix)
	})
	for _, line := range report {
		p.note("%s", line)
	}
	if err != nil {
		return err
	}
	for _, w := range s.Worktrees {
		locked, err := m.Lock(ctx, planOf(s, w))
		if err != nil {
			return err
		}
		if locked {
			p.note("%s: its worktree was unlocked and is locked again, so that git keeps it", w.Agent)
		}
	}
	return nil
}
