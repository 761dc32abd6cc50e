package startplan

import (
	"context"
	"errors"
	"os"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
)

// Add drafts new agents and records them, while other paw processes may add some as well: a draft that failed because they
// took its names is made again, from the record as it is then. check is that of NewAddition; last, which may be nil, looks at
// the record and has the last word.
func Add(ctx context.Context, h *app.App, s *session.Session, o Options, check func([]Agent) error, last func(*session.Session) error) (*session.Session, *Addition, error) {
	for {
		var rec *session.Session
		a, err := NewAddition(ctx, h, s, o, check)
		if err == nil {
			rec, err = Record(ctx, h, s, a, o.Prompt, last)
		}
		if err == nil {
			return rec, a, nil
		}
		now, loadErr := h.Load(s.Name)
		if loadErr != nil || slices.Equal(app.AgentNames(s), app.AgentNames(now)) || ctx.Err() != nil {
			return nil, nil, err
		}
		var e *errs.Error
		if errors.As(err, &e) && e.Kind == errs.Refused {
			return nil, nil, err
		}
		s = now
	}
}

// NewAddition decides on names, branches and places of new agents and refuses
// what cannot work; check refuses what the caller cannot use. Nothing is written.
func NewAddition(ctx context.Context, h *app.App, s *session.Session, o Options, check func([]Agent) error) (*Addition, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	space, err := turns.NamesOf(ctx, h, m)
	if err != nil {
		return nil, err
	}
	taken := map[string]string{}
	for name := range space.Agents(s.Name) {
		taken[name] = " by the turns of an earlier agent"
	}
	for _, w := range s.Agents {
		taken[w.Name] = ""
	}
	agents, err := Agents(o.CLIs, o.Branches, h.CLIs, taken)
	if err != nil {
		return nil, err
	}
	if err := check(agents); err != nil {
		return nil, err
	}
	if at := standing(h, s, m.Repository); at != "" {
		m.Repository.Worktree = at
	}
	a := &Addition{Manager: m, Draft: *s, Notes: map[string][]string{}, prompts: map[string]string{}}
	a.Draft.Agents = nil
	from := o.Origin
	if o.From != "" {
		if from, err = originOf(ctx, h, m, s, o); err != nil {
			return nil, err
		}
	}
	if from != nil {
		o.Base = from.commit
	}
	base, err := baseCommit(ctx, m, o.Base)
	if err != nil {
		return nil, err
	}
	if err := addAgents(ctx, h, &a.Draft, m, agents, base); err != nil {
		return nil, err
	}
	for i := range a.Draft.Agents {
		a.Draft.Agents[i].Parent, a.Draft.Agents[i].Headless = o.Parent, o.Headless
	}
	if from != nil {
		if err := startFrom(ctx, h, s, a, from, o.Prompt); err != nil {
			return nil, err
		}
	} else if err := a.takeBack(ctx); err != nil {
		return nil, err
	}
	a.Plans = app.PlansOf(s, a.Draft.Agents)
	return a, app.Conflict(m.Check(ctx, a.Plans))
}

// standing is the worktree of the user's own, of that repository, that one stands in, "" elsewhere: new branches start from its
// HEAD, as those of paw start do. In an agent's worktree one looks at its work, and asks for others beside it.
func standing(h *app.App, s *session.Session, repository worktree.Repository) string {
	here, err := worktree.Discover(h.Dir)
	ofAgent := func(w session.Agent) bool {
		one, oneErr := os.Stat(w.WorktreePath)
		other, otherErr := os.Stat(here.Worktree)
		return oneErr == nil && otherErr == nil && os.SameFile(one, other)
	}
	if err != nil || here.CommonDir != repository.CommonDir || slices.ContainsFunc(s.Agents, ofAgent) {
		return ""
	}
	return here.Worktree
}

// takeBack lets new agents work in the worktrees of their branches that agents
// before them have left (paw remove --keep-worktree).
func (a *Addition) takeBack(ctx context.Context) error {
	released, err := a.Manager.Released(ctx)
	if err != nil {
		return err
	}
	for i := range a.Draft.Agents {
		w := &a.Draft.Agents[i]
		if path := released[w.Branch]; path != "" {
			w.WorktreePath, w.TakenBack = path, true
			a.Notes[w.Name] = append(a.Notes[w.Name], "works on in "+path)
		}
	}
	return nil
}

// Record writes the intent: the agents that are about to be made, and their first prompt.
func Record(ctx context.Context, h *app.App, s *session.Session, a *Addition, prompt string, last func(*session.Session) error) (*session.Session, error) {
	rec, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		for _, w := range a.Draft.Agents {
			if rec.Agent(w.Name) != nil {
				return errs.New(errs.Usage, "agent %s: the name is taken", w.Name)
			}
		}
		if last != nil {
			if err := last(rec); err != nil {
				return err
			}
		}
		rec.Enlist(a.Draft.Agents...)
		for _, w := range a.Draft.Agents {
			if err := launch.KeepPrompt(h, rec, w, a.PromptFor(w.Name, prompt)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	h.Step("add.recorded")
	return rec, nil
}
