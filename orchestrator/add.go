package orchestrator

import (
	"context"
	"errors"
	"slices"

	"paw/orchestrator/family"
	"paw/orchestrator/fault"
	"paw/orchestrator/home"
	"paw/orchestrator/launch"
	"paw/orchestrator/turns"
	"paw/session"
)

// Add puts more agents into a running session.
func Add(ctx context.Context, h *home.Home, s *session.Session, o AddOptions) (*Started, error) {
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return nil, err
	}
	check := func(agents []plannedAgent) error {
		if err := h.RequireTools(ctx); err != nil {
			return err
		}
		if err := requireCLIs(h, agents, o.Prompt); err != nil {
			return err
		}
		if s.Status == session.StatusStopped {
			return fault.New(fault.Failed, "%s: is stopped", s.Name).Hint("paw recover %s", s.Name)
		}
		return nil
	}
	if o.DryRun {
		a, err := planAddition(ctx, h, s, o, check)
		if err != nil {
			return nil, err
		}
		return &Started{Session: s, Plan: append(describeStart(&a.draft, a.plans)[1:], a.steps...)}, nil
	}
	rec, a, err := amongOthers(ctx, h, s, func(s *session.Session) (*session.Session, *addition, error) {
		a, err := planAddition(ctx, h, s, o, check)
		if err != nil {
			return nil, nil, err
		}
		rec, err := recordAddition(ctx, h, s, a, o.Prompt, nil)
		return rec, a, err
	})
	if err != nil {
		return nil, err
	}
	jobs := make([]launch.Job, len(a.draft.Worktrees))
	for i, w := range a.draft.Worktrees {
		jobs[i] = launch.Job{Agent: w.Agent, Worktree: launch.WorktreeCreate, Result: launch.ResultFresh, Prompt: a.promptFor(w.Agent, o.Prompt), Notes: a.notes[w.Agent]}
	}
	saved, results, err := launch.BringUp(ctx, h, rec, jobs)
	if err != nil {
		return nil, launch.UndoAdd(h, saved, a.plans, err)
	}
	family.ClaimAll(h, s.Name)
	return &Started{Session: saved, Results: results, Notes: notes(ctx, h, a.repository, &a.draft)}, nil
}

// amongOthers records agents while other paw processes may add some as well: a
// plan that failed because they took its names is made again, from the record as
// it is then.
func amongOthers(ctx context.Context, h *home.Home, s *session.Session, try func(*session.Session) (*session.Session, *addition, error)) (*session.Session, *addition, error) {
	for {
		rec, a, err := try(s)
		if err == nil {
			return rec, a, nil
		}
		now, loadErr := h.Load(s.Name)
		if loadErr != nil || slices.Equal(home.AgentNames(s), home.AgentNames(now)) || ctx.Err() != nil {
			return nil, nil, err
		}
		var e *fault.Error
		if errors.As(err, &e) && e.Kind == fault.Refused {
			return nil, nil, err
		}
		s = now
	}
}

// planAddition decides on names, branches and places of new agents and refuses
// what cannot work; check refuses what the caller cannot use. Nothing is written.
func planAddition(ctx context.Context, h *home.Home, s *session.Session, o AddOptions, check func([]plannedAgent) error) (*addition, error) {
	repository, err := h.RepositoryOf(ctx, s)
	if err != nil {
		return nil, err
	}
	space, err := turns.SpaceOf(ctx, h, repository)
	if err != nil {
		return nil, err
	}
	taken := space.Agents(s.Name)
	for _, w := range s.Worktrees {
		taken[w.Agent] = true
	}
	agents, err := planAgents(o.CLIs, o.Branches, h.CLIs, taken)
	if err != nil {
		return nil, err
	}
	if err := check(agents); err != nil {
		return nil, err
	}
	a := &addition{repository: repository, draft: *s, notes: map[string][]string{}, prompts: map[string]string{}}
	a.m, a.draft.Worktrees = h.Manager(a.repository), nil
	from := o.origin
	if o.From != "" {
		if from, err = originOf(ctx, h, a.m, s, o); err != nil {
			return nil, err
		}
	}
	if from != nil {
		o.Base = from.commit
	}
	base, err := baseCommit(ctx, a.m, o.Base)
	if err != nil {
		return nil, err
	}
	if err := addAgents(ctx, h, &a.draft, a.m, agents, base); err != nil {
		return nil, err
	}
	if from != nil {
		if err := startFrom(ctx, h, s, a, from, o.Prompt); err != nil {
			return nil, err
		}
	} else if err := a.takeBack(ctx); err != nil {
		return nil, err
	}
	a.plans = home.PlansOf(s, a.draft.Worktrees)
	return a, home.Conflict(a.m.Check(ctx, a.plans))
}

// takeBack lets new agents work in the worktrees of their branches that agents
// before them have left (paw remove --keep-worktree).
func (a *addition) takeBack(ctx context.Context) error {
	released, err := a.m.Released(ctx)
	if err != nil {
		return err
	}
	for i := range a.draft.Worktrees {
		w := &a.draft.Worktrees[i]
		if path := released[w.Branch]; path != "" {
			w.WorktreePath, w.TakenBack = path, true
			a.notes[w.Agent] = append(a.notes[w.Agent], "works on in "+path)
		}
	}
	return nil
}

// recordAddition writes the intent: the agents that are about to be made, and
// their first prompt. check, which may be nil, looks at the record and has the
// last word before them.
func recordAddition(ctx context.Context, h *home.Home, s *session.Session, a *addition, prompt string, check func(*session.Session) error) (*session.Session, error) {
	rec, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		for _, w := range a.draft.Worktrees {
			if rec.Worktree(w.Agent) != nil {
				return fault.New(fault.Usage, "agent %s: the name is taken", w.Agent)
			}
		}
		if check != nil {
			if err := check(rec); err != nil {
				return err
			}
		}
		rec.Worktrees = append(rec.Worktrees, a.draft.Worktrees...)
		for _, w := range a.draft.Worktrees {
			if err := launch.KeepPrompt(h, rec, w, a.promptFor(w.Agent, prompt)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, h.RecordError(s.Name, err)
	}
	h.Step("add.recorded")
	return rec, nil
}
