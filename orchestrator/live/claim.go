package live

import (
	"strconv"

	"paw/session"
)

// Claim is the reason for an attempt to tell a parent how its children ended.
type Claim struct {
	OwnEnd  bool   // its own turn has ended
	Leaving string // a child whose CLI is about to exit, "" for none
	Hook    int    // process to wait for: a CLI waits for its hook, and takes no input until then
}

// Arguments are the words of the hidden command that makes the attempt.
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

// Occasion is the occasion of the attempt.
func (c Claim) Occasion() Occasion {
	if c.OwnEnd {
		return OwnEnd
	}
	return Told
}

// Owed reports whether an agent waits for children, and their results were not typed to it yet.
func Owed(w session.Agent) bool { return w.Wait != nil && w.Wait.TypedAt == nil }
