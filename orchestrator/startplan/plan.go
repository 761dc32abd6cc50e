// Package startplan decides who is to be started, before anything is made: the names, branches, places and origins of new
// agents, and of a new session. What cannot work is refused here.
//
// Session drafts a new session, NewAddition the agents that are added to one (plan.go); both go into the record before anything
// else is made. An agent that begins where another one is has an Origin, and may be handed a brief over (handover.go). The
// room may import every room below: orchestrator/app, observe, handover, transcript, turns and launch. Begin with agents.go.
package startplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
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
	if o.WithChanges {
		if a.Handed, err = HandOver(ctx, m, cmp.Or(o.From, o.Base), o.DryRun); err != nil {
			return nil, err
		}
		o.Base = a.Handed.head
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
		if err := startFrom(ctx, h, s, a, from, o); err != nil {
			return nil, err
		}
	} else if err := a.takeBack(ctx); err != nil {
		return nil, err
	}
	if err := a.Handed.giveTo(a.Draft.Agents); err != nil {
		return nil, err
	}
	if err := h.RequireSpace(ctx, m, &a.Draft); err != nil {
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
	released, err := a.Manager.Registry().Released(ctx)
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
	var rec *session.Session
	err := h.GivePorts(ctx, &a.Draft, func() (err error) {
		rec, err = record(ctx, h, s, a, prompt, last)
		return err
	})
	if err != nil {
		return nil, err
	}
	h.Step("add.recorded")
	return rec, nil
}

func record(ctx context.Context, h *app.App, s *session.Session, a *Addition, prompt string, last func(*session.Session) error) (*session.Session, error) {
	return h.Update(ctx, s.Name, func(rec *session.Session) error {
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
}

// Options is what the user asked of paw add.
type Options struct {
	CLIs     []string
	Branches []string
	Base     string
	From     string // "AGENT[@N]": start where that agent's turn N ended
	Prompt   string
	Force    bool // also from the commit alone of a turn that has no snapshot
	DryRun   bool
	Origin   *Origin // what a child starts from, nil for an agent that nobody spawned
	Parent   string  // that spawns it, "" for none
	Headless bool    // it gets no pane
	Silent   bool    // it takes no conversation over from the agent that it starts from

	WithChanges bool // what is not committed in the checkout that one stands in comes along
}

// Addition is agents that are about to be added to a session.
type Addition struct {
	Manager worktree.Manager
	Draft   session.Session // the session with the new agents alone
	Plans   []worktree.Plan
	Notes   map[string][]string // by agent
	prompts map[string]string   // first prompts by agent, of those that do not get the user's alone
	Steps   []string            // what else a user wants to know beforehand
	Handed  *Handed             // what the user has not committed, nil where it does not come along
}

// PromptFor is the first prompt of an agent, prompt being that of the user.
func (a *Addition) PromptFor(agentName, prompt string) string {
	if own, ok := a.prompts[agentName]; ok {
		return own
	}
	return prompt
}

// Origin is the end of a turn that new agents start from.
type Origin struct {
	session.Origin
	source *session.Agent
	commit string
	last   bool // nothing came after that turn
	// current: not the end of a turn, but the state that the source is in now.
	current bool
	notes   []string

	turns    []turn.Record     // until then, with that one
	talk     string            // the conversation that was read
	messages []history.Message // what was said in it until then, once it was read
	unread   error             // why it cannot be read
}

// Describe lists what start would do.
func Describe(s *session.Session, plans []worktree.Plan) []string {
	steps := []string{fmt.Sprintf("record session %s for %s", s.Name, s.RepoPath)}
	for i, plan := range plans {
		if plan.CreateBranch {
			steps = append(steps, strings.TrimSuffix(fmt.Sprintf("create branch %s at %.12s", plan.Branch, plan.Base), " at "))
		}
		steps = append(steps, fmt.Sprintf("check out %s in %s", plan.Branch, plan.Path))
		steps = append(steps, fmt.Sprintf("run %s in a pane of tmux session paw-%s", s.Agents[i].CLI, s.Name))
	}
	return steps
}

// DescribeInEmpty is Describe for a directory that is about to become a repository.
func DescribeInEmpty(h *app.App, name, dir string, agents []Agent) ([]string, error) {
	s := &session.Session{Name: name, RepoPath: dir}
	var plans []worktree.Plan
	for _, a := range agents {
		path, err := h.Config.WorktreePath(dir, name, a.name)
		if err != nil {
			return nil, errs.New(errs.Usage, "%w", err)
		}
		branch := a.branch
		if branch == "" {
			branch = app.AutomaticBranch(name, a.name)
		}
		s.Agents = append(s.Agents, session.Agent{CLI: a.CLI})
		plans = append(plans, worktree.Plan{Branch: branch, Path: path, CreateBranch: true})
	}
	return append([]string{"make " + dir + " a git repository, with one empty commit"}, Describe(s, plans)...), nil
}
