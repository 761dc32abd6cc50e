package orchestrator

import (
	"context"

	"paw/orchestrator/draft"
	"paw/orchestrator/family"
	"paw/orchestrator/fault"
	"paw/orchestrator/home"
	"paw/orchestrator/launch"
	"paw/session"
)

// Add puts more agents into a running session.
func Add(ctx context.Context, h *home.Home, s *session.Session, o draft.Options) (*Started, error) {
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return nil, err
	}
	check := func(agents []draft.Agent) error {
		if err := h.RequireTools(ctx); err != nil {
			return err
		}
		if err := draft.RequireCLIs(h, agents, o.Prompt); err != nil {
			return err
		}
		if s.Status == session.StatusStopped {
			return fault.New(fault.Failed, "%s: is stopped", s.Name).Hint("paw recover %s", s.Name)
		}
		return nil
	}
	if o.DryRun {
		a, err := draft.NewAddition(ctx, h, s, o, check)
		if err != nil {
			return nil, err
		}
		return &Started{Session: s, Plan: append(draft.Describe(&a.Draft, a.Plans)[1:], a.Steps...)}, nil
	}
	rec, a, err := draft.Add(ctx, h, s, o, check, nil)
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
	family.ClaimAll(h, s.Name)
	return &Started{Session: saved, Results: results, Notes: notes(ctx, h, a.Manager, &a.Draft)()}, nil
}
