package landing

import (
	"context"
	"strings"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree/gitdir"
)

// As is the form in which work lands, named as in paw land --as.
type As string

// The forms.
const (
	Squash  As = "squash"  // one commit
	Commits As = "commits" // each commit of the agent, then one for what is not committed
	Merge   As = "merge"   // a merge commit
)

// Forms lists the forms, the default first.
var Forms = []As{Squash, Commits, Merge}

// Options are the options of one landing.
type Options struct {
	Turn    string // turn whose end lands, "" for the present state
	State   string // state that the user was shown; another one does not land; "" for any
	Into    string // branch to land in, "" for the session's target
	As      As
	Again   bool                                                    // also land what the branch had and has lost
	Message string                                                  // message of the commit; "" makes one from the turns
	Edit    func(ctx context.Context, draft string) (string, error) // lets the user edit the message, nil for no edit
	DryRun  bool
	Sizes   bool // with DryRun: list the files with the size of each change, with Color in color
	Color   bool

	Checks  []string // in place of the configured checks
	NoCheck bool
	Handed  map[string]Handed // states of the agents of another machine, by name
	Fresh   bool              // also run checks that the tree has passed before
}

// lineOf returns the command line of paw for the end of a turn in place of the state that was asked
// for, or with "" for the present state. It is for hints.
type lineOf func(turn string) string

// line returns the command of a landing with these options, for hints: a hint that changes one
// option of what the user typed keeps the others. It leaves out State, which a changed option may
// not fit, and DryRun: a hint says how to land.
func (o Options) line(s *session.Session, agentName string) string {
	line := "paw land " + s.Name + "/" + agentName + atTurn(o.Turn) + branchFlag(s, "into", o.Into)
	if o.As != "" && o.As != Squash {
		line += " --as " + string(o.As)
	}
	if o.Message != "" {
		line += " --message " + errs.Quote(o.Message)
	}
	for _, check := range o.Checks {
		line += " --check " + errs.Quote(check)
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"no-check", o.NoCheck}, {"fresh", o.Fresh}, {"edit", o.Edit != nil}, {"again", o.Again}} {
		if flag.set {
			line += " --" + flag.name
		}
	}
	return line
}

// lineInto returns line with another branch.
func (o Options) lineInto(w work) func(branch string) string {
	return func(branch string) string {
		o.Into = branch
		return o.line(w.Session, w.Record.Name)
	}
}

// lineAt returns line with another turn.
func (o Options) lineAt(w work) lineOf {
	return func(turn string) string {
		o.Turn = turn
		return o.line(w.Session, w.Record.Name)
	}
}

// atTurn returns what follows the name of an agent whose state at the end of a turn is meant.
func atTurn(turn string) string {
	if turn == "" {
		return ""
	}
	return "@" + turn
}

// branchFlag returns a flag with a branch, with a space before it; "" for the session's target,
// which commands take by themselves.
func branchFlag(s *session.Session, flag, branch string) string {
	if branch == "" || branch == s.Target {
		return ""
	}
	return " --" + flag + " " + errs.Quote(branch)
}

// conflictLine returns the command that has an agent resolve the conflicts of its work with a
// branch.
func (w work) conflictLine(branch string) string {
	return "paw send " + w.name() + " --conflict" + branchFlag(w.Session, "into", branch)
}

// gitLine returns a git command for the checkout of a branch or, for a branch that is not checked
// out, for the directory that the user is in.
func gitLine(branch string, at *gitdir.Checkout, words ...string) string {
	command := strings.Join(words, " ")
	if at == nil {
		return "git switch " + errs.Quote(branch) + " && git " + command
	}
	return "git -C " + errs.Quote(at.Path) + " " + command
}
