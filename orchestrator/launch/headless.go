package launch

import (
	"context"

	"paw/orchestrator/app"
	"paw/session"
)

// SettleHeadless records that agents that get no pane are complete.
func SettleHeadless(ctx context.Context, h *app.App, s *session.Session, jobs []Job) (*session.Session, error) {
	var complete []string
	for _, j := range jobs {
		if j.Result == ResultStopped && j.Worktree == WorktreeCreate {
			complete = append(complete, j.Agent)
		}
	}
	if len(complete) == 0 {
		return s, nil
	}
	saved, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		for _, name := range complete {
			if w := rec.Agent(name); w != nil && w.Phase == session.PhaseCreating {
				w.Phase = session.PhaseStopped
			}
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	h.Step("run.agent-made")
	return saved, nil
}
