// Package teardown takes agents and sessions away: stop, remove and purge. Each looks first, makes
// a plan that is a value with a text, and applies it. A dry run shows the text. Applying decides
// nothing: where the world has changed since the plan, it refuses, or leaves what it cannot account
// for.
//
// Begin with Stop (stop.go), Agent (agent.go) and Purge (purge.go). The package may import observe,
// turns, landing and launch; it prompts nobody and tells no parent.
package teardown

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Options selects what is removed, and how.
type Options struct {
	KeepWorktree bool
	Force        bool // save uncommitted work in a rescue ref, then remove
	NoTeardown   bool // do not run the project's teardown command
	DryRun       bool
	Tags         bool             // purge only: delete turn tags, refs/paw and turn logs
	Landed       *session.Landing // what the agent has just landed, nil for nothing
}

// Agent is one agent that is to be removed: what was found of the agent and its worktree before
// anything ends, and the plan.
type Agent struct {
	session.Agent // entry in the record
	Session       string
	End           Ended
	Children      []string     // children of the agent, which stay
	Teardown      app.Teardown // runs before the worktree is removed
	Words         []string     // files with text of the user that the agent never got; they are moved aside and kept

	repository string        // path of the main worktree
	plan       worktree.Plan // the agent's worktree, with the commit of it that has landed
	there      bool          // the worktree's directory or registration exists
	missing    bool          // the directory is gone
	halfMade   bool
	seen       worktree.Seen
	unseen     error // why the worktree's files could not be read, nil when they were read
	wrong      error // why the worktree cannot go whatever its content, nil when it can
	torn       bool  // the teardown has begun: files that it leaves are saved and do not block the removal

	Place    Place
	Aside    []string      // files that git does not have, because of which the directory stays in the trash
	Save     bool          // commit all files to a rescue ref first
	Holds    string        // summary of the uncommitted work, "" for none or unknown
	intent   session.Phase // phase to record
	clean    bool          // forced, but there is nothing to save
	tornDown bool          // the teardown is done
}

// Place tells what becomes of a worktree.
type Place int

// The places of a removed agent's worktree.
const (
	Stays   Place = iota // the worktree stays in its place, for the user
	Deleted              // moved to the trash, and deleted in the background
	Trashed              // moved to the trash, and kept there
	Gone                 // did not exist
)

// looked reports whether the worktree has files that had to be looked at.
func (p Agent) looked() bool { return p.there && !p.missing && !p.halfMade }

