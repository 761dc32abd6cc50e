package landing

import (
	"fmt"
	"strings"

	"paw/orchestrator/errs"
)

// Pulled is the result of paw pr.
type Pulled struct {
	Session, Agent      string
	Branch, Base        string // names on the server
	Remote              string
	Commit              string // commit that the remote's branch is at
	Title, Text         string
	Commits             int  // commits of the branch that its base lacks
	Uncommitted         int  // files that the agent had not committed; the last commit has them
	Nothing             bool // the base has all of the work already
	Pushed              bool // false if the remote had the commit already
	Address             string
	Asked, Open, ByHand bool     // created now; existed before; the user has to create it in the browser
	Plan                []string // only for a dry run
}

// uncommitted says that the last commit has what the agent did not commit, "" if there is none.
func (d *Pulled) uncommitted() string {
	if d.Uncommitted == 0 {
		return ""
	}
	return fmt.Sprintf("; what it has not committed, %s, is the last one", errs.Counted(d.Uncommitted, "file"))
}

// String says what was pushed, and where the pull request is.
func (d *Pulled) String() string {
	name := d.Session + "/" + d.Agent
	if d.Nothing {
		return fmt.Sprintf("%s: nothing to ask for, %s has all of it", name, d.Base)
	}
	text := fmt.Sprintf("%s has %s of %s already", d.Remote, d.Branch, name)
	if d.Pushed {
		text = fmt.Sprintf("pushed %s to %s as %s: %s", name, d.Remote, d.Branch, errs.Counted(d.Commits, "commit"))
	}
	text += d.uncommitted()
	switch {
	case d.ByHand && d.Address == "":
		return text + "\nask for a pull request into " + d.Base + " on the server" + d.words()
	case d.ByHand:
		return text + "\nask for a pull request: " + d.Address + d.words()
	case d.Open:
		return text + "\nopen already: " + d.Address
	case d.Address == "":
		return text + "\nthe browser asks for a pull request"
	}
	return text + "\n" + d.Address
}

// words returns title and text for a user who has to type them in the browser.
func (d *Pulled) words() string {
	return strings.TrimRight("\n\n"+d.Title+"\n\n"+d.Text, "\n")
}
