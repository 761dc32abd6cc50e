package orchestrator

import (
	"context"

	"paw/session"
	"paw/worktree"
)

// AddOptions is what the user asked of paw add.
type AddOptions struct {
	CLIs     []string
	Branches []string
	Base     string
	Prompt   string
	DryRun   bool
}

// Add puts more agents into a running session.
func (p *Paw) Add(ctx context.Context, s *session.Session, o AddOptions) (*Started, error) {
	p, err := p.configuredFor(s)
	if err != nil {
		return nil, err
	}
	tagged, err := p.takenTurnSessions(ctx, s.GitCommonDir)
	if err != nil {
		return nil, err
	}
	taken := takenAgents(tagged, s.Name)
	for _, w := range s.Worktrees {
		taken[w.Agent] = true
	}
	agents, err := planAgents(o.CLIs, o.Branches, p.CLIs, taken)
	if err != nil {
		return nil, err
	}
	if err := p.requireTools(ctx); err != nil {
		return nil, err
	}
	if err := p.requireCLIs(agents, o.Prompt); err != nil {
		return nil, err
	}
	if s.Status == session.StatusStopped {
		return nil, failf(KindError, "%s: is stopped", s.Name).hint("paw recover %s", s.Name)
	}
	repository, err := worktree.Discover(s.GitCommonDir)
	if err != nil {
		return nil, err
	}
	m := p.manager(repository)
	base, err := p.baseCommit(ctx, m, o.Base)
	if err != nil {
		return nil, err
	}
	draft := *s
	draft.Worktrees = nil
	if err := p.addAgents(ctx, &draft, m, agents, base); err != nil {
		return nil, err
	}
	plans := plansOf(s, draft.Worktrees)
	if err := m.Check(ctx, plans); err != nil {
		return nil, conflict(err)
	}
	if o.DryRun {
		return &Started{Session: s, Plan: describeStart(&draft, plans)[1:]}, nil
	}
	if err := p.keepPrompts(s, draft.Worktrees, o.Prompt); err != nil {
		return nil, err
	}
	rec, err := p.update(ctx, s.Name, func(rec *session.Session) error {
		for _, w := range draft.Worktrees {
			if rec.Worktree(w.Agent) != nil {
				return failf(KindUsage, "agent %s: the name is taken", w.Agent)
			}
		}
		rec.Worktrees = append(rec.Worktrees, draft.Worktrees...)
		return nil
	})
	if err != nil {
		return nil, p.recordError(s.Name, err)
	}
	p.Step("add.recorded")
	jobs := make([]job, len(draft.Worktrees))
	for i, w := range draft.Worktrees {
		jobs[i] = job{agent: w.Agent, worktree: worktreeCreate, result: ResultFresh, prompt: o.Prompt}
	}
	saved, results, err := p.bringUp(ctx, rec, jobs)
	if err != nil {
		return nil, p.undoAdd(saved, plans, err)
	}
	return &Started{Session: saved, Results: results, Notes: p.notes(ctx, repository, &draft)}, nil
}
