package teardown

import (
	"context"
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/worktree"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// AgentFacts has what was found of one agent and its worktree before anything ends.
type AgentFacts struct {
	session    string
	repository string
	agent      observe.Agent
	children   []string
	plan       worktree.Plan // the agent's worktree, with the commit of it that has landed
	there      bool          // the worktree's directory or registration exists
	missing    bool          // the directory is gone
	halfMade   bool
	seen       worktree.Seen
	unseen     error // why the worktree's files could not be read, nil when they were read
	teardown   app.Teardown
	torn       bool  // the teardown has begun, in an interrupted removal
	wrong      error // why the worktree cannot go whatever its content, nil when it can
}

// looked reports whether the worktree has files that had to be looked at.
func (f AgentFacts) looked() bool { return f.there && !f.missing && !f.halfMade }

// lookAtAgents gathers the facts of agents, and of their worktrees unless those stay, with as many
// goroutines as there are processors.
func lookAtAgents(ctx context.Context, h *app.App, m worktree.Manager, f observe.Facts, names []string, o Options) []AgentFacts {
	found := make([]AgentFacts, len(names))
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	for i, name := range names {
		all.Go(func() error {
			found[i] = agentOf(f, name)
			found[i].lookAtTeardown(h, o)
			if o.KeepWorktree {
				found[i].missing = !disk.Exists(found[i].plan.Path)
			} else {
				found[i].look(ctx, m, f.Session, o.Landed)
			}
			return nil
		})
	}
	_ = all.Wait()
	return found
}

// agentOf returns the facts of an agent without a look at its worktree.
func agentOf(f observe.Facts, name string) AgentFacts {
	s := f.Session
	w := s.Agent(name)
	known := AgentFacts{session: s.Name, repository: s.RepoPath, agent: observe.Agent{Record: *w}, children: s.Children(name), plan: app.PlanOf(s, *w)}
	if a := f.Agent(name); a != nil {
		known.agent = *a
	}
	return known
}

// lookAtTeardown finds the teardown command, and whether it has begun.
func (f *AgentFacts) lookAtTeardown(h *app.App, o Options) {
	w := &f.agent.Record
	f.teardown = h.Teardown(o.NoTeardown)
	f.torn = w.Phase == session.PhaseRemoving && h.TeardownBegan(f.session, w.Name)
}

// look gathers the facts of the agent's worktree; landed is what the agent has just landed, nil for
// nothing.
func (f *AgentFacts) look(ctx context.Context, m worktree.Manager, s *session.Session, landed *session.Landing) {
	if landed != nil && landed.Turn == 0 && landed.TurnSession == f.agent.Record.TurnSession {
		if tip, err := m.Refs().BranchTip(ctx, landed.Target); err == nil && tip == landed.After {
			f.plan.Saved = landed.State
		}
	}
	if f.plan.Saved == "" {
		f.plan.Saved = landing.Safe(ctx, m, s, &f.agent.Record)
	}
	f.place(ctx, m, s)
	if f.wrong == nil && f.looked() {
		f.seen, f.unseen = m.See(ctx, f.plan)
	}
}

// place inspects the path of the agent's worktree.
func (f *AgentFacts) place(ctx context.Context, m worktree.Manager, s *session.Session) {
	w := &f.agent.Record
	f.missing = !disk.Exists(w.WorktreePath)
	f.halfMade = m.HalfMade(w.WorktreePath)
	if !f.missing && !f.halfMade {
		if err := gitdir.Verify(w.WorktreePath, s.GitCommonDir, ""); err != nil {
			f.wrong = notTheWorktree(ctx, m, s, w, err)
			return
		}
	}
	var err error
	if f.there, err = m.Removable(ctx, f.plan); err != nil {
		f.wrong = notRemoved(s.Name, w.Name, w.WorktreePath, err)
	}
}

// notRemoved adds hints to a refusal of package worktree.
func notRemoved(sessionName, agentName, path string, err error) error {
	var refused *git.ConflictError
	if !errors.As(err, &refused) {
		return err
	}
	e := errs.New(errs.Refused, "%s: not removed: %w", agentName, err)
	if refused.Hint != "" {
		return e.Hint("%s", refused.Hint)
	}
	return e.Hint("git -C %s status --ignored", errs.Quote(path)).Hint("paw remove %s --force --session %s", agentName, sessionName)
}

// notTheWorktree refuses a directory that is not the agent's worktree any more, with a hint.
func notTheWorktree(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Agent, err error) error {
	refused := errs.New(errs.Refused, "%s: not removed: %w", w.Name, err)
	unlinked, _ := m.Registry().Unlinked(ctx, app.PlanOf(s, *w))
	if w.Phase == session.PhaseCreating || unlinked || m.Registry().Unregistered(app.PlanOf(s, *w)) {
		return refused.Hint("paw recover %s", s.Name)
	}
	return refused.Hint("%s", launch.WayBack(s, w))
}
