// Package teardown takes agents and sessions away: stop, remove and purge. Each looks first, makes
// a plan that is a value with a text, and applies it. A dry run shows the text. Applying decides
// nothing: where the world has changed since the plan, it refuses, or leaves what it cannot account
// for.
//
// Begin with Stop, Agent and Purge. The package may import observe, turns, landing and launch; it
// prompts nobody and tells no parent.
package teardown

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
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

// Agent is the plan for removing one agent.
type Agent struct {
	Name     string
	CLI      string
	Session  string
	Branch   string
	Worktree string
	End      Ended
	Children []string // children of the agent, which stay
	Place    Place
	Aside    []string     // files that git does not have, because of which the directory stays in the trash
	Save     bool         // commit all files to a rescue ref first
	Holds    string       // summary of the uncommitted work, "" for none or unknown
	Teardown app.Teardown // runs before the worktree is removed
	Words    []string     // files with text of the user that the agent never got; they are moved aside and kept

	torn        bool   // the teardown has begun: files that it leaves are saved and do not block the removal
	tornDown    bool   // the teardown is done
	clean       bool   // forced, but there is nothing to save
	repository  string // path of the main worktree
	turnSession string
	phase       session.Phase // intent to record
	worktree    worktree.Plan
	seen        worktree.Seen // state of the agent's worktree when the plan was made
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

// planAgent plans the removal of one agent, and refuses while work would be lost.
func planAgent(f AgentFacts, o Options) (Agent, error) {
	p := planRemoval(f, f.phase(o))
	switch {
	case o.KeepWorktree:
		return p, nil
	case f.wrong != nil:
		return p, f.wrong
	case o.Force && f.looked() && f.unseen == nil && f.seen.Clean():
		return p.savingNothing(), nil
	case !f.looked() || o.Force || p.torn:
		return p, nil
	}
	return p, p.refuseUnclean(f.seen, f.unseen)
}

// refuseUnclean refuses a worktree with work that would be lost, or whose state cannot be read.
func (p Agent) refuseUnclean(seen worktree.Seen, unseen error) error {
	switch {
	case unseen != nil:
		return errs.New(errs.Refused, "%s: not removed, its state cannot be read: %w", p.Name, unseen)
	case !seen.Clean():
		return errs.New(errs.Refused, "%s has %s", p.Name, seen.Summary()).
			Hint("git -C %s status --ignored", errs.Quote(p.Worktree)).
			Hint("paw remove %s --force --session %s", p.Name, p.Session)
	}
	return nil
}

// savingNothing changes the plan of a forced removal that would be possible without force.
func (p Agent) savingNothing() Agent {
	p.clean, p.Save, p.Place, p.Aside = true, false, Deleted, p.seen.Aside
	if len(p.Aside) > 0 {
		p.Place = Trashed
	}
	return p
}

// planRemoval plans the removal for a recorded intent, without refusals.
func planRemoval(f AgentFacts, intent session.Phase) Agent {
	w := f.agent.Record
	p := Agent{
		Name: w.Name, CLI: w.CLI, Session: f.session, Branch: w.Branch, Worktree: w.WorktreePath, End: endOf(f.agent), Children: f.children,
		Place: Deleted, repository: f.repository, turnSession: w.TurnSession, phase: intent, worktree: f.plan, seen: f.seen,
	}
	force := intent == session.PhaseDiscarding
	switch {
	case intent == session.PhaseLeaving && !f.missing:
		p.Place, p.seen = Stays, worktree.Seen{}
	case !f.there || f.missing:
		p.Place = Gone
	case force || f.halfMade:
		p.Place = Trashed
		p.Save = force && f.looked()
	case len(f.seen.Aside) > 0:
		p.Place, p.Aside = Trashed, f.seen.Aside
	}
	if p.Save {
		p.Holds = f.seen.Summary()
	}
	if f.looked() && p.Place != Stays {
		p.Teardown, p.torn = f.teardown, f.torn
	}
	return p
}

// phase returns the intent that a removal records.
func (f AgentFacts) phase(o Options) session.Phase {
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
		lines = append(lines, fmt.Sprintf("%s: save %s in a commit under %s", p.Name, what, turn.RefPrefix(p.turnSession)+"rescue/"))
	}
	switch at := p.Name + ": "; {
	case p.Place == Stays:
		lines = append(lines, at+"leave its worktree "+p.Worktree+" where it is, no longer paw's")
	case p.Place == Deleted:
		lines = append(lines, at+"delete its worktree "+p.Worktree)
	case p.Place == Gone:
		lines = append(lines, at+"its worktree "+p.Worktree+" is gone")
	case len(p.Aside) > 0:
		lines = append(lines, at+"move its worktree "+p.Worktree+" to the trash folder, because of what git does not have: "+strings.Join(p.Aside, ", "))
	default:
		lines = append(lines, at+"move its worktree "+p.Worktree+" to the trash folder")
	}
	for _, path := range p.Words {
		lines = append(lines, p.Name+": keep what you wrote for it and it never got, "+path)
	}
	if len(p.Children) > 0 {
		lines = append(lines, p.Name+": the agents that it has started stay: "+strings.Join(p.Children, ", "))
	}
	return lines
}

