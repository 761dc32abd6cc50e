package turns

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/session"
	"paw/session/turn"
)

// ErrSettled says that a wait is not as it was any more: somebody was faster.
var ErrSettled = errors.New("settled already")

// SettleWait takes a wait whose prompt was typed out of the record.
func SettleWait(ctx context.Context, h *home.Home, sessionName, agentName, id string) error {
	_, err := h.Update(ctx, sessionName, func(rec *session.Session) error {
		w := rec.Worktree(agentName)
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

// heard settles what the agent was waiting for, when that is what joined its turn.
func (t *Track) heard(ctx context.Context, asked string) error {
	wait := t.W.Wait
	if wait == nil || !strings.Contains(asked, wait.ID) {
		return nil
	}
	t.W.Wait = nil
	return SettleWait(ctx, t.home, t.S.Name, t.W.Agent, wait.ID)
}

// begun is told that a turn began, once its log has the prompt: that may be what
// the agent was waiting for. If it is not, and that was typed before, it never
// arrived; the turn says so, and nothing is owed any more.
func (t *Track) begun(ctx context.Context, one *turn.Turn) error {
	wait := t.W.Wait
	if wait == nil || wait.TypedAt == nil {
		return nil
	}
	if !fleet.Arrived(t.home, t.S.Name, *t.W) {
		if t.home.Locks.DeliveryHeld(t.S.Name, t.W.Agent) {
			return nil // it is about to be known
		}
		names := strings.Join(wait.Children, ", ")
		if err := one.Note(fmt.Sprintf("the results of %s were typed before and not confirmed", names)); err != nil {
			return err
		}
	}
	t.W.Wait = nil
	return SettleWait(ctx, t.home, t.S.Name, t.W.Agent, wait.ID)
}
