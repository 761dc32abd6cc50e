package observe

import (
	"slices"
	"strings"
)

// Forecast says how the work of one agent would land.
type Forecast struct {
	Agent     string
	Target    string   // branch that it lands on
	Commit    string   // its state
	Turn      int      // that is the end of this turn, 0 for its branch
	Files     int      // that would change in the target
	Conflicts []string // with the target
	Others    []string // agents whose work collides with this one's

	// Submodules are those that the landing would add, remove or move, which a checkout of the target cannot follow: paw
	// refuses it.
	Submodules []string

	// UncommittedSince is the turn after which files were not committed that may be there still: the branch has gone on
	// without them, so what would land is not known. 0 for none.
	UncommittedSince int

	// CutShort is the command that was killed while it moved the files of its worktree: what would land is not known. "" for none.
	CutShort string
}

// Lands reports whether there is anything to land.
func (o *Forecast) Lands() bool { return o.Files > 0 || len(o.Conflicts) > 0 }

// CollidesWith names the branch and the agents that the work collides with: "a submodule" where one keeps it from landing,
// "nothing" where it would land, "unknown" where nobody knows all of it, "" where there is nothing to land.
func (o *Forecast) CollidesWith() string {
	with := o.Others
	if len(o.Conflicts) > 0 {
		with = slices.Concat([]string{o.Target}, with)
	}
	switch {
	case len(with) > 0:
		return strings.Join(with, ", ")
	case len(o.Submodules) > 0:
		return "a submodule"
	case o.UncommittedSince > 0, o.CutShort != "":
		return "unknown"
	case !o.Lands():
		return ""
	}
	return "nothing"
}
