package landing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// Finish ends what was cut short in the repository of a session, whichever session it was for: moves of files at any place but
// those of agents that busy names, and landings: each has taken place then or it has not, and branch and checkout agree. It
// returns what it found, in words; what cannot be finished is among that, with a command that helps, and is tried again
// by the next one. It may be repeated.
func Finish(ctx context.Context, h *app.App, s *session.Session, busy func(worktree.Checkout) error) ([]string, error) {
	sessions, err := unfinishedIn(h, s.GitCommonDir)
	if err != nil {
		return nil, err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	places, err := m.Registry().Unended(ctx)
	if err != nil || len(places)+len(sessions) == 0 {
		return nil, err
	}
	moving, err := m.Moves().Hold(ctx)
	if err != nil {
		return []string{noted("what was cut short is not finished", err)}, nil
	}
	defer moving.Release()
	found := finishAll(ctx, h, m, moving)
	for _, place := range places {
		if !slices.ContainsFunc(sessions, func(s *session.Session) bool { return landsIn(s, place.Path) }) {
			found = append(found, endMove(ctx, m, place, busy)...)
		}
	}
	return found, nil
}

// landsIn reports whether a landing of a session that was cut short moves what is at a place.
func landsIn(s *session.Session, path string) bool {
	return slices.ContainsFunc(s.Landings, func(l session.Landing) bool { return Unfinished(l) && l.Checkout == path })
}

// endMove ends a move of files that was cut short, and says how.
func endMove(ctx context.Context, m worktree.Manager, place worktree.Checkout, busy func(worktree.Checkout) error) []string {
	err := busy(place)
	if err != nil {
		return []string{noted(place.Path+": what was cut short there is not finished", err)}
	}
	ended, err := m.Moves().EndMove(ctx, place)
	switch {
	case err != nil:
		return []string{noted(place.Path+": what was cut short there is not finished", err)}
	case ended == nil:
		return nil
	}
	return []string{place.Path + ": " + ended.String()}
}

// noted is an error in one line, with its first hint.
func noted(what string, err error) string {
	line := what + ": " + err.Error()
	if hints := errs.HintsOf(err); len(hints) > 0 {
		line += "; " + hints[0]
	}
	return line
}

// holdMoves waits until nobody else moves branches, and finishes the landings that were cut short, with notes of what became
// of them.
func holdMoves(ctx context.Context, h *app.App, m worktree.Manager, sessionName string) (mover, error) {
	right, err := m.Moves().Hold(ctx)
	if err != nil {
		return mover{}, err
	}
	for _, line := range finishAll(ctx, h, m, right) {
		h.Notef("%s", line)
	}
	return mover{h, m, right, sessionName}, nil
}

// finishAll finishes the landings of a repository that were cut short, and says how. One that cannot be finished is in nobody's
// way but of those that land in the same place.
func finishAll(ctx context.Context, h *app.App, m worktree.Manager, g *worktree.Moving) (found []string) {
	sessions, err := unfinishedIn(h, m.Repository.CommonDir)
	if err != nil {
		return []string{noted("landings that were cut short are not finished", err)}
	}
	for _, s := range sessions {
		for i := range s.Landings {
			l := &s.Landings[i]
			if !Unfinished(*l) {
				continue
			}
			said, err := mover{h, m, g, s.Name}.finish(ctx, l)
			if err != nil {
				said = noted(fmt.Sprintf("landing %d of %s/%s was cut short, and is not finished", l.ID, s.Name, l.Agent), err)
			}
			found = append(found, said)
		}
	}
	return found
}

// Unfinished reports whether a landing was cut short, or goes on.
func Unfinished(l session.Landing) bool {
	return l.Phase == session.LandingBegun || l.Phase == session.LandingUndoes
}

// CutShort names what was cut short of a session and is not finished: landings, and moves of files in worktrees.
func CutShort(ctx context.Context, h *app.App, s *session.Session) []string {
	var names []string
	for _, l := range s.Landings {
		if Unfinished(l) {
			names = append(names, fmt.Sprintf("landing %d of %s/%s", l.ID, s.Name, l.Agent))
		}
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return names
	}
	places, _ := m.Registry().Unended(ctx)
	for _, place := range places {
		var left *worktree.MoveError
		m.Unsettled = nil
		if err := m.Journals().SettledAt(ctx, place); errors.As(err, &left) && !left.Live && left.Session == s.Name && !strings.HasPrefix(left.Command, landingOf) {
			names = append(names, fmt.Sprintf("a %s in %s", left.Command, left.Path))
		}
	}
	return names
}

// landingOf begins the name of a landing as that of what moves the files of a checkout.
const landingOf = "landing of "

// unfinishedIn are the sessions of a repository with landings that were cut short.
func unfinishedIn(h *app.App, commonDir string) ([]*session.Session, error) {
	all, _, err := h.Store.ListAll()
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

// finish ends one landing that was cut short, or the undoing of one: first what it moved in the checkout, by the journal there;
// then the branch says whether it took place.
func (v mover) finish(ctx context.Context, l *session.Landing) (string, error) {
	note, err := v.finishFiles(ctx, l)
	if err != nil {
		return "", err
	}
	v.home.Step("land.finished")
	branch, err := v.m.Refs().Reached(ctx, l.Target, l.After)
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("landing %d of %s/%s was cut short: ", l.ID, v.session, l.Agent)
	switch {
	case branch != "":
		said += "it has landed in " + branch
		l.Target = branch
		err = v.settled(ctx, l, session.LandingDone, nil)
	case l.Phase == session.LandingUndoes:
		said += "it is undone"
		err = v.settled(ctx, l, session.LandingUndone, nil)
	default:
		said += l.Target + " is as it was"
		err = v.forget(ctx, l)
	}
	return said + note, err
}

// finishFiles ends the move in the checkout that a landing names; note is what the user has to look at.
func (v mover) finishFiles(ctx context.Context, l *session.Landing) (note string, err error) {
	if l.Checkout == "" {
		return "", nil
	}
	at, err := v.m.Registry().CheckoutAt(ctx, l.Checkout)
	if at == nil {
		return "", err
	}
	ended, err := v.m.Moves().EndMove(ctx, *at)
	var locked *worktree.IndexLockedError
	if errors.As(err, &locked) {
		return "", app.IndexLocked(locked, l.Target+" in "+l.Checkout, recoverLine(v.session))
	}
	if err != nil || ended == nil || ended.Note == "" {
		return "", err
	}
	return "; " + ended.WhatToSee(), nil
}
