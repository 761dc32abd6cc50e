package launch

import (
	"context"

	"paw/orchestrator/app"
	"paw/session"
	"paw/worktree"
)

// BringUp makes the worktrees of the jobs and starts their agents. It may be
// repeated: whatever is there already is left as it is.
func BringUp(ctx context.Context, h *app.App, s *session.Session, jobs []Job) (*session.Session, []Result, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return s, nil, err
	}
	if err := TagStarts(ctx, h, m, s, jobs); err != nil {
		return s, nil, err
	}
	if err := PrepareWorktrees(ctx, h, m, s, jobs); err != nil {
		return s, nil, err
	}
	if s, err = SettleHeadless(ctx, h, s, jobs); err != nil {
		return s, nil, err
	}
	starting := pointersTo(jobs)
	if s, err = openPanes(ctx, h, s, starting); err != nil {
		return s, nil, err
	}
	h.Step("panes.recorded")
	awaitLaunches(ctx, h, s, starting)
	if s, err = startRefused(ctx, h, s, starting); err != nil {
		return s, nil, err
	}
	sendFirstPrompts(ctx, h, s, starting)
	return s, ResultsOf(s, jobs), nil
}

// PrepareWorktrees makes, restores and sets up what the jobs ask for.
func PrepareWorktrees(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, jobs []Job) error {
	var plans []worktree.Plan
	for i := range jobs {
		if jobs[i].Result != ResultRefused && jobs[i].Worktree == WorktreeCreate {
			plans = append(plans, app.PlanOf(s, *s.Agent(jobs[i].Agent)))
		}
	}
	if err := keepOrigins(ctx, h, m, s, jobs); err != nil {
		return err
	}
	warnings := map[string]string{}
	if len(plans) > 0 {
		made, err := m.Create(ctx, plans, h.Step)
		if err != nil {
			return app.Conflict(err)
		}
		for _, one := range made {
			warnings[one.Agent] = one.Warning
		}
	}
	for i := range jobs {
		j := &jobs[i]
		if warnings[j.Agent] != "" {
			j.Notes = append(j.Notes, warnings[j.Agent])
		}
		w := s.Agent(j.Agent)
		if j.Result != ResultRefused && j.Worktree == WorktreeCreate {
			restoreOrigin(ctx, h, m, w, j)
		}
		if j.Result != ResultRefused && (j.Worktree == WorktreeRestore || j.Worktree == WorktreeRegister) {
			restoreWorktree(ctx, h, m, s, w, j)
		}
	}
	setUpWorktrees(ctx, h, m, s, jobs)
	return nil
}
