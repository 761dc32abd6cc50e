package landing

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"paw/orchestrator/fault"
	"paw/orchestrator/home"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// advance carries a landing out: intent in the record, refs, branch and checkout, fact in the record. Nobody else moves
// anything meanwhile.
func advance(ctx context.Context, h *home.Home, m worktree.Manager, g *worktree.Moving, sessionName string, l *session.Landing) error {
	refs, err := m.Refs(ctx, turn.LandedPrefix(l.TurnSession))
	if err != nil {
		return err
	}
	_, err = h.Update(ctx, sessionName, func(rec *session.Session) error {
		l.ID, l.At, l.Phase = max(rec.NextLanding(), nextBelow(refs, turn.LandedPrefix(l.TurnSession))), h.Now().UTC(), session.LandingBegun
		rec.Landings = append(rec.Landings, *l)
		return nil
	})
	if err != nil {
		return err
	}
	h.Step("land.recorded")
	err = m.CreateRefs(ctx, map[string]string{
		turn.LandedRef(l.TurnSession, l.ID, "before"): l.Before,
		turn.LandedRef(l.TurnSession, l.ID, "after"):  l.After,
		turn.LandedRef(l.TurnSession, l.ID, "state"):  l.State,
	})
	if err == nil {
		h.Step("land.refs")
		err = move(ctx, h, m, g, l, l.Before, l.After, strings.TrimSpace("paw land "+l.Agent+" "+l.Turns))
	}
	if err != nil {
		return withdraw(ctx, h, m, sessionName, l, err)
	}
	return settled(ctx, h, sessionName, l, session.LandingDone)
}

// move moves branch and checkout of a landing, forward or back.
func move(ctx context.Context, h *home.Home, m worktree.Manager, g *worktree.Moving, l *session.Landing, from, to, log string) error {
	at, err := m.CheckoutOf(ctx, l.Target)
	if err != nil {
		return err
	}
	if at == nil && l.Checkout != "" || at != nil && at.Path != l.Checkout { // the record names another one
		return worktree.ErrBranchMoved
	}
	v := worktree.Move{Branch: l.Target, From: from, To: to, Checkout: at, Log: log}
	return m.Advance(ctx, g, v, func(name string) { h.Step("land." + name) })
}

// withdraw takes back the intent of a landing that did not take place. Where nobody can say whether it did, it stays, for
// recover to look.
func withdraw(ctx context.Context, h *home.Home, m worktree.Manager, sessionName string, l *session.Landing, cause error) error {
	ctx = context.WithoutCancel(ctx)
	var half *worktree.HalfMovedError
	if errors.As(cause, &half) {
		return fault.New(fault.Failed, "%s/%s: landing %d is %w", sessionName, l.Agent, l.ID, cause).Hint("paw recover %s", sessionName)
	}
	if err := forget(ctx, h, m, sessionName, l); err != nil {
		return errors.Join(refusedBy(cause), err)
	}
	return refusedBy(cause)
}

// forget drops a landing that did not take place, with its refs.
func forget(ctx context.Context, h *home.Home, m worktree.Manager, sessionName string, l *session.Landing) error {
	refs, err := m.Refs(ctx, turn.LandedPrefix(l.TurnSession)+strconv.Itoa(l.ID)+"/")
	if err != nil {
		return err
	}
	if err := m.DeleteRefs(ctx, refs); err != nil {
		return err
	}
	_, err = h.Update(ctx, sessionName, func(rec *session.Session) error {
		rec.DropLanding(l.ID)
		return nil
	})
	return err
}

// settled records how a landing stands.
func settled(ctx context.Context, h *home.Home, sessionName string, l *session.Landing, phase session.LandingPhase) error {
	_, err := h.Update(context.WithoutCancel(ctx), sessionName, func(rec *session.Session) error {
		if there := rec.Landing(l.ID); there != nil {
			there.Phase = phase
		}
		return nil
	})
	l.Phase = phase
	h.Step("land." + string(phase))
	if err != nil {
		return fault.WithHints(err, "paw recover "+sessionName)
	}
	return nil
}

// nextBelow is the number after those that refs have below a prefix: the record may be that of a later session of the same name.
func nextBelow(refs map[string]string, prefix string) int {
	next := 1
	for ref := range refs {
		number, _, _ := strings.Cut(strings.TrimPrefix(ref, prefix), "/")
		if k, err := strconv.Atoi(number); err == nil {
			next = max(next, k+1)
		}
	}
	return next
}
