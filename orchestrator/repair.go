package orchestrator

import (
	"context"
	"strings"

	"paw/session"
)

// repair mends the worktree registrations that paw's own interrupted steps left
// in the repository of a session: a half-made one stops git for everybody.
func (p *Paw) repair(ctx context.Context, s *session.Session) error {
	repository, err := p.repositoryOf(ctx, s)
	if err != nil {
		return err
	}
	report, err := p.manager(repository).Repair(ctx, func(reason string) bool {
		return strings.HasPrefix(reason, ownerPrefix)
	})
	for _, line := range report {
		p.note("%s", line)
	}
	return err
}
