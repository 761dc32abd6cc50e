package orchestrator

import (
	"context"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// idlePatience bounds the wait for the record of a turn's end.
const idlePatience = 5 * time.Second

// rested takes the report that a CLI waits for a prompt, which does not say how the open turn ended:
// it waits until the CLI's record tells. It returns an event without a kind where the turn has ended
// otherwise.
func rested(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, c cli.CLI, e turn.Event) (ended turn.Event, err error) {
	if err := c.Rests(h.Specs().Read(s, w, ""), e); err != nil {
		return turn.Event{}, err
	}
	poll.Until(ctx, poll.Tick, idlePatience, func() bool {
		last, err := h.TurnDir(s.Name, w.Name).Last()
		if err != nil || last == nil || last.State != turn.InProgress || !e.At.After(last.StartedAt) {
			return true
		}
		seen := observe.AskRecord(ctx, h, s, w, last)
		if seen.Ended != nil {
			ended = *seen.Ended
		}
		return seen.Ended != nil
	})
	return ended, nil
}
