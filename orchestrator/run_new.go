package orchestrator

import (
	"context"

	"paw/session"
)

// addHeadless makes an agent for headless turns: a branch, a worktree with its
// set-up and tag 0, as add does, and no pane. It returns the record, the agent's
// name and what the user would otherwise miss.
func (p *Paw) addHeadless(ctx context.Context, s *session.Session, o RunOptions) (*session.Session, string, []string, error) {
	a, err := p.planAddition(ctx, s, *o.New, func(agents []plannedAgent) error {
		if len(agents) != 1 {
			return failf(KindUsage, "--cli: one CLI at a time can run a turn").hint("paw clis")
		}
		cli, _ := p.CLIs.Get(agents[0].cli)
		executable, err := p.executable(cli)
		if err != nil {
			return err
		}
		return p.requireHeadless(cli, executable, o.Prompt)
	})
	if err != nil {
		return nil, "", nil, err
	}
	a.draft.Worktrees[0].Headless = true
	rec, err := p.recordAddition(ctx, s, a, "", nil)
	if err != nil {
		return nil, "", nil, err
	}
	name := a.draft.Worktrees[0].Agent
	jobs := []job{{agent: name, worktree: worktreeCreate, result: ResultStopped, notes: a.notes[name]}}
	err = p.tagStarts(ctx, a.m, rec, jobs)
	if err == nil {
		err = p.prepareWorktrees(ctx, a.m, rec, jobs)
	}
	saved := rec
	if err == nil {
		saved, err = p.settleHeadless(ctx, rec, jobs)
	}
	if err == nil && jobs[0].result == ResultRefused {
		err = failf(KindError, "%s: %s", name, jobs[0].reason).hint("paw recover %s", s.Name)
	}
	if err != nil {
		return nil, "", nil, p.undoAdd(rec, a.plans, err)
	}
	notes := append(jobs[0].notes, p.notes(ctx, a.repository, &a.draft)...)
	return saved, name, notes, nil
}

// settleHeadless records that agents that get no pane are complete.
func (p *Paw) settleHeadless(ctx context.Context, s *session.Session, jobs []job) (*session.Session, error) {
	var complete []string
	for _, j := range jobs {
		if j.result == ResultStopped && j.worktree == worktreeCreate {
			complete = append(complete, j.agent)
		}
	}
	if len(complete) == 0 {
		return s, nil
	}
	saved, err := p.update(ctx, s.Name, func(rec *session.Session) error {
		for _, name := range complete {
			if w := rec.Worktree(name); w != nil && w.Phase == session.PhaseCreating {
				w.Phase = session.PhaseStopped
			}
		}
		return nil
	})
	if err != nil {
		return s, p.recordError(s.Name, err)
	}
	p.Step("run.agent-made")
	return saved, nil
}
