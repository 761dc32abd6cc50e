package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"paw/orchestrator/family"
	"paw/orchestrator/fault"
	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/landing"
	"paw/orchestrator/launch"
	"paw/orchestrator/live"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// RemoveOptions says how much of an agent goes.
type RemoveOptions struct {
	KeepWorktree bool
	Force        bool // rescue what is not committed, then remove
	DryRun       bool
	Tags         bool // of purge: turn tags, refs/paw and turn logs go, too
}

// Removed is what remove did, and how to get it back.
type Removed struct {
	Session   string
	Agent     string
	CLI       string
	Branch    string
	Worktree  string
	RescueRef string   // holds what was not committed, with --force
	Rescue    string   // refs that hold what only its git directory led to
	Trash     string   // folder that was kept: with --force, or because of Aside
	Aside     []string // what git does not have and is no reason to refuse, such as ignored folders
	Children  []string // agents that it has started; they stay
	Landed    bool     // its branch went with it: all of that has landed

	seen worktree.Seen // what its worktree was found to hold before anything ended
}

// Remove ends an agent and removes its worktree; its branch and tags stay. It
// refuses as long as anything would be lost (docs/never-lose-work.md).
func Remove(ctx context.Context, h *home.Home, s *session.Session, name string, o RemoveOptions) (*Removed, error) {
	w, err := home.AgentNamed(s, name)
	if err != nil {
		return nil, err
	}
	if err := h.RequireGit(ctx); err != nil {
		return nil, err
	}
	repository, err := h.RepositoryOf(ctx, s)
	if err != nil {
		return nil, err
	}
	m := h.Manager(repository)
	removed := &Removed{Session: s.Name, Agent: name, CLI: w.CLI, Branch: w.Branch, Worktree: w.WorktreePath, Children: s.Children(name)}
	if err := betweenTurns(ctx, h, s, []string{name}, o); err != nil {
		return removed, err
	}
	removed.seen, err = removable(ctx, m, s, w, o)
	if removed.Aside = removed.seen.Aside; err != nil || o.DryRun {
		return removed, err
	}
	phase := removalPhase(o)
	rec, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		w, err := home.AgentNamed(rec, name)
		if err == nil {
			w.Phase = phase
		}
		return err
	})
	if err != nil {
		return nil, h.RecordError(s.Name, err)
	}
	h.Step("remove.recorded")
	defer family.ClaimAfter(h, s.Name, name, live.Claim{})
	err = finishRemoval(ctx, h, m, rec, name, removed)
	if err == nil {
		removed.Landed = dropLanded(ctx, m, s, w, o)
	}
	return removed, err
}

// dropLanded deletes the branch of an agent whose commits have all landed, if paw made it, and reports whether it did.
func dropLanded(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree, o RemoveOptions) bool {
	state := landing.Safe(ctx, m, s, w)
	if state == "" || o.KeepWorktree || !home.MadeByPaw(s.Name, *w) {
		return false
	}
	tip, err := m.Tip(ctx, w.Branch)
	if err != nil || tip == "" {
		return false
	}
	return m.DeleteBranches(ctx, map[string]string{w.Branch: tip}, state)[w.Branch] == nil
}

// Kept says where what is not deleted with an agent is, one line each.
func (r *Removed) Kept() []string {
	var lines []string
	if r.RescueRef != "" {
		lines = append(lines, "its files are in the commit "+r.RescueRef)
	}
	if r.Rescue != "" {
		lines = append(lines, "what only its git directory led to is kept in "+r.Rescue)
	}
	switch {
	case r.Trash == "":
	case len(r.Aside) > 0:
		lines = append(lines, fmt.Sprintf("its directory is kept in %s, because of what git does not have: %s", r.Trash, strings.Join(r.Aside, ", ")))
	default:
		lines = append(lines, "its directory is kept in "+r.Trash)
	}
	return lines
}

// removalPhase is the intent that a removal records.
func removalPhase(o RemoveOptions) session.Phase {
	switch {
	case o.KeepWorktree:
		return session.PhaseLeaving
	case o.Force:
		return session.PhaseDiscarding
	}
	return session.PhaseRemoving
}