// lookAtAgents finds agents, and looks at their worktrees unless those stay, with as many goroutines
// as there are processors.
func lookAtAgents(ctx context.Context, h *app.App, m *worktree.Manager, f observe.Facts, names []string, o Options) []Agent {
	found := make([]Agent, len(names))
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	for i, name := range names {
		all.Go(func() error {
			found[i] = agentOf(h, f, name, o)
			if o.KeepWorktree || found[i].Here {
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

// agentOf returns an agent without a look at its worktree, with its teardown command and whether
// that has begun.
func agentOf(h *app.App, f observe.Facts, name string, o Options) Agent {
	s, w := f.Session, f.Session.Agent(name)
	p := Agent{
		Agent: *w, Session: s.Name, End: endOf(observe.Agent{Record: *w}), Children: s.Children(name), Teardown: h.Teardown(o.NoTeardown),
		repository: s.RepoPath, plan: app.PlanOf(s, *w),
		torn: w.Phase == session.PhaseRemoving && h.TeardownBegan(s.Name, name),
	}
	p.plan.Scratch = turns.Scratch(h.Agent(s, w))
	if a := f.Agent(name); a != nil {
		p.Agent, p.End = a.Record, endOf(*a)
	}
	return p
}

// look looks at the agent's worktree; landed is what the agent has just landed, nil for nothing.
func (p *Agent) look(ctx context.Context, m *worktree.Manager, s *session.Session, landed *session.Landing) {
	if landed != nil && landed.Turn == 0 && landed.TurnSession == p.TurnSession {
		if tip, err := m.Refs().BranchTip(ctx, landed.Target); err == nil && tip == landed.After {
			p.plan.Saved = landed.State
		}
	}
	if p.plan.Saved == "" {
		p.plan.Saved = landing.Safe(ctx, m, s, &p.Agent)
	}
	p.inspect(ctx, m, s)
	if p.wrong == nil && p.looked() {
		p.seen, p.unseen = m.See(ctx, p.plan)
	}
}

// inspect looks at the path of the agent's worktree.
func (p *Agent) inspect(ctx context.Context, m *worktree.Manager, s *session.Session) {
	p.missing, p.halfMade = !disk.Exists(p.WorktreePath), m.HalfMade(p.WorktreePath)
	if !p.missing && !p.halfMade {
		if err := gitdir.Verify(p.WorktreePath, s.GitCommonDir, ""); err != nil {
			p.wrong = p.notTheWorktree(ctx, m, s, err)
			return
		}
	}
	var err error
	if p.there, err = m.Removable(ctx, p.plan); err != nil {
		p.wrong = p.notRemoved(err)
	}
}

// notRemoved adds hints to a refusal of package worktree.
func (p *Agent) notRemoved(err error) error {
	var refused *git.ConflictError
	if !errors.As(err, &refused) {
		return err
	}
	e := errs.New(errs.Refused, "%s: not removed: %w", p.Name, err)
	if refused.Hint != "" {
		return e.Hint("%s", refused.Hint)
	}
	return e.Hint("git -C %s status --ignored", errs.Quote(p.WorktreePath)).Hint("paw remove %s/%s --force", p.Session, p.Name)
}

// notTheWorktree refuses a directory that is not the agent's worktree any more, with a hint.
func (p *Agent) notTheWorktree(ctx context.Context, m *worktree.Manager, s *session.Session, err error) error {
	refused := errs.New(errs.Refused, "%s: not removed: %w", p.Name, err)
	unlinked, _ := m.Registry().Unlinked(ctx, p.plan)
	if p.Phase == session.PhaseCreating || unlinked {
		return refused.Hint("paw recover %s", s.Name)
	}
	return errs.WithHints(refused, launch.WayBack(s, &p.Agent)...)
}

// planned plans the removal of the agent, and refuses while work would be lost.
func (p Agent) planned(o Options) (Agent, error) {
	o.KeepWorktree = o.KeepWorktree || p.Here
	p = p.removal(o.intent())
	switch {
	case o.KeepWorktree:
		return p, nil
	case p.wrong != nil:
		return p, p.wrong
	case o.Force && p.looked() && p.unseen == nil && p.seen.Clean():
		// Forced, and possible without force: nothing has to be saved.
		p.clean, p.Save, p.Place, p.Aside = true, false, Deleted, p.seen.Aside
		if len(p.Aside) > 0 {
			p.Place = Trashed
		}
		return p, nil
	case !p.looked() || o.Force || p.torn:
		return p, nil
	}
	return p, p.refuseUnclean(p.seen, p.unseen)
}

// refuseUnclean refuses a worktree with work that would be lost, or whose state cannot be read.
func (p Agent) refuseUnclean(seen worktree.Seen, unseen error) error {
	switch {
	case unseen != nil:
		return errs.WithHints(errs.New(errs.Refused, "%s: not removed, its state cannot be read: %w", p.Name, unseen), errs.HintsOf(unseen)...)
	case !seen.Clean():
		return errs.New(errs.Refused, "%s has %s", p.Name, seen.Summary()).
			Hint("git -C %s status --ignored", errs.Quote(p.WorktreePath)).
			Hint("paw remove %s/%s --force", p.Session, p.Name)
	}
	return nil
}

// removal plans the removal for an intent, without refusals.
func (p Agent) removal(intent session.Phase) Agent {
	p.intent, p.Place = intent, Deleted
	force := intent == session.PhaseDiscarding
	switch {
	case intent == session.PhaseLeaving && !p.missing:
		p.Place, p.seen = Stays, worktree.Seen{}
	case !p.there || p.missing:
		p.Place = Gone
	case force || p.halfMade:
		p.Place = Trashed
		p.Save = force && p.looked()
	case len(p.seen.Aside) > 0:
		p.Place, p.Aside = Trashed, p.seen.Aside
	}
	if p.Save {
		p.Holds = p.seen.Summary()
	}
	if !p.looked() || p.Place == Stays {
		p.Teardown, p.torn = app.Teardown{}, false
	}
	return p
}

// intent returns the phase that a removal records.
func (o Options) intent() session.Phase {
	switch {
	case o.KeepWorktree:
		return session.PhaseLeaving
	case o.Force:
		return session.PhaseDiscarding
	}
	return session.PhaseRemoving
}

// String describes the plan, line by line.
func (p Agent) String() string { return strings.Join(p.lines(), "\n") }

// lines describe what happens to the agent and its worktree.
func (p Agent) lines() []string {
	var lines []string
	if p.End.runs {
		lines = p.End.lines()
	}
	if line := p.Teardown.Line(p.Name); line != "" {
		lines = append(lines, line)
	}
	if p.Save {
		what := "its files"
		if p.Holds != "" {
			what += ", with " + p.Holds + ","
		}
		lines = append(lines, fmt.Sprintf("%s: save %s in a commit under %s", p.Name, what, turn.RefPrefix(p.TurnSession)+"rescue/"))
	}
	switch at := p.Name + ": "; {
	case p.Place == Stays:
		lines = append(lines, at+"leave its worktree "+p.WorktreePath+" where it is, no longer paw's")
	case p.Place == Deleted:
		lines = append(lines, at+"delete its worktree "+p.WorktreePath)
	case p.Place == Gone:
		lines = append(lines, at+"its worktree "+p.WorktreePath+" is gone")
	case len(p.Aside) > 0:
		lines = append(lines, at+"move its worktree "+p.WorktreePath+" to the trash folder, because of what git does not have: "+strings.Join(p.Aside, ", "))
	default:
		lines = append(lines, at+"move its worktree "+p.WorktreePath+" to the trash folder")
	}
	for _, path := range p.Words {
		lines = append(lines, p.Name+": keep what you wrote for it and it never got, "+path)
	}
	if len(p.Children) > 0 {
		lines = append(lines, p.Name+": the agents that it has started stay: "+strings.Join(p.Children, ", "))
	}
	return lines
}
