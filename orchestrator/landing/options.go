package landing

import (
	"context"
	"strings"

	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
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
	Without bool                                                    // take the turn out of the branch, in place of landing its end
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

// Handed is a state of an agent, taken on its machine.
type Handed struct {
	State string // commit of all its files
	Twin  string // that state in the agent's chain
	Head  string // commit of its branch
	Turn  int    // turn whose end the state is, 0 for the present or another state
	Turns []turns.Turn
	Err   *errs.Error // why the state could not be taken, nil if it was
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
