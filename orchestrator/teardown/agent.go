// Package teardown takes agents and sessions away: stop, remove and purge. Each looks first, decides in a plan that is a
// value with a text, and applies it. The text is what a dry run shows. Whoever applies a plan decides nothing: where the
// world has changed since, it refuses, or leaves what it cannot account for.
//
// Begin with Stop, Agent and Purge. The room may import observe, turns, landing and launch; it prompts nobody and tells no
// parent.
package teardown

import (
	"fmt"
	"path/filepath"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Options says how much of an agent goes.
type Options struct {
	KeepWorktree bool
	Force        bool // rescue what is not committed, then remove
	NoTeardown   bool // the project's command does not run before worktrees go
	DryRun       bool
	Tags         bool // of purge: turn tags, refs/paw and turn logs go, too
}

// Agent is what removing one agent comes to.
type Agent struct {
	Name     string
	CLI      string
	Session  string
	Branch   string
	Worktree string
	End      Ended
	Children []string // agents that it has started; they stay
	Place    Place
	Aside    []string     // why its directory stays in the trash: what git does not have, such as ignored folders
	Save     bool         // a commit is made first of all its files
	Holds    string       // what there is that is not committed, "" for nothing or where nobody can say
	Teardown app.Teardown // runs before the worktree goes
	Words    []string     // files with words of the user that it never got; they are moved away and stay

	torn        bool   // its teardown has begun; what that leaves behind is saved, and in nobody's way
	tornDown    bool   // its teardown is done
	clean       bool   // what would be saved by force is nothing
	repository  string // its path
	turnSession string
	phase       session.Phase // the intent that is recorded
	worktree    worktree.Plan
	seen        worktree.Seen // what its worktree was found to hold
}

// Place is what becomes of the worktree of an agent.
type Place int

// What can become of a worktree.
const (
	Stays   Place = iota // where it is, and is the user's
	Deleted              // by a move to the trash, in the background
	Trashed              // it stays in the trash
	Gone                 // nothing of it is there
)

// planAgent decides what removing an agent comes to, and refuses as long as anything would be lost.
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

// refuseUnclean refuses a worktree that holds what would be lost with it, or whose state cannot be read.
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

// savingNothing is the plan for an agent that is removed by force, and could be without.
func (p Agent) savingNothing() Agent {
	p.clean, p.Save, p.Place, p.Aside = true, false, Deleted, p.seen.Aside
	if len(p.Aside) > 0 {
		p.Place = Trashed
	}
	return p
}

// planRemoval is what an intent comes to, without a refusal.
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

// phase is the intent that a removal records.
func (f AgentFacts) phase(o Options) session.Phase {
	switch {
	case o.KeepWorktree:
		return session.PhaseLeaving
	case o.Force:
		return session.PhaseDiscarding
	}
	return session.PhaseRemoving
}

// String says what is to be done, line by line.
func (p Agent) String() string { return strings.Join(p.lines(), "\n") }

// lines say what is to be done with an agent and its worktree.
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

// Removed is what removing an agent did, and how to get it back.
type Removed struct {
	Agent
	RescueRef  string // holds what was not committed, with --force
	Rescue     string // refs that hold what only its git directory led to
	Trash      string // folder that was kept: with --force, or because of Aside
	WordsDir   string // folder with what the user wrote for it and it never got
	Landed     bool   // its branch went with it: all of that has landed
	BranchGone bool   // there was no such branch any more
	Back       bool   // an agent on its branch can have its worktree back, which stays
}

// Kept says where what is not deleted with an agent is, with the lines that bring it back or drop it for good.
func (r *Removed) Kept() []string {
	var lines []string
	if r.RescueRef != "" {
		git := "git -C " + errs.Quote(r.repository)
		lines = append(lines, "its files are in the commit "+r.RescueRef,
			"  back: "+git+" worktree add --detach "+errs.Quote(r.Worktree)+" "+r.RescueRef,
			"  drop: "+git+" update-ref -d "+r.RescueRef)
	}
	if r.Rescue != "" {
		lines = append(lines, "what only its git directory led to is kept in "+r.Rescue)
	}
	if r.WordsDir != "" {
		lines = append(lines, "what you wrote for it and it never got is kept in "+r.WordsDir, "  drop: rm -rf "+errs.Quote(r.WordsDir))
	}
	switch {
	case r.Trash == "":
		return lines
	case len(r.Aside) > 0:
		lines = append(lines, fmt.Sprintf("its directory is kept in %s, because of what git does not have: %s", r.Trash, strings.Join(r.Aside, ", ")))
	default:
		lines = append(lines, "its directory is kept in "+r.Trash)
	}
	return append(lines, "  drop: rm -rf "+errs.Quote(filepath.Dir(r.Trash)))
}
