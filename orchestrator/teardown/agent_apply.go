package teardown

import (
	"context"
	"errors"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// record records the removal of agents and its kind, and returns the record.
func record(ctx context.Context, h *app.App, sessionName string, agents ...Agent) (*session.Session, error) {
	return h.Update(ctx, sessionName, func(rec *session.Session) error {
		for _, p := range agents {
			w, err := app.AgentNamed(rec, p.Name)
			if err != nil {
				return err
			}
			w.Phase = p.phase
		}
		return nil
	})
}

// carryOut removes an agent whose removal is recorded: its worktree, its branch if the plan says
// so, and last its entry in the record.
func (p Agent) carryOut(ctx context.Context, h *app.App, m worktree.Manager, rec *session.Session, branches []Branch) (*Removed, error) {
	removed, err := p.apply(ctx, h, m, rec, observe.Facts{})
	if err != nil {
		return removed, err
	}
	deleted, _ := deleteBranches(ctx, m, branches)
	removed.Landed = slices.Contains(deleted, p.Branch)
	removed.BranchGone = slices.ContainsFunc(branches, func(b Branch) bool { return b.Name == p.Branch && b.Gone })
	h.Step("remove.branch-gone")
	return removed, dropAgents(ctx, h, p.Session, p.Name)
}

// apply ends an agent whose removal is recorded, and takes its worktree away; its entry in the
// record stays. Where the facts seen show that the agent had ended, it is not ended again. apply
// may be repeated after a crash at any point, and by another paw, which waits until this one is
// done.
func (p Agent) apply(ctx context.Context, h *app.App, m worktree.Manager, rec *session.Session, seen observe.Facts) (*Removed, error) {
	removed := &Removed{Agent: p}
	h.Step("remove.waits")
	unlock, err := h.Hold(ctx, h.Locks.Removal, p.Session, p.Name)
	if err != nil {
		return removed, err
	}
	defer unlock()
	if err := p.end(ctx, h, rec, seen); err != nil {
		return removed, err
	}
	h.Step("remove.agent-ended")
	turns.Cut(ctx, h.Agent(rec, rec.Agent(p.Name)), turn.ReasonStopped)
	if p.phase == session.PhaseLeaving {
		if err := m.Release(ctx, p.worktree); err != nil {
			return removed, err
		}
		removed.Back = gitdir.Verify(p.Worktree, m.Repository.CommonDir, p.Branch) == nil
	} else if err := p.tearDown(ctx, h, m, rec); err != nil {
		return removed, errors.Join(err, giveUp(context.WithoutCancel(ctx), h, p.Session, p))
	} else if err := p.clear(ctx, h, m, removed); err != nil {
		return removed, errors.Join(notRemoved(p.Session, p.Name, p.Worktree, err), giveUp(ctx, h, p.Session, p))
	}
	h.Step("remove.worktree-gone")
	if removed.WordsDir, err = h.Texts().SetWordsAside(p.Session, p.Name); err != nil {
		return removed, err
	}
	return removed, h.ForgetWorktree(p.Session, p.Name)
}

// tearDown runs the project's teardown command in the worktree, after a check that the worktree may
// go: the CLI may have written files until it ended.
func (p *Agent) tearDown(ctx context.Context, h *app.App, m worktree.Manager, rec *session.Session) error {
	switch {
	case p.tornDown:
		return nil
	case p.Teardown.Command == "":
		return h.Agent(rec, rec.Agent(p.Name)).In(m).TearDown(ctx, p.Teardown) // only notes a command that is not trusted
	}
	if there, err := m.Removable(ctx, p.worktree); err != nil || !there {
		return notRemoved(p.Session, p.Name, p.Worktree, err)
	}
	if p.phase == session.PhaseRemoving && !p.torn {
		if err := p.refuseUnclean(m.See(ctx, p.worktree)); err != nil {
			return err
		}
	}
	if err := h.Agent(rec, rec.Agent(p.Name)).In(m).TearDown(ctx, p.Teardown); err != nil {
		return errs.WithHints(err, "paw sh "+p.Session+"/"+p.Name, "paw remove "+p.Session+"/"+p.Name+" --no-teardown")
	}
	p.torn, p.tornDown = true, true
	return nil
}

// end ends the agent, unless the facts seen show that it had ended, and it has not been launched
// since.
func (p Agent) end(ctx context.Context, h *app.App, s *session.Session, seen observe.Facts) error {
	lock, err := h.Locks.ProbeAgent(s.Name, p.Name)
	if a := seen.Agent(p.Name); a != nil && a.Pane == nil && a.Lock.State == session.LockFree && seen.Tmux != session.TmuxUnknown && err == nil && lock.State == session.LockFree {
		return nil
	}
	f, err := observe.Revived(ctx, h, s)
	if err != nil {
		return err
	}
	if f.Tmux == session.TmuxUnknown {
		if none := app.NoTmux(p.Name, f.TmuxErr); none != nil {
			return none
		}
		return errs.New(errs.Failed, "%s: %s; its pane may still run", p.Name, observe.Silence(f.TmuxErr)).Hint("paw recover %s", s.Name)
	}
	_, err = launch.EndAgents(ctx, h, s, f, func(agent string) bool { return agent == p.Name })
	return err
}

// clear takes the worktree away after the CLI has ended: package worktree checks again, and refuses
// if files have changed.
func (p Agent) clear(ctx context.Context, h *app.App, m worktree.Manager, removed *Removed) (err error) {
	var done worktree.Removal
	defer func() { removed.Trash, removed.Aside, removed.Rescue = done.Trash, done.Aside, done.Rescue }()
	saves := p.clean || p.torn // files that appeared since in a clean worktree are saved, too
	if saves || p.phase != session.PhaseDiscarding {
		done, err = m.Remove(ctx, p.worktree, p.seen)
		var changed *git.ConflictError
		if !saves || !errors.As(err, &changed) {
			return err
		}
	}
	if p.Save || saves {
		if there, err := m.Removable(ctx, p.worktree); err != nil || !there { // another paw may have removed the worktree since the plan
			return err
		}
		ref := turn.RescueRef(p.turnSession, h.Now())
		snapshot, err := m.Snapshots().Take(ctx, p.Worktree, ref, "paw: "+p.Name+" before its worktree was removed")
		if err != nil {
			return errs.New(errs.Refused, "%s: not removed, its work could not be saved: %w", p.Name, err)
		}
		removed.RescueRef = snapshot.Ref
		h.Step("remove.rescued")
	}
	done, err = m.RemoveKept(ctx, p.worktree)
	return err
}

// giveUp records that agents stay after all, as stopped.
func giveUp(ctx context.Context, h *app.App, sessionName string, agents ...Agent) error {
	_, err := h.Update(ctx, sessionName, func(rec *session.Session) error {
		for _, p := range agents {
			if w := rec.Agent(p.Name); w != nil {
				w.Phase = session.PhaseStopped
			}
		}
		return nil
	})
	return err
}

// dropAgents removes entries of agents from the record. After a loss of power the record may have
// them again, and their removal is resumed.
func dropAgents(ctx context.Context, h *app.App, sessionName string, names ...string) error {
	_, err := h.UpdateSoon(ctx, sessionName, func(rec *session.Session) error {
		for _, name := range names {
			launch.DropAgent(rec, name)
		}
		return nil
	})
	h.Step("remove.finished")
	return err
}

// Resume finishes an interrupted removal, as recorded.
func Resume(ctx context.Context, h *app.App, s *session.Session, name string) (*Removed, error) {
	f := agentOf(observe.Facts{Session: s}, name)
	f.lookAtTeardown(h, Options{})
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return &Removed{}, err
	}
	intent := f.agent.Record.Phase
	if intent != session.PhaseLeaving {
		f.plan.Saved = landing.Safe(ctx, m, s, &f.agent.Record)
	}
	f.place(ctx, m, s)
	branches := planLanded(lookAtLandings(ctx, m, s.Name, []session.Agent{f.agent.Record}, []worktree.Plan{f.plan}))
	return planRemoval(f, intent).carryOut(ctx, h, m, s, branches)
}
