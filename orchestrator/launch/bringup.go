// Package launch starts and ends agents: from a plan of jobs over worktrees, tags and set-up to the
// panes, and from there, inside the pane, to the CLI.
//
// BringUp carries out jobs; PlanRecover makes the jobs of agents that ran before (recover_plan.go
// is the pure table). A launch is written to a file; the launcher in the pane (exec.go) reads and
// deletes the file and becomes the CLI. EndAgents ends running agents; UndoStart and UndoAdd take
// back agents that never started. The package may import orchestrator/app, observe, turns and
// typing. Begin with job.go, then bringup.go.
package launch

import (
	"context"

	"paw/orchestrator/app"
	"paw/session"
	"paw/worktree"
)

// BringUp makes the worktrees of the jobs and starts their agents. It may be repeated: it leaves
// what already exists unchanged.
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

// PrepareWorktrees creates, restores and sets up the worktrees that the jobs ask for.
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

// SettleHeadless records that agents without a pane are ready.
func SettleHeadless(ctx context.Context, h *app.App, s *session.Session, jobs []Job) (*session.Session, error) {
	var complete []string
	for _, j := range jobs {
		if j.Result == ResultStopped && j.Worktree == WorktreeCreate {
			complete = append(complete, j.Agent)
		}
	}
	if len(complete) == 0 {
		return s, nil
	}
	saved, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		for _, name := range complete {
			if w := rec.Agent(name); w != nil && w.Phase == session.PhaseCreating {
				w.Phase = session.PhaseStopped
			}
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	h.Step("run.agent-made")
	return saved, nil
}
