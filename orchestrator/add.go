package orchestrator

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/startplan"
	"paw/session"
)

// Add puts more agents into a running session.
func Add(ctx context.Context, h *app.App, s *session.Session, o startplan.Options) (*Started, error) {
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return nil, err
	}
	check := func(agents []startplan.Agent) error {
		if err := h.RequireTools(ctx); err != nil {
			return err
		}
		if err := startplan.RequireCLIs(h, agents, o.Prompt); err != nil {
			return err
		}
		if s.Status == session.StatusStopped {
			return errs.New(errs.Failed, "%s: is stopped", s.Name).Hint("paw recover %s", s.Name)
		}
		return nil
	}
	if o.DryRun {
		a, err := startplan.NewAddition(ctx, h, s, o, check)
		if err != nil {
			return nil, err
		}
		return &Started{Session: s, Plan: append(startplan.Describe(&a.Draft, a.Plans)[1:], a.Steps...)}, nil
	}
	rec, a, err := startplan.Add(ctx, h, s, o, check, nil)
	if err != nil {
		return nil, err
	}
	jobs := make([]launch.Job, len(a.Draft.Agents))
	for i, w := range a.Draft.Agents {
		jobs[i] = launch.Job{Agent: w.Name, Worktree: launch.WorktreeCreate, Result: launch.ResultFresh, Prompt: a.PromptFor(w.Name, o.Prompt), Notes: a.Notes[w.Name]}
	}
	saved, results, err := launch.BringUp(ctx, h, rec, jobs)
	if err != nil {
		return nil, launch.UndoAdd(h, saved, a.Plans, err)
	}
	children.ClaimAll(h, s.Name)
	return &Started{Session: saved, Results: results, Notes: notes(ctx, h, a.Manager, &a.Draft)()}, nil
}
