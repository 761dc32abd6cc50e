// Package startplan decides, before anything is made, the names, branches, worktrees and origins of
// new agents and sessions, and refuses what cannot work.
//
// Session drafts a new session, NewAddition the agents for an existing one (plan.go); both are
// recorded before anything else is made. An agent that begins with the work of another one has an
// Origin, and may get a brief as its first prompt (handed.go). The package may import every
// package below it: orchestrator/app, observe, handover, transcript, turns and launch. Begin with
// agents.go.
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
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// Add drafts and records new agents while other paws may do the same: when another paw took a name,
// the draft is repeated with the present record. check is passed to NewAddition; last, which may be
// nil, may refuse with a look at the record.
func Add(ctx context.Context, h *app.App, s *session.Session, o Options, check func([]session.Agent) error, last func(*session.Session) error) (*session.Session, *Addition, error) {
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
		if e, ok := errors.AsType[*errs.Error](err); ok && e.Kind == errs.Refused {
			return nil, nil, err
		}
		s = now
	}
}

// NewAddition decides names, branches and worktrees of new agents, and refuses what cannot work;
// check refuses what the caller cannot use. It writes nothing.
func NewAddition(ctx context.Context, h *app.App, s *session.Session, o Options, check func([]session.Agent) error) (*Addition, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	taken, err := takenNames(ctx, h, m, s)
	if err != nil {
		return nil, err
	}
	here, err := o.requireHere(ctx, h, m)
	if err != nil {
		return nil, err
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
	from, base := o.Origin, o.Base
	switch {
	case o.WithChanges:
		from, err = HandOver(ctx, m, cmp.Or(o.From, o.Base), o.DryRun)
		a.Handed = from
	case o.From != "":
		from, err = originOf(ctx, h, m, s, o)
	}
	if err != nil {
		return nil, err
	}
	if from != nil {
		base = from.commit
	}
	if base, err = baseCommit(ctx, m, base); err != nil {
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
	}
	if err := a.adopt(ctx, h, o, here); err != nil {
		return nil, err
	}
	return a, a.complete(ctx, h)
}

// complete plans the worktrees, and refuses those that cannot be made.
func (a *Addition) complete(ctx context.Context, h *app.App) error {
	if err := h.RequireSpace(ctx, a.Manager, &a.Draft); err != nil {
		return err
	}
	if err := a.RequireRoom(h); err != nil {
		return err
	}
	a.Plans = app.PlansOf(&a.Draft, a.Draft.Agents)
	return app.Conflict(a.Manager.Check(ctx, a.Plans))
}

// RequireRoom refuses agents with panes beyond the number that may run at the same time. App.GivePorts calls it while it holds its
// lock: no other command can record agents between this count and the record of these.
func (a *Addition) RequireRoom(h *app.App) error {
	if a.Draft.Agents[0].Headless {
		return nil
	}
	return observe.RequireRoom(h, len(a.Draft.Agents))
}

// takenNames returns the names that a new agent of a session cannot have, with the reason where it
// is not the obvious one.
func takenNames(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session) (map[string]string, error) {
	space, err := turns.NamesOf(ctx, h, m)
	if err != nil {
		return nil, err
	}
	taken := map[string]string{}
	for _, name := range space.Of(s.Name).All() {
		taken[name] = " by the turns of an earlier agent"
	}
	for _, w := range s.Agents {
		taken[w.Name] = ""
	}
	return taken, nil
}

// standing returns the user's current worktree of that repository, "" in any other place: new
// branches start from its HEAD, as with paw start. An agent's worktree does not count: the user is
// there to look at that agent's work.
func standing(h *app.App, s *session.Session, repository gitdir.Repository) string {
	here, err := gitdir.Discover(h.Dir)
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

// Record records the new agents and their first prompts, before anything is made.
func Record(ctx context.Context, h *app.App, s *session.Session, a *Addition, prompt string, last func(*session.Session) error) (saved *session.Session, err error) {
	enlist := func(rec *session.Session) error {
		for _, w := range a.Draft.Agents {
			if rec.Agent(w.Name) != nil {
				return errs.New(errs.Usage, "agent %s: the name is taken", w.Name)
			}
			if slices.ContainsFunc(rec.Agents, func(o session.Agent) bool { return w.Here && o.WorktreePath == w.WorktreePath }) {
				return errs.New(errs.Refused, "%s: is an agent's already", w.WorktreePath).Hint("paw status %s", rec.Name)
			}
		}
		if last != nil {
			if err := last(rec); err != nil {
				return err
			}
		}
		rec.Enlist(a.Draft.Agents...)
		for _, w := range a.Draft.Agents {
			if err := a.Making.Hold(h, rec.Name, w.Name); err != nil {
				return err
			}
			if err := launch.KeepPrompt(h.Agent(rec, &w), a.promptFor(w.Name, prompt)); err != nil {
				return err
			}
		}
		return nil
	}
	err = h.GivePorts(ctx, &a.Draft, func() error {
		if err := a.RequireRoom(h); err != nil {
			return err
		}
		saved, err = h.Update(ctx, s.Name, enlist)
		return err
	})
	if err != nil {
		a.Making.Release()
		return nil, err
	}
	h.Step("add.recorded")
	return saved, nil
}

// Options are the options of paw add, and of other commands that add agents.
type Options struct {
	CLIs     []string
	Branches []string
	Base     string
	From     string // "AGENT[@N]": start at the end of that agent's turn N
	Prompt   string
	// Conversation is the id of one of the user's that the agent begins with a copy of, LastConversation, or "".
	Conversation string
	Here         string // path of a worktree of the user's that the agent works in, "" for one of its own
	Force        bool   // accept the commit of a turn without a snapshot
	DryRun       bool
	Origin       *Origin // origin of a child, nil for an agent that was not spawned
	Parent       string  // parent that spawns the agent, "" for none
	Headless     bool    // the agent gets no pane
	Silent       bool    // take no conversation over from the agent of From

	WithChanges bool // begin with the uncommitted work of the user's current checkout
	WaitSetUp   bool // wait until the set-ups are over
}

// Addition is the plan for the agents of a new session, or for new agents of a session.
type Addition struct {
	Manager *worktree.Manager
	Draft   session.Session // session with only the new agents
	Plans   []worktree.Plan
	Notes   map[string][]string // notes by agent
	prompts map[string]string   // first prompts that differ from the user's, by agent
	Steps   []string            // further steps for a dry run
	Handed  *Origin             // uncommitted work of the user, nil where no work is handed over
	Waits   bool                // the caller wants to know how the set-ups end
	Making  launch.Making       // locks of the agents, from their record until they are launched
}

// Jobs returns the jobs of making and starting the agents; prompt is the user's.
func (a *Addition) Jobs(prompt string) []launch.Job {
	jobs := make([]launch.Job, len(a.Draft.Agents))
	for i, w := range a.Draft.Agents {
		jobs[i] = launch.Job{
			Result:   launch.Result{Agent: w.Name, CLI: w.CLI, Kind: launch.ResultFresh, Notes: a.Notes[w.Name]},
			Worktree: launch.WorktreeCreate, Parent: w.Parent, Prompt: a.promptFor(w.Name, prompt), AwaitSetUp: a.Waits,
		}
	}
	return jobs
}

// promptFor returns the first prompt of an agent; prompt is the user's.
func (a *Addition) promptFor(agentName, prompt string) string {
	if own, ok := a.prompts[agentName]; ok {
		return own
	}
	return prompt
}

// Origin is the state from which new agents start: the end of a turn, the present state of an agent,
// or a checkout of the user with what is not committed there.
type Origin struct {
	session.Origin
	source  *session.Agent // nil for a checkout of the user
	place   string         // path of the checkout, else ""
	files   int            // number of uncommitted files in the checkout
	commit  string
	makes   string // flag or command that makes new agents from it
	last    bool   // the turn is the agent's last one
	current bool   // it is a present state, not the end of a turn
	notes   []string

	turns    []turn.Record     // turns up to the turn of the origin
	talk     string            // id of the conversation that was read
	messages []history.Message // messages up to the end of the turn, once read
	unread   error             // why the messages cannot be read
}

// Describe lists the steps of a start for a dry run.
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

// DescribeInEmpty is like Describe, for a directory that is to become a repository.
func DescribeInEmpty(h *app.App, name, dir string, agents []session.Agent) ([]string, error) {
	s := &session.Session{Name: name, RepoPath: dir}
	var plans []worktree.Plan
	for _, a := range agents {
		path, err := h.Config.WorktreePath(dir, name, a.Name)
		if err != nil {
			return nil, errs.New(errs.Usage, "%w", err)
		}
		branch := a.Branch
		if branch == "" {
			branch = app.AutomaticBranch(name, a.Name)
		}
		s.Agents = append(s.Agents, session.Agent{CLI: a.CLI})
		plans = append(plans, worktree.Plan{Branch: branch, Path: path, CreateBranch: true})
	}
	return append([]string{"make " + dir + " a git repository, with one empty commit"}, Describe(s, plans)...), nil
}
