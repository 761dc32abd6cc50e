package orchestrator

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/observe"
	"paw/orchestrator/typing"
	"paw/session"
)

// Send types a prompt into an agent's pane and confirms, by the event that the
// CLI's hook sends, that it arrived. It never types into a dialog.
func Send(ctx context.Context, h *app.App, s *session.Session, agentName, prompt string, wait bool) (*typing.Sent, error) {
	if err := observe.RefuseHalfMoved(ctx, h, s, agentName); err != nil {
		return nil, err
	}
	defer children.ClaimAll(h, s.Name)
	return typing.Send(ctx, h, s, agentName, prompt, wait)
}
