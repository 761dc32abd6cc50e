package orchestrator

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/orchestrator/typing"
	"paw/session"
)

// Send types a prompt into an agent's pane, and waits for the hook event that confirms its arrival.
// It never types into a dialog.
func Send(ctx context.Context, h *app.App, s *session.Session, agentName, prompt string, wait bool) (*typing.Sent, error) {
	if err := observe.RefuseHalfMoved(ctx, h, s, agentName); err != nil {
		return nil, err
	}
	defer children.ClaimAll(h, s.Name)
	return typing.Send(ctx, h, s, agentName, prompt, wait)
}

// SendAgain sends an agent the prompts that were queued in its CLI when the CLI ended, each once
// even if several processes call it, and calls each for every prompt that was sent.
func SendAgain(ctx context.Context, h *app.App, s *session.Session, agentName string, wait bool, each func(*typing.Sent)) error {
	if err := observe.RefuseHalfMoved(ctx, h, s, agentName); err != nil {
		return err
	}
	defer children.ClaimAll(h, s.Name)
	turns.CloseDead(ctx, h, s, agentName)
	for _, one := range h.Texts().LostPrompts(s.Name, agentName) {
		sent, err := typing.SendAgain(ctx, h, s, agentName, one, wait)
		if err != nil {
			return err
		}
		if sent != nil {
			each(sent)
		}
	}
	return nil
}
