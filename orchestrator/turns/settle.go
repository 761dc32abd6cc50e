package turns

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// ErrSettled says that the record has another wait by now, or none: another process was faster.
var ErrSettled = errors.New("settled already")

// SettleWait takes a wait whose prompt was typed out of the record.
func SettleWait(ctx context.Context, h *app.App, sessionName, agentName, id string) error {
	_, err := h.Update(ctx, sessionName, func(rec *session.Session) error {
		w := rec.Agent(agentName)
		if w == nil || w.Wait == nil || w.Wait.ID != id || w.Wait.TypedAt == nil {
			return ErrSettled
		}
		rec.SettleWait(agentName)
		return nil
	})
	if errors.Is(err, ErrSettled) {
		return nil
	}
	if err == nil {
		h.Step("deliver.acknowledged")
	}
	return err
}

// heard settles the agent's wait when the prompt that joined its turn has the results.
func (t *Recorder) heard(ctx context.Context, asked string) error {
	wait := t.Agent.Wait
	if wait == nil || !strings.Contains(asked, wait.ID) {
		return nil
	}
	t.Agent.Wait = nil
	return SettleWait(ctx, t.app, t.Session.Name, t.Agent.Name, wait.ID)
}

// begun settles the agent's wait once the log of a turn that began has its prompt,
// which may be the results that were typed. Where it is another one, results that
// were typed before never arrived: the turn notes that, and nothing is owed any more.
func (t *Recorder) begun(ctx context.Context, one *turn.Turn) error {
	wait := t.Agent.Wait
	if wait == nil || wait.TypedAt == nil {
		return nil
	}
	if !observe.Arrived(t.app, t.Session.Name, *t.Agent) {
		if t.app.Locks.DeliveryHeld(t.Session.Name, t.Agent.Name) {
			return nil // it is about to be known
		}
		names := strings.Join(wait.Children, ", ")
		if err := one.Note(fmt.Sprintf("the results of %s were typed before and not confirmed", names)); err != nil {
			return err
		}
	}
	t.Agent.Wait = nil
	return SettleWait(ctx, t.app, t.Session.Name, t.Agent.Name, wait.ID)
}
