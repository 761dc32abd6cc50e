package landing

import (
	"context"
	"errors"
	"fmt"

	"paw/orchestrator/fault"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// offer adds to a collision how the user merges by hand. What is offered is a commit of the user's that refs keep and the record knows: once
// a branch has it, the work has landed.
func (l *landing) offer(ctx context.Context, v mover, cause error) error {
	var e *CollisionError
	if !errors.As(cause, &e) {
		return cause
	}
	offered, err := l.offered(ctx, v, e.target)
	if err != nil {
		l.home.Notef("%s: nothing could be offered for a merge by hand: %v", l.name(), err)
		return cause
	}
	byHand := fmt.Sprintf("git switch %s && git merge %s", fault.Quote(e.target.branch), offered)
	if e.target.checkout != nil {
		byHand = fmt.Sprintf("git -C %s merge %s", fault.Quote(e.target.checkout.Path), offered)
	}
	e.error = fault.WithHints(e.error, byHand)
	return e
}

// offered is the commit that is offered for a state: the one that was offered for it before, the branch of the agent where all is committed,
// or a new one.
func (l *landing) offered(ctx context.Context, v mover, t target) (string, error) {
	c := l.composer
	tree, err := c.m.TreeOf(ctx, c.source.state)
	if err != nil {
		return "", err
	}
	for _, one := range c.asker.led.of(c.agent.TurnSession) {
		if one.Phase != session.LandingOffered || one.Turn != c.source.turn {
			continue
		}
		same, err := c.m.IsCommitOf(ctx, one.After, tree, c.source.head)
		if same || err != nil || one.After == c.source.state {
			return one.After, err
		}
	}
	facts, _, err := c.lookAtWork(ctx, &composed{})
	if err != nil {
		return "", err
	}
	commit := c.source.head
	if c.source.state != c.source.head {
		if commit, err = c.m.Commit(ctx, worktree.NewCommit{Tree: tree, Parents: []string{c.source.head}, Message: facts.message(), Sign: c.sign}); err != nil {
			return "", err
		}
	}
	base, err := c.asker.base(ctx, c.sides)
	if err != nil {
		return "", err
	}
	return commit, v.keepOffer(ctx, &session.Landing{
		Agent: c.agent.Agent, TurnSession: c.agent.TurnSession, Target: t.branch, Before: base, After: commit, State: c.sides.state,
		Turn: c.source.turn, Turns: ranges(c.brought()), LastTurn: c.source.lastTurn(), As: string(Merge), Title: facts.title(), Instead: c.instead(),
	})
}

// keepOffer writes down what is offered: refs first, so that the record names nothing that could go.
func (v mover) keepOffer(ctx context.Context, l *session.Landing) error {
	rec, err := v.home.Load(v.session)
	if err != nil {
		return err
	}
	refs, err := v.m.Refs(ctx, turn.LandedPrefix(l.TurnSession))
	if err != nil {
		return err
	}
	l.ID, l.At, l.Phase = max(rec.NextLanding(), nextBelow(refs, turn.LandedPrefix(l.TurnSession))), v.home.Now().UTC(), session.LandingOffered
	if err := v.m.CreateRefs(ctx, map[string]string{
		turn.LandedRef(l.TurnSession, l.ID, "before"): l.Before,
		turn.LandedRef(l.TurnSession, l.ID, "after"):  l.After,
		turn.LandedRef(l.TurnSession, l.ID, "state"):  l.State,
	}); err != nil {
		return err
	}
	v.home.Step("land.offered")
	_, err = v.home.Update(ctx, v.session, func(rec *session.Session) error {
		rec.Landings = append(rec.Landings, *l)
		return nil
	})
	return err
}
