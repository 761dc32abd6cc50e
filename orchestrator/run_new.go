package orchestrator

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/startplan"
	"paw/session"
)

// addHeadless makes an agent for headless turns: a branch, a worktree with its
// set-up and tag 0, as add does, and no pane. It returns the record, the agent's
// name and what the user would otherwise miss.
func addHeadless(ctx context.Context, h *app.App, s *session.Session, o RunOptions) (*session.Session, string, []string, error) {
	add := *o.New
	add.Headless = true
	rec, a, err := startplan.Add(ctx, h, s, add, func(agents []startplan.Agent) error {
		if len(agents) != 1 {
			return errs.New(errs.Usage, "--cli: one CLI at a time can run a turn").Hint("paw clis")
		}
		cli, _ := h.CLIs.Get(agents[0].CLI)
		executable, err := h.Program(cli)
		if err != nil {
			return err
		}
		return requireHeadless(h, cli, executable, o.Prompt)
	}, nil)
	if err != nil {
		return nil, "", nil, err
	}
	name := a.Draft.Agents[0].Name
	jobs := []launch.Job{{Agent: name, Worktree: launch.WorktreeCreate, Result: launch.ResultStopped, Notes: a.Notes[name]}}
	err = launch.TagStarts(ctx, h, a.Manager, rec, jobs)
	if err == nil {
		err = launch.PrepareWorktrees(ctx, h, a.Manager, rec, jobs)
	}
	saved := rec
	if err == nil {
		saved, err = launch.SettleHeadless(ctx, h, rec, jobs)
	}
	if err == nil && jobs[0].Result == launch.ResultRefused {
		err = errs.New(errs.Failed, "%s: %s", name, jobs[0].Reason).Hint("paw recover %s", s.Name)
	}
	if err != nil {
		return nil, "", nil, launch.UndoAdd(h, rec, a.Plans, err)
	}
	notes := append(jobs[0].Notes, notes(ctx, h, a.Manager, &a.Draft)()...)
	return saved, name, notes, nil
}
