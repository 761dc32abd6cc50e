package landing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// Undo undoes a landing, with id 0 the last one. As long as the branch is where the landing has
// brought it, the branch and its checkout become what they were before. Files that the landing has
// not changed stay as they are.
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
	if s, err = v.load(); err != nil {
		return nil, err
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
		err = errs.New(errs.Locked, "branch %s: has just moved, nothing is undone", l.Target).Hint("paw land --list --session %s", v.session)
	}
	err = v.unmoved(l, err, fmt.Sprintf("paw land --undo %d --session %s", l.ID, v.session))
	return errors.Join(err, v.settled(ctx, l, session.LandingDone, nil))
}

// undoable returns a landing that can be undone, and the checkout of its target.
func undoable(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session, id int) (l *session.Landing, checkout string, err error) {
	all, err := standings(ctx, h, m, s)
	if err != nil {
		return nil, "", err
	}
	one, err := toUndo(s, all, id, func(branch string) *gitdir.Checkout {
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
// the last one that stands. checkout returns where a branch is checked out now, nil for nowhere.
func toUndo(s *session.Session, all []Stand, id int, checkout func(branch string) *gitdir.Checkout) (*Stand, error) {
	list := fmt.Sprintf("paw land --list --session %s", s.Name)
	if i := slices.IndexFunc(s.Landings, func(l session.Landing) bool { return Unfinished(l) && (id == 0 || id == l.ID) }); i >= 0 {
		return nil, errs.New(errs.Refused, "landing %d: is half done, nothing is undone", s.Landings[i].ID).Hint("%s", recoverLine(s.Name))
	}
	var one *Stand
	for i := range all {
		if own := all[i].Session == s.Name; own && all[i].ID == id || own && id == 0 && !all[i].offered() && all[i].stands() {
			one = &all[i]
		}
	}
	switch {
	case one == nil && id == 0:
		return nil, errs.New(errs.NotFound, "%s: nothing has landed that could be undone", s.Name).Hint("%s", list)
	case one == nil:
		return nil, errs.New(errs.NotFound, "%s: no landing %d", s.Name, id).Hint("%s", list)
	case one.Standing == Dropped:
		return nil, errs.New(errs.Refused, "landing %d: %s has it no more, as after a git reset", id, one.Target).Hint("%s", list)
	case one.picked() && one.stands():
		return nil, errs.New(errs.Refused, "landing %d: was brought by hand, not undone", one.ID).
			Hint("%s", gitLine(one.Target, checkout(one.Target), "revert", one.Commit))
	case one.Phase == session.LandingOffered && one.stands():
		return nil, errs.New(errs.Refused, "landing %d: was merged by hand, not undone", one.ID).Hint("git log --merges %s", errs.Quote(one.Target))
	case one.Phase == session.LandingOffered:
		return nil, errs.New(errs.NotFound, "%s: no landing %d", s.Name, id).Hint("%s", list)
	case one.Standing == Undone || one.Standing == Reverted || one.Standing == Superseded:
		return nil, errs.New(errs.Refused, "landing %d: is %s already", one.ID, one.Standing).Hint("%s", list)
	case one.tip == one.After:
		return one, nil
	}
	return nil, movedOn(all, one, checkout(one.Target))
}

// movedOn returns the error for a landing that something has come after. The hints are what is
// possible instead, at the checkout of the landing's branch.
func movedOn(all []Stand, l *Stand, at *gitdir.Checkout) error {
	for _, later := range all {
		if !later.offered() && later.stands() && later.Session != "" && later.Target == l.Target && later.After == l.tip {
			of := ""
			if later.Session != l.Session {
				of = " of " + later.Session
			}
			return errs.New(errs.Refused, "landing %d: landing %d%s came after it in %s, not undone", l.ID, later.ID, of, l.Target).
				Hint("paw land --undo %d --session %s", later.ID, later.Session).Hint("%s", revertLine(l, at))
		}
	}
	if l.Standing == Rewritten && l.Commit != "" {
		return errs.New(errs.Refused, "landing %d: is %.12s in %s now, not undone", l.ID, l.Commit, l.Target).Hint("%s", revertLine(l, at))
	}
	return errs.New(errs.Refused, "landing %d: %s has moved on since, not undone", l.ID, l.Target).Hint("%s", revertLine(l, at))
}

// undoLine returns the command that takes a landing off its branch.
func undoLine(l *Stand, at *gitdir.Checkout) string {
	if l.tip == l.After {
		return fmt.Sprintf("paw land --undo %d --session %s", l.ID, l.Session)
	}
	return revertLine(l, at)
}

// revertLine returns the command that reverts a landing with new commits, where its branch is
// checked out.
func revertLine(l *Stand, at *gitdir.Checkout) string {
	what := []string{"revert", l.After}
	switch {
	case l.Standing == Rewritten && l.merges:
		what = []string{"revert -m 1", l.Commit}
	case l.Standing == Rewritten && l.Commit != "":
		what = []string{"revert", l.Commit}
	case l.As == string(Merge):
		what = []string{"revert -m 1", l.After}
	case l.As == string(Commits):
		what = []string{"revert", l.Before + ".." + l.After}
	}
	return gitLine(l.Target, at, what...)
}

// Safe returns a commit whose history has the agent's commits, and that a branch of the user has:
// the state of a landing that stands, or a commit that was pushed and merged; "" for none. If a
// branch has lost some of the agent's work, none of it counts as safe.
func Safe(ctx context.Context, m *worktree.Manager, s *session.Session, w *session.Agent) string {
	var targets []string
	for _, l := range slices.Backward(s.Landings) {
		if l.TurnSession == w.TurnSession && !slices.Contains(targets, l.Target) {
			targets = append(targets, l.Target)
		}
	}
	for _, branch := range targets {
		if state := safeIn(ctx, m, s, w, branch); state != "" {
			return state
		}
	}
	for _, commit := range slices.Backward(w.Pushed) {
		if branch, err := m.Refs().Reached(ctx, s.Target, commit); err == nil && branch == s.Target && branch != "" {
			return commit
		}
	}
	return ""
}

// safeIn is Safe for one branch.
func safeIn(ctx context.Context, m *worktree.Manager, s *session.Session, w *session.Agent, branch string) string {
	tip, err := m.Refs().BranchTip(ctx, branch)
	if err != nil || tip == "" {
		return ""
	}
	led, err := lookAtLanded(ctx, m, []*session.Session{s}, target{branch: branch, tip: tip}, w.TurnSession)
	if err != nil {
		return ""
	}
	line := led.lives.line(led.lives[w.TurnSession].now)
	state, nearest := "", len(line)
	for _, one := range led.of(w.TurnSession) {
		at := slices.Index(line, one.point())
		switch {
		case at < 0:
		case led.lostFor(one.point(), one):
			return ""
		case one.stands() && at < nearest:
			state, nearest = one.State, at
		}
	}
	return state
}
