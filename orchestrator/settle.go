package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"paw/session"
	"paw/session/turn"
)

// errSettled says that a wait is not as it was any more: somebody was faster.
var errSettled = errors.New("settled already")

// settleWait takes a wait whose prompt was typed out of the record.
func (p *Paw) settleWait(ctx context.Context, sessionName, agentName, id string) error {
	_, err := p.update(ctx, sessionName, func(rec *session.Session) error {
		w := rec.Worktree(agentName)
		if w == nil || w.Wait == nil || w.Wait.ID != id || w.Wait.TypedAt == nil {
			return errSettled
		}
		rec.SettleWait(agentName)
		return nil
	})
	if errors.Is(err, errSettled) {
		return nil
	}
	if err == nil {
		p.Step("deliver.acknowledged")
	}
	return err
}

// heard settles what the agent was waiting for, when that is what joined its turn.
func (t *turns) heard(ctx context.Context, asked string) error {
	wait := t.w.Wait
	if wait == nil || !strings.Contains(asked, wait.ID) {
		return nil
	}
	t.w.Wait = nil
	return t.p.settleWait(ctx, t.s.Name, t.w.Agent, wait.ID)
}

// begun is told that a turn began, once its log has the prompt: that may be what
// the agent was waiting for. If it is not, and that was typed before, it never
// arrived; the turn says so, and nothing is owed any more.
func (t *turns) begun(ctx context.Context, one *turn.Turn) error {
	wait := t.w.Wait
	if wait == nil || wait.TypedAt == nil {
		return nil
	}
	if !t.p.arrived(t.s.Name, *t.w) {
		if t.p.Locks.DeliveryHeld(t.s.Name, t.w.Agent) {
			return nil // it is about to be known
		}
		names := strings.Join(wait.Children, ", ")
		if err := one.Note(fmt.Sprintf("the results of %s were typed before and not confirmed", names)); err != nil {
			return err
		}
	}
	t.w.Wait = nil
	return t.p.settleWait(ctx, t.s.Name, t.w.Agent, wait.ID)
}
