package orchestrator

import (
	"context"

	"paw/orchestrator/app"
	"paw/session"
)

// Screen is what a pane of a session shows at this moment, with its colours as escape sequences.
func Screen(ctx context.Context, h *app.App, s *session.Session, pane string) (string, error) {
	shot, err := h.TmuxFor(s).Screenshot(ctx, pane)
	return shot.Text, app.TmuxError(err)
}
