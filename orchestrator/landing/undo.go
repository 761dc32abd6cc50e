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
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/gitdir"
	"paw/worktree/states"
)

// Undo undoes a landing, with id 0 the last one. As long as the branch is where the landing has
// brought it, the branch and its checkout become what they were before. Files that the landing has
// not changed stay as they are. An undo that was cut short, and has taken place, is finished: that is all.
func Undo(ctx context.Context, h *app.App, s *session.Session, id int, dryRun bool) (*session.Landing, error) {
	if err := h.RequireGit(ctx); err != nil {
		return nil, err
	}
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	m = m.Remembering()
	if dryRun {
		l, _, err := undoable(ctx, h, m, s, id)
		return l, err
	}
	v, err := holdMoves(ctx, h, m, s.Name)
	if err != nil {
		return nil, err
	}
	defer v.right.Release()
	before := s
	if s, err = v.load(); err != nil {
		return nil, err
	}
	cut := slices.IndexFunc(before.Landings, func(l session.Landing) bool { return l.Phase == session.LandingUndoes && (id == 0 || id == l.ID) })
	if cut >= 0 {
		if l := s.Landing(before.Landings[cut].ID); l != nil && l.Phase == session.LandingUndone {
			v.noteWhoHas(ctx, s, l)
			return l, nil
		}
	}
	l, at, err := undoable(ctx, h, m, s, id)
	if err != nil {
		return nil, err
	}
	if err := v.undo(ctx, l, at); err != nil {
		return l, err
	}
	v.noteWhoHas(ctx, s, l)
	return l, nil
}

// undo undoes a landing that undoable has returned.
func (v mover) undo(ctx context.Context, l *session.Landing, at string) error {
	if _, err := v.home.Update(ctx, v.session, func(rec *session.Session) error {
		if there := rec.Landing(l.ID); there != nil {
			there.Phase, there.Checkout = session.LandingUndoes, at
		}
		return nil
	}); err != nil {
		return err
	}
	v.home.Step("land.recorded")
	l.Checkout = at
	err := v.move(ctx, l, l.After, l.Before, fmt.Sprintf("paw land --undo %d", l.ID))
	var half *worktree.HalfMovedError
	switch {
	case err == nil:
		return v.settled(ctx, l, session.LandingUndone, nil)
	case errors.As(err, &half):
		return errs.New(errs.Failed, "%s/%s: the undoing of landing %d could not be ended: %w", v.session, l.Agent, l.ID, err).Hint("%s", recoverLine(v.session))
	case errors.Is(err, worktree.ErrBranchMoved):
		err = errs.New(errs.Locked, "branch %s: has just moved, nothing is undone", l.Target).Hint("paw land --list%s", v.home.Place().Of(v.session))
	}
	err = v.unmoved(l, err, fmt.Sprintf("paw land --undo %d%s", l.ID, v.home.Place().Of(v.session)))
	return errors.Join(err, v.settled(ctx, l, session.LandingDone, nil))
}

// undoable returns a landing that can be undone, and the checkout of its target.
func undoable(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session, id int) (l *session.Landing, checkout string, err error) {
	all, err := standings(ctx, work{asked: asked{Agent: app.Agent{App: h, Session: s, Repo: m}}})
	if err != nil {
		return nil, "", err
	}
	one, err := toUndo(h.Place().Of, s, all, id, func(branch string) *gitdir.Checkout {
		at, _ := m.Registry().CheckoutOf(ctx, branch) // only a hint names it
		return at
	})
	if err != nil {
		return nil, "", err
	}
	l = s.Landing(one.ID)
	at, err := m.Registry().CheckoutOf(ctx, l.Target)
	if err != nil || at == nil {
		return l, "", refusedBy(err)
	}
	return l, at.Path, unobstructed(ctx, m, at, l.After, l.Before, "")
}

// toUndo decides which landing of a session is undone, or returns why none can be. With id 0 it is
// the last one that stands. checkout returns where a branch is checked out now, nil for nowhere. of
// is App.Place().Of.
func toUndo(of func(session string) string, s *session.Session, all []Stand, id int, checkout func(branch string) *gitdir.Checkout) (*Stand, error) {
	list := "paw land --list" + of(s.Name)
	if i := slices.IndexFunc(s.Landings, func(l session.Landing) bool { return Unfinished(l) && (id == 0 || id == l.ID) }); i >= 0 {
		return nil, errs.New(errs.Refused, "landing %d: is half done, nothing is undone", s.Landings[i].ID).Hint("%s", recoverLine(s.Name))
	}
	var one *Stand
	for i := range all {
		if own := all[i].Session == s.Name; own && all[i].ID == id || own && id == 0 && all[i].stands() {
			one = &all[i]
		}
	}
	switch {
	case one == nil && id == 0:
		return nil, errs.New(errs.NotFound, "%s: nothing has landed that could be undone", s.Name).Hint("%s", list)
	case one == nil:
		return nil, errs.New(errs.NotFound, "%s: no landing %d", s.Name, id).Hint("%s", list)
	case one.Standing == Gone:
		return nil, errs.New(errs.Refused, "landing %d: branch %s is gone, nothing is undone", id, one.Target).Hint("%s", list)
	case one.Standing == Unknown:
		return nil, errs.New(errs.Refused, "landing %d: its commits are gone from the repository, nothing is undone", id).Hint("%s", list)
	case one.Standing == NotIn:
		return nil, errs.New(errs.Refused, "landing %d: %s has it no more, as after a git reset", id, one.Target).Hint("%s", list)
	case one.Standing == Undone || one.Standing == Reverted:
		return nil, errs.New(errs.Refused, "landing %d: is %s already", one.ID, one.Standing).Hint("%s", list)
	case one.tip == one.After:
		return one, nil
	}
	return nil, movedOn(of, all, one, checkout(one.Target))
}

