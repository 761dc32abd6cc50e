package fleet

import "strings"

// Outlook is how the work of an agent would land.
type Outlook struct {
	Target  string   // branch that it lands on
	Changes int      // files that would change there
	Files   []string // that collide with it
	Others  []string // agents whose work collides with this one's
}

// CollidesWith names the branch and the agents that the work collides with: "nothing" where it would land, "" where there is nothing
// to land.
func (o *Outlook) CollidesWith() string {
	with := o.Others
	if len(o.Files) > 0 {
		with = append([]string{o.Target}, with...)
	}
	switch {
	case len(with) > 0:
		return strings.Join(with, ", ")
	case o.Changes == 0:
		return ""
	}
	return "nothing"
}
