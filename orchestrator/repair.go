package orchestrator

import (
	"context"
	"strings"

	"paw/orchestrator/app"
	"paw/session"
)

// repair mends the worktree registrations that paw's own interrupted steps left
// in the repository of a session: a half-made one stops git for everybody. Those of
// the session that the user has unlocked are locked again.
func repair(ctx context.Context, h *app.App, s *session.Session) error {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return err
	}
	report, err := m.Repair(ctx, func(reason string) bool {
		return strings.HasPrefix(reason, app.OwnerPrefix)
	})
	for _, line := range report {
		h.Notef("%s", line)
	}
	if err != nil {
		return err
	}
	for _, w := range s.Agents {
		locked, err := m.Lock(ctx, app.PlanOf(s, w))
		if err != nil {
			return err
		}
		if locked {
			h.Notef("%s: its worktree was unlocked and is locked again, so that git keeps it", w.Name)
		}
	}
	return nil
}