// movedOn returns the error for a landing that something has come after. The hints are what is
// possible instead, at the checkout of the landing's branch.
func movedOn(of func(session string) string, all []Stand, l *Stand, at *gitdir.Checkout) error {
	for _, later := range all {
		if later.stands() && later.Session != "" && later.Target == l.Target && later.After == l.tip {
			whose := ""
			if later.Session != l.Session {
				whose = " of " + later.Session
			}
			return errs.New(errs.Refused, "landing %d: landing %d%s came after it in %s, not undone", l.ID, later.ID, whose, l.Target).
				Hint("paw land --undo %d%s", later.ID, of(later.Session)).Hint("%s", revertLine(l, at))
		}
	}
	if l.rewritten() && l.Commit != "" {
		return errs.New(errs.Refused, "landing %d: is %.12s in %s now, not undone", l.ID, l.Commit, l.Target).Hint("%s", revertLine(l, at))
	}
	return errs.New(errs.Refused, "landing %d: %s has moved on since, not undone", l.ID, l.Target).Hint("%s", revertLine(l, at))
}

// noteWhoHas notes who still has work that was undone: agents, other branches, and remotes. If its agent
// was removed, the note says how to get the work back.
func (v mover) noteWhoHas(ctx context.Context, s *session.Session, l *session.Landing) {
	refs, err := states.Containing(ctx, v.m.States().Objects(), l.After, "refs/heads/", "refs/remotes/", turn.HiddenPrefix+"*/now")
	var began []string
	if err == nil && l.Without == 0 { // a graft would tell of who has got the landing
		began, err = states.Containing(ctx, v.m.Objects(), l.Twin, turn.HiddenPrefix+"*/now")
	}
	if err != nil {
		v.home.Notef("who else has landing %d is not known: %v", l.ID, err)
		return
	}
	sessions, err := work{asked: asked{Agent: app.Agent{App: v.home, Session: s, Repo: v.m}}}.siblings()
	if err != nil {
		sessions = []*session.Session{s}
	}
	kept := slices.ContainsFunc(refs, func(ref string) bool { return strings.HasPrefix(ref, "refs/heads/") && ref != "refs/heads/"+l.Target })
	for _, one := range sessions {
		for i := range one.Agents {
			w := work{asked: asked{Agent: v.home.Agent(one, &one.Agents[i]).In(v.m)}}
			branch, now := "refs/heads/"+w.Record.Branch, turn.NowRef(w.Record.TurnSession)
			v.noteAgent(w, l, slices.Contains(refs, branch) || slices.Contains(refs, now), slices.Contains(began, now))
			refs = slices.DeleteFunc(refs, func(ref string) bool { return ref == branch })
		}
	}
	for _, ref := range refs {
		if remote, ok := strings.CutPrefix(ref, "refs/remotes/"); ok {
			v.home.Notef("%s has landing %d already: the next pull brings it back to %s", remote, l.ID, l.Target)
		} else if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok && branch != l.Target {
			v.home.Notef("branch %s has landing %d: a merge of it brings that back to %s", branch, l.ID, l.Target)
		}
	}
	if s.Agent(l.Agent) == nil && !kept && l.Without == 0 {
		at := ""
		if l.Checkout != "" {
			at = "-C " + errs.Quote(l.Checkout) + " "
		}
		v.home.Notef("%s was removed, and what it did is in no branch: git %smerge --ff-only %.12s brings it back, git branch NAME %.12s keeps it apart",
			l.Agent, at, l.After, l.After)
	}
}

// noteAgent notes that an agent has got a landing that was undone, or has come from its state, and what
// follows from that.
func (v mover) noteAgent(w work, l *session.Landing, got, led bool) {
	name := w.name()
	if w.Session.Name == v.session {
		name = w.Record.Name
	}
	own := w.Record.TurnSession == l.TurnSession
	switch {
	case got && led:
		v.home.Notef("%s has landing %d in its worktree, and lands again what it did of it itself", name, l.ID)
	case got:
		v.home.Notef("%s has landing %d in its worktree, and does not land it; paw update %s takes it out", name, l.ID, w.name())
	case led && !own:
		v.home.Notef("%s began with work of landing %d, and brings that along when it lands", name, l.ID)
	}
}
