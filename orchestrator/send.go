package orchestrator

import (
	"context"

	"paw/orchestrator/family"
	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/typing"
	"paw/session"
)

// Send types a prompt into an agent's pane and confirms, by the event that the
// CLI's hook sends, that it arrived. It never types into a dialog.
func Send(ctx context.Context, h *home.Home, s *session.Session, agentName, prompt string, wait bool) (*typing.Sent, error) {
	if err := fleet.RefuseHalfMoved(ctx, h, s, agentName); err != nil {
		return nil, err
	}
	defer family.ClaimAll(h, s.Name)
	return typing.Send(ctx, h, s, agentName, prompt, wait)
}
