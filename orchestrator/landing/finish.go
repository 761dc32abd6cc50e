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
	"paw/worktree/gitdir"
	"paw/worktree/journal"
)

// Finish finishes interrupted landings and moves of files in the repository of a session, for all
// sessions. busy returns an error for worktrees whose agents may be at work; their moves stay
// unfinished. After it, each landing has taken place or not, and branch and checkout agree. It
// returns lines about what it found, also about what it could not finish. It may be repeated.
func Finish(ctx context.Context, h *app.App, s *session.Session, busy func(gitdir.Checkout) error) ([]string, error) {
	all, _, err := h.Store.ListAll()
	if err != nil {
		return nil, err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	places, err := m.Registry().Unended(ctx)
	sessions := unfinishedOf(all, s.GitCommonDir)
	if err != nil || len(places)+len(sessions) == 0 {
		return nil, err
	}
	v, found, err := hold(ctx, h, m, s.Name)
	if err != nil {
		return []string{noted("what was cut short is not finished", err)}, nil
	}
	defer v.right.Release()
	for _, place := range places {
		landsThere := func(l session.Landing) bool { return Unfinished(l) && l.Checkout == place.Path }
		if !slices.ContainsFunc(sessions, func(s *session.Session) bool { return slices.ContainsFunc(s.Landings, landsThere) }) {
			found = append(found, endMove(ctx, m, place, busy)...)
		}
	}
	return found, nil
}

// endMove finishes an interrupted move of files, and says how.
func endMove(ctx context.Context, m *worktree.Manager, place gitdir.Checkout, busy func(gitdir.Checkout) error) []string {
	err := busy(place)
	if err != nil {
		return []string{noted(place.Path+": what was cut short there is not finished", err)}
	}
	ended, err := m.Moves().EndMove(ctx, place)
	switch {
	case err != nil:
		return []string{noted(place.Path+": what was cut short there is not finished", app.Conflict(err))}
	case ended == nil:
		return nil
	}
	return []string{place.Path + ": " + ended.String()}
}

// noted formats an error as one line with its first hint.
func noted(what string, err error) string {
	line, hints := what+": "+err.Error(), errs.HintsOf(err)
	if app.FullDisk(err) != "" || len(hints) == 0 {
		hints = app.HintsOf(err)
	}
	if len(hints) > 0 {
		line += "; " + hints[0]
	}
	return line
}

// holdMoves gets the right to move branches of the repository, and finishes interrupted landings,
// with a note for each.
func holdMoves(ctx context.Context, h *app.App, m *worktree.Manager, sessionName string) (mover, error) {
	v, found, err := hold(ctx, h, m, sessionName)
	for _, line := range found {
		h.Notef("%s", line)
	}
	return v, err
}

// hold gets the right to move branches of the repository, and finishes interrupted landings. It
// returns a line about each, and about records that could not be read.
func hold(ctx context.Context, h *app.App, m *worktree.Manager, sessionName string) (v mover, found []string, err error) {
	v = mover{home: h, m: m, session: sessionName}
	if v.right, err = m.Moves().Hold(ctx); err != nil {
		return v, nil, err
	}
	if v.records, _, err = h.Store.ListAll(); err != nil {
		return v, []string{noted("landings that were cut short are not finished", err)}, nil
	}
	if found = finishAll(ctx, h, m, v.right, unfinishedOf(v.records, m.Repository.CommonDir)); len(found) > 0 { // has changed records
		v.records, _, _ = h.Store.ListAll()
	}
	return v, found, nil
}

// finishAll finishes the interrupted landings of sessions, and returns a line for each. A landing
// that cannot be finished only keeps others from landing in the same checkout.
func finishAll(ctx context.Context, h *app.App, m *worktree.Manager, g *worktree.Moving, sessions []*session.Session) (found []string) {
	for _, s := range sessions {
		for i := range s.Landings {
			l := &s.Landings[i]
			if !Unfinished(*l) {
				continue
			}
			said, err := mover{home: h, m: m, right: g, session: s.Name}.finish(ctx, l)
			if err != nil {
				said = noted(fmt.Sprintf("landing %d of %s/%s was cut short, and is not finished", l.ID, s.Name, l.Agent), err)
			}
			found = append(found, said)
		}
	}
	return found
}

// Unfinished reports whether a landing was interrupted, or is under way.
func Unfinished(l session.Landing) bool {
	return l.Phase == session.LandingBegun || l.Phase == session.LandingUndoes
}

// CutShort names the interrupted landings, and moves of files, of a session.
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
		var left *journal.MoveError
		m.Unsettled = nil
		if err := m.Journals().SettledAt(ctx, place); errors.As(err, &left) && !left.Live && left.Session == s.Name && !strings.HasPrefix(left.Command, landingOf) {
			names = append(names, fmt.Sprintf("a %s in %s", left.Command, left.Path))
		}
	}
	return names
}

// unfinishedOf returns those of the sessions that have interrupted landings in a repository.
func unfinishedOf(all []*session.Session, commonDir string) (some []*session.Session) {
	for _, s := range all {
		if s.GitCommonDir == commonDir && slices.ContainsFunc(s.Landings, Unfinished) {
			some = append(some, s)
		}
	}
	return some
}

// finish finishes one interrupted landing or undo: first the files of the checkout, by the journal
// there, then the record. The branch says whether the landing took place.
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

// finishFiles finishes the move of files in the landing's checkout. note says what the user has to
// look at.
func (v mover) finishFiles(ctx context.Context, l *session.Landing) (note string, err error) {
	if l.Checkout == "" {
		return "", nil
	}
	at, err := v.m.Registry().CheckoutAt(ctx, l.Checkout)
	if at == nil {
		return "", err
	}
	ended, err := v.m.Moves().EndMove(ctx, *at)
	if locked, ok := errors.AsType[*worktree.IndexLockedError](err); ok {
		return "", app.IndexLocked(locked, l.Target+" in "+l.Checkout, recoverLine(v.session))
	}
	if err != nil || ended == nil || ended.Note == "" {
		return "", err
	}
	return "; " + ended.WhatToSee(), nil
}
