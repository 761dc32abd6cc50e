package landing

import (
	"context"
	"fmt"
	"slices"

	"paw/orchestrator/home"
	"paw/session"
	"paw/worktree"
)

// Finish ends the landings of a repository that were cut short, of whichever session: each has taken place then or it has
// not, and branch and checkout agree. It returns what it found, in words. It may be repeated.
func Finish(ctx context.Context, h *home.Home, s *session.Session) ([]string, error) {
	sessions, err := unfinishedIn(h, s.GitCommonDir)
	if err != nil || len(sessions) == 0 {
		return nil, err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	moving, err := m.HoldMoves(ctx)
	if err != nil {
		return nil, err
	}
	defer moving.Release()
	return finishAll(ctx, h, m, moving)
}

// holdMoves waits until nobody else moves branches, and finishes the landings that were cut short, with notes of what became
// of them.
func holdMoves(ctx context.Context, h *home.Home, m worktree.Manager, sessionName string) (mover, error) {
	right, err := m.HoldMoves(ctx)
	if err != nil {
		return mover{}, err
	}
	found, err := finishAll(ctx, h, m, right)
	for _, line := range found {
		h.Notef("%s", line)
	}
	if err != nil {
		right.Release()
	}
	return mover{h, m, right, sessionName}, err
}

func finishAll(ctx context.Context, h *home.Home, m worktree.Manager, g *worktree.Moving) (found []string, err error) {
	sessions, err := unfinishedIn(h, m.Repository.CommonDir)
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		for i := range s.Landings {
			if l := &s.Landings[i]; Unfinished(*l) {
				said, err := mover{h, m, g, s.Name}.finish(ctx, l)
				if err != nil {
					return found, err
				}
				found = append(found, said)
			}
		}
	}
	return found, nil
}

// Unfinished reports whether a landing was cut short, or goes on.
func Unfinished(l session.Landing) bool {
	return l.Phase == session.LandingBegun || l.Phase == session.LandingUndoes
}

// CutShort names the landings of a session that were cut short.
func CutShort(s *session.Session) []string {
	var names []string
	for _, l := range s.Landings {
		if Unfinished(l) {
			names = append(names, fmt.Sprintf("landing %d of %s/%s", l.ID, s.Name, l.Agent))
		}
	}
	return names
}

// unfinishedIn are the sessions of a repository with landings that were cut short.
func unfinishedIn(h *home.Home, commonDir string) ([]*session.Session, error) {
	all, _, err := h.Store.List()
	if err != nil {
		return nil, err
	}
	var some []*session.Session
	for _, s := range all {
		if s.GitCommonDir == commonDir && slices.ContainsFunc(s.Landings, Unfinished) {
			some = append(some, s)
		}
	}
	return some, nil
}

// finish ends one landing that was cut short, or the undoing of one.
func (v mover) finish(ctx context.Context, l *session.Landing) (string, error) {
	from, to := l.Before, l.After
	if l.Phase == session.LandingUndoes {
		from, to = to, from
	}
	half := worktree.Move{Branch: l.Target, From: from, To: to, Log: "paw recover"}
	if l.Checkout != "" {
		at, err := v.m.CheckoutAt(ctx, l.Checkout)
		if err != nil {
			return "", err
		}
		half.Checkout = at
	}
	ended, err := v.m.FinishMove(ctx, v.right, half)
	if err != nil {
		return "", err
	}
	v.home.Step("land.finished")
	said := fmt.Sprintf("landing %d of %s/%s was cut short: ", l.ID, v.session, l.Agent)
	landed := ended.Moved != (l.Phase == session.LandingUndoes)
	switch {
	case landed:
		said += "it has landed in " + l.Target
		err = v.settled(ctx, l, session.LandingDone)
	case l.Phase == session.LandingUndoes:
		said += "it is undone"
		err = v.settled(ctx, l, session.LandingUndone)
	default:
		said += l.Target + " is as it was"
		err = v.forget(ctx, l)
	}
	if ended.Note != "" {
		said += "; " + ended.Note
	}
	return said, err
}
