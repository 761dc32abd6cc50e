package landing

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/git"
	"paw/worktree/refs"
	"paw/worktree/states"
)

// mover carries out landings of one session and undoes them, while it holds the right to move
// branches of the repository.
type mover struct {
	home    *app.App
	m       *worktree.Manager
	right   *worktree.Moving
	session string
	records []*session.Session // all records, read since the mover has the right; nil after an error
}

// load returns the record of the session, as it is since the mover has the right.
func (v mover) load() (*session.Session, error) {
	if i := slices.IndexFunc(v.records, func(s *session.Session) bool { return s.Name == v.session }); i >= 0 {
		return v.records[i], nil
	}
	return v.home.LoadAny(v.session)
}

// landingOf begins the name of a landing in the journal of a move.
const landingOf = "landing of "

// advance carries out a landing in this order: the intent in the record, branch and refs, the checkout, the
// result in the record. The number of the landing is at least the given one. keeps are refs that keep its
// state. again is the command that tries once more. see notes in the agent's record that the user has seen
// the work.
func (v mover) advance(ctx context.Context, l *session.Landing, again string, keeps []refs.Change, see func(*session.Landing, *session.Agent)) error {
	_, err := v.home.Update(ctx, v.session, func(rec *session.Session) error {
		l.ID, l.At, l.Phase = max(rec.NextLanding(), l.ID), v.home.Now().UTC(), session.LandingBegun
		rec.Landings = append(rec.Landings, *l)
		return nil
	})
	if err != nil {
		return err
	}
	v.home.Step("land.recorded")
	err = v.move(ctx, l, l.Before, l.After, strings.TrimSpace("paw land "+l.Agent+" "+l.Turns), keeps...)
	if err != nil {
		return v.withdraw(ctx, l, err, again)
	}
	return v.settled(ctx, l, session.LandingDone, func(w *session.Agent) { see(l, w) })
}

// landedRefs are the new refs that keep the commits of a landing.
func landedRefs(l *session.Landing) (all []refs.Change) {
	for what, commit := range map[string]string{"before": l.Before, "after": l.After, "state": l.State, "twin": l.Twin, "handed": l.Handed} {
		if commit != "" {
			all = append(all, refs.Change{Ref: turn.LandedRef(l.TurnSession, l.ID, what), To: commit, From: refs.None})
		}
	}
	return all
}

// move moves the branch and the checkout of a landing, forward with refs or back.
func (v mover) move(ctx context.Context, l *session.Landing, from, to, log string, keeps ...refs.Change) error {
	at, err := v.m.Registry().CheckoutOf(ctx, l.Target)
	if err != nil {
		return err
	}
	if at == nil && l.Checkout != "" || at != nil && at.Path != l.Checkout { // the record names another checkout
		return worktree.ErrBranchMoved
	}
	m := worktree.Move{
		Branch: l.Target, From: from, To: to, Checkout: at, Log: log, Command: landingOf + v.session + "/" + l.Agent, Session: v.session,
	}
	if to == l.After {
		m.FilesFrom, m.Refs = l.Handed, append(landedRefs(l), keeps...)
	} else {
		m.FilesTo = l.Handed
	}
	return v.m.Moves().Advance(ctx, v.right, m, func(name string) { v.home.Step("land." + name) })
}

// withdraw removes the intent of a landing that failed. If it is not known whether the landing took
// place, the intent stays for paw recover. again is the command that tries once more.
func (v mover) withdraw(ctx context.Context, l *session.Landing, cause error, again string) error {
	ctx = context.WithoutCancel(ctx)
	if _, ok := errors.AsType[*worktree.HalfMovedError](cause); ok {
		return errs.New(errs.Failed, "%s/%s: landing %d could not be ended: %w", v.session, l.Agent, l.ID, cause).Hint("%s", recoverLine(v.session))
	}
	cause = v.unmoved(l, cause, again)
	if err := v.forget(ctx, l); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

// unmoved returns the error for a landing, or an undo, that did not take place. again is the
// command that tries once more.
func (v mover) unmoved(l *session.Landing, cause error, again string) error {
	if locked, ok := errors.AsType[*worktree.IndexLockedError](cause); ok {
		return app.IndexLocked(locked, l.Target+" in "+l.Checkout, again)
	}
	if filter, _ := git.RefusingFilter(cause); filter != "" {
		cause = errs.New(errs.Refused, "%s: not touched: %w", l.Checkout, cause)
	}
	return app.Unfiltered(refusedBy(cause), "")
}

// forget removes a landing that did not take place from the record, with its refs.
func (v mover) forget(ctx context.Context, l *session.Landing) error {
	refs, err := v.m.Refs().List(ctx, turn.LandedPrefix(l.TurnSession)+strconv.Itoa(l.ID)+"/", states.GraftBase+l.After)
	if err != nil {
		return err
	}
	if err := v.m.Refs().Delete(ctx, refs); err != nil {
		return err
	}
	_, err = v.home.Update(ctx, v.session, func(rec *session.Session) error {
		rec.DropLanding(l.ID)
		return nil
	})
	return err
}

// settled records the phase of a landing, and the changes that also makes to the agent's record.
// The record may be lost in a power failure: the branch still says whether the landing took place.
func (v mover) settled(ctx context.Context, l *session.Landing, phase session.LandingPhase, also func(*session.Agent)) error {
	_, err := v.home.UpdateSoon(context.WithoutCancel(ctx), v.session, func(rec *session.Session) error {
		if there := rec.Landing(l.ID); there != nil {
			there.Phase, there.Target = phase, l.Target
		}
		if w := rec.Agent(l.Agent); w != nil && also != nil {
			also(w)
		}
		return nil
	})
	l.Phase = phase
	v.home.Step("land." + string(phase))
	if err != nil {
		return errs.WithHints(err, recoverLine(v.session))
	}
	return nil
}

// nextBelow returns the number after the highest one among refs with a prefix. The record alone is
// not enough: it may be that of a later session of the same name.
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

// recoverLine returns the command that finishes an interrupted landing.
func recoverLine(sessionName string) string {
	if strings.Contains(sessionName, ":") { // with a host, the word would mean the other machine
		return "paw recover"
	}
	return "paw recover " + sessionName
}
