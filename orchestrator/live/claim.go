package live

import (
	"strconv"

	"paw/session"
)

// Claim is why somebody looks whether a parent is to be told of its children.
type Claim struct {
	OwnEnd  bool   // its own turn has ended
	Leaving string // a child whose CLI is about to exit, "" for none
	Hook    int    // process to wait for: a CLI waits for its hook, and takes no input until then
}

// Arguments are those of the hidden command that carries the claim out.
func (c Claim) Arguments(sessionName, parent string) []string {
	args := []string{"__deliver", sessionName, parent}
	if c.OwnEnd {
		args = append(args, "--own-end")
	}
	if c.Leaving != "" {
		args = append(args, "--leaving", c.Leaving)
	}
	if c.Hook != 0 {
		args = append(args, "--hook", strconv.Itoa(c.Hook))
	}
	return args
}

// Occasion is that of the look that carries the claim out.
func (c Claim) Occasion() Occasion {
	if c.OwnEnd {
		return OwnEnd
	}
	return Told
}

// Owed reports whether an agent waits and nothing was typed for it yet.
func Owed(w session.Worktree) bool { return w.Wait != nil && w.Wait.TypedAt == nil }