// finishRemoval carries out the removal that the record asks for. It may be
// repeated after a crash at any point.
func finishRemoval(ctx context.Context, h *home.Home, m worktree.Manager, s *session.Session, name string, removed *Removed) error {
	if err := endAndClear(ctx, h, m, s, name, removed, fleet.Facts{}); err != nil {
		return err
	}
	return dropAgents(ctx, h, s.Name, name)
}

// dropAgents takes agents out of the record of which nothing is left.
func dropAgents(ctx context.Context, h *home.Home, sessionName string, names ...string) error {
	_, err := h.Update(ctx, sessionName, func(rec *session.Session) error {
		for _, name := range names {
			launch.DropAgent(rec, name)
		}
		return nil
	})
	h.Step("remove.finished")
	return err
}

// endAndClear ends an agent and takes its worktree away, and leaves it in the
// record. seen are facts that tell of the agent if it has ended already.
func endAndClear(ctx context.Context, h *home.Home, m worktree.Manager, s *session.Session, name string, removed *Removed, seen fleet.Facts) error {
	if err := endForRemoval(ctx, h, s, name, seen); err != nil {
		return err
	}
	h.Step("remove.agent-ended")
	w := s.Worktree(name)
	turns.Cut(ctx, h, s, *w, turn.ReasonStopped)
	if w.Phase == session.PhaseLeaving {
		if err := m.Release(ctx, home.PlanOf(s, *w)); err != nil {
			return err
		}
	} else if err := removeWorktree(ctx, h, m, s, w, removed); err != nil {
		return errors.Join(err, giveUpRemoval(ctx, h, s.Name, name))
	}
	h.Step("remove.worktree-gone")
	return nil
}

// giveUpRemoval records that an agent stays, stopped, after all.
func giveUpRemoval(ctx context.Context, h *home.Home, sessionName, agentName string) error {
	_, err := h.Update(ctx, sessionName, func(rec *session.Session) error {
		if w := rec.Worktree(agentName); w != nil {
			w.Phase = session.PhaseStopped
		}
		return nil
	})
	return err
}

// endForRemoval ends the agent whose worktree is about to go, unless it had ended when the facts were seen, and has not
// been launched since.
func endForRemoval(ctx context.Context, h *home.Home, s *session.Session, name string, seen fleet.Facts) error {
	lock, err := h.Locks.ProbeAgent(s.Name, name)
	if a := seen.Agent(name); a != nil && a.Pane == nil && seen.Tmux != session.TmuxUnknown && err == nil && lock.State == session.LockFree {
		return nil
	}
	f, err := fleet.ObserveRevived(ctx, h, s)
	if err != nil {
		return err
	}
	if f.Tmux == session.TmuxUnknown {
		return fault.New(fault.Failed, "%s: %s; its pane may still run", name, fleet.Silence(f.TmuxErr)).Hint("paw recover %s", s.Name)
	}
	_, err = launch.EndAgents(ctx, h, s, f, func(agent string) bool { return agent == name })
	return err
}

// resumeRemoval goes on with a removal that was cut short.
func resumeRemoval(ctx context.Context, h *home.Home, s *session.Session, name string, removed *Removed) error {
	repository, err := h.RepositoryOf(ctx, s)
	if err != nil {
		return err
	}
	return finishRemoval(ctx, h, h.Manager(repository), s, name, removed)
}

