package orchestrator

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
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

// SendAgain sends an agent the prompts that are kept for it, and those that were queued in its CLI when the CLI ended, each once
// even if several processes call it, and calls each for every prompt that was sent.
func SendAgain(ctx context.Context, h *app.App, s *session.Session, agentName string, wait bool, each func(*typing.Sent)) error {
	if err := observe.RefuseHalfMoved(ctx, h, s, agentName); err != nil {
		return err
	}
	defer children.ClaimAll(h, s.Name)
	turns.CloseDead(ctx, h, s, agentName)
	if err := typing.SendNext(ctx, h, s, agentName, each); err != nil {
		return err
	}
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

// SendBack types to an agent the reason why its work cannot land. It returns an error and types
// nothing if the agent is in a turn, waits for an answer, or has text in its input box.
func SendBack(ctx context.Context, h *app.App, s *session.Session, agentName, prompt string) (*typing.Sent, error) {
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return nil, err
	}
	if s, err = h.Load(s.Name); err != nil { // read again, for the landings since
		return nil, err
	}
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return nil, err
	}
	f, err := observe.With(ctx, h, s, observe.AskTmux(h), observe.WhereUnknown)
	if err != nil {
		return nil, err
	}
	for _, one := range observe.LiveFacts(h, f) {
		if one.Record.Name == agentName && one.Ready() != live.Due {
			return nil, errs.New(errs.Refused, "%s: not sent back, it is %s", agentName, one.Status.InWords()).Hint("paw attach %s %s", s.Name, agentName)
		}
	}
	if _, err := typing.NewPaneWriter(h).Ready(ctx, s, w); err != nil {
		return nil, errs.New(errs.Refused, "%s: not sent back, its input box is not empty", agentName).Hint("paw attach %s %s", s.Name, agentName)
	}
	return Send(ctx, h, s, agentName, prompt, true)
}