// Removed tells what removing an agent did, and how to get it back.
type Removed struct {
	Agent
	RescueRef  string // ref with the uncommitted work, with --force
	Rescue     string // refs with commits that only the worktree's git directory kept
	Trash      string // folder in the trash that was kept: with --force, or because of Aside
	WordsDir   string // folder with text of the user that the agent never got
	Landed     bool   // the branch was deleted too: all of the branch has landed
	BranchGone bool   // the branch had already been deleted
	Back       bool   // the worktree stays, and a new agent on the branch can take it over
}

// Kept says where the kept work is, with the commands that bring it back or delete it.
func (r *Removed) Kept() []string {
	var lines []string
	if r.RescueRef != "" {
		git := "git -C " + errs.Quote(r.repository)
		lines = append(lines, "its files are in the commit "+r.RescueRef,
			"  back: "+errs.Line("%s worktree add --detach %s %s", git, errs.Quote(r.Worktree), r.RescueRef),
			"  drop: "+errs.Line("%s update-ref -d %s", git, r.RescueRef))
	}
	if r.Rescue != "" {
		lines = append(lines, "what only its git directory led to is kept in "+r.Rescue)
	}
	if r.WordsDir != "" {
		lines = append(lines, "what you wrote for it and it never got is kept in "+r.WordsDir, "  drop: "+errs.Line("rm -rf %s", errs.Quote(r.WordsDir)))
	}
	switch {
	case r.Trash == "":
		return lines
	case len(r.Aside) > 0:
		lines = append(lines, fmt.Sprintf("its directory is kept in %s, because of what git does not have: %s", r.Trash, strings.Join(r.Aside, ", ")))
	default:
		lines = append(lines, "its directory is kept in "+r.Trash)
	}
	return append(lines, "  drop: "+errs.Line("rm -rf %s", errs.Quote(filepath.Dir(r.Trash))))
}

// Removal is the plan for removing some agents of a session. Their branches stay, except those that
// have landed.
type Removal struct {
	Agents   []Agent
	Branches []Branch

	m worktree.Manager
}

// PlanRemoval plans the removal of agents. It refuses all of them when one cannot be removed.
func PlanRemoval(ctx context.Context, h *app.App, s *session.Session, names []string, o Options) (Removal, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return Removal{}, err
	}
	m = m.Remembering()
	r := Removal{m: m}
	f, err := atRest(ctx, h, s, names, o.Force)
	if err != nil {
		return r, err
	}
	var leaving []worktree.Plan
	var agents []session.Agent
	for _, found := range lookAtAgents(ctx, h, m, f, names, o) {
		p, err := planAgent(found, o)
		if err != nil {
			return r, err
		}
		p.Words = h.Texts().Words(s.Name, p.Name)
		r.Agents = append(r.Agents, p)
		leaving, agents = append(leaving, p.worktree), append(agents, found.agent.Record)
	}
	r.Branches = planLanded(lookAtLandings(ctx, m, s.Name, agents, leaving))
	return r, nil
}

// String describes the plan, line by line.
func (r Removal) String() string {
	var lines []string
	for i, p := range r.Agents {
		lines = append(append(lines, p.lines()...), r.Branches[i].line())
	}
	return strings.Join(lines, "\n")
}

// Apply removes the agent with index i.
func (r Removal) Apply(ctx context.Context, h *app.App, i int) (*Removed, error) {
	p := r.Agents[i]
	if s, err := h.Load(p.Session); err == nil {
		turns.CloseDead(ctx, h, s, p.Name)
	}
	rec, err := record(ctx, h, p.Session, p)
	if err != nil {
		return nil, err
	}
	h.Step("remove.recorded")
	return p.carryOut(ctx, h, r.m, rec, r.Branches[i:i+1])
}

// atRest refuses to end agents in the middle of a turn, unless force is set, and agents whose state
// is unknown. It returns the facts by which it decided.
func atRest(ctx context.Context, h *app.App, s *session.Session, names []string, force bool) (observe.Facts, error) {
	if !force {
		return observe.RefuseBusy(ctx, h, s, names...)
	}
	f, err := observe.Revived(ctx, h, s)
	if err != nil {
		return f, err
	}
	return f, observe.RefuseSilent(f, names)
}