// removeWorktree looks again, now that the CLI is dead, rescues what --force
// discards, and moves the directory away.
func removeWorktree(ctx context.Context, h *home.Home, m worktree.Manager, s *session.Session, w *session.Worktree, removed *Removed) error {
	force := w.Phase == session.PhaseDiscarding
	there, err := m.Removable(ctx, home.PlanOf(s, *w))
	if err != nil {
		return notRemoved(s, w, err)
	}
	_, missing := os.Lstat(w.WorktreePath)
	if force && there && missing == nil && !m.HalfMade(w.WorktreePath) {
		ref := turn.RescueRef(w.TurnSession, h.Now())
		snapshot, err := m.Snapshot(ctx, w.WorktreePath, ref, "paw: "+w.Agent+" before its worktree was removed")
		if err != nil {
			return fault.New(fault.Refused, "%s: not removed, its work could not be saved: %w", w.Agent, err)
		}
		removed.RescueRef = snapshot.Ref
		h.Step("remove.rescued")
	}
	var done worktree.Removal
	p := removalPlan(ctx, m, s, w)
	if force {
		done, err = m.Remove(ctx, p, true)
	} else {
		done, err = m.RemoveSeen(ctx, p, removed.seen)
	}
	removed.Trash, removed.Aside, removed.Rescue = done.Trash, done.Aside, done.Rescue
	return notRemoved(s, w, err)
}

// notRemoved is a refusal of the worktree package with a way out.
func notRemoved(s *session.Session, w *session.Worktree, err error) error {
	var refused *worktree.ConflictError
	if !errors.As(err, &refused) {
		return err
	}
	e := fault.New(fault.Refused, "%s: not removed: %w", w.Agent, err)
	if refused.Hint != "" {
		return e.Hint("%s", refused.Hint)
	}
	return e.Hint("git -C %s status --ignored", fault.Quote(w.WorktreePath)).Hint("paw remove %s --force --session %s", w.Agent, s.Name)
}

// betweenTurns refuses to end agents in the middle of a turn, unless by force, and
// such as cannot be ended now.
func betweenTurns(ctx context.Context, h *home.Home, s *session.Session, names []string, o RemoveOptions) error {
	if !o.Force {
		return fleet.RefuseBusy(ctx, h, s, names...)
	}
	f, err := fleet.ObserveRevived(ctx, h, s)
	if err != nil {
		return err
	}
	return fleet.RefuseSilent(f, names)
}

// removalPlan is the worktree of an agent that is to go. What has landed is not lost with it.
func removalPlan(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree) worktree.Plan {
	p := home.PlanOf(s, *w)
	p.Saved = landing.Safe(ctx, m, s, w)
	return p
}

// removable refuses to remove a worktree that holds anything git does not have. It
// returns what it has seen, such as what would be kept in the trash.
func removable(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree, o RemoveOptions) (worktree.Seen, error) {
	var none worktree.Seen
	if o.KeepWorktree {
		return none, nil
	}
	_, err := os.Lstat(w.WorktreePath)
	exists := err == nil
	if exists {
		if err := worktree.Verify(w.WorktreePath, s.GitCommonDir, ""); err != nil {
			return none, notTheWorktree(ctx, m, s, w, err)
		}
	}
	p := removalPlan(ctx, m, s, w)
	there, err := m.Removable(ctx, p)
	if err != nil {
		return none, notRemoved(s, w, err)
	}
	if !there || !exists || o.Force || m.HalfMade(w.WorktreePath) {
		return none, nil
	}
	seen, err := m.See(ctx, p)
	if err != nil {
		return none, fault.New(fault.Refused, "%s: not removed, its state cannot be read: %w", w.Agent, err)
	}
	if seen.Clean() {
		return seen, nil
	}
	return none, fault.New(fault.Refused, "%s has %s", w.Agent, seen.Summary()).
		Hint("git -C %s status --ignored", fault.Quote(w.WorktreePath)).
		Hint("paw remove %s --force --session %s", w.Agent, s.Name)
}

// notTheWorktree says how to go on with a directory that is not the worktree that
// it was.
func notTheWorktree(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Worktree, err error) error {
	refused := fault.New(fault.Refused, "%s: not removed: %w", w.Agent, err)
	unlinked, _ := m.Unlinked(ctx, home.PlanOf(s, *w))
	if w.Phase == session.PhaseCreating || unlinked || m.Unregistered(home.PlanOf(s, *w)) {
		return refused.Hint("paw recover %s", s.Name)
	}
	return refused.Hint("%s", launch.WayBack(s, w))
}
