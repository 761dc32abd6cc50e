// Package live decides from facts alone: the state of an agent, by State, and what a parent is owed: which of its children
// have ended, whether their results are to be typed now, and with which words. It holds agents as live sessions while a
// paw works with them.
//
// A live session is built from facts that others gather from disk, tmux and locks. It is never saved, and a look
// replaces what it held before: the one truth is what the facts are made of. All decisions are pure.
package live

import (
	"maps"
	"strconv"

	"paw/session"
)

// Family is a parent and those of its children that are in the session, by name. A child that is awaited and not there
// has left the session.
type Family struct {
	Parent   Facts
	Children map[string]Facts
}

// Verdict is what to do about what a parent is owed.
type Verdict string

// The verdicts.
const (
	NothingOwed Verdict = "nothing owed" // or it was typed already, which happens once
	NotDue      Verdict = "not due"      // children are at work
	NotRunning  Verdict = "not running"  // its own next turn end claims it
	Busy        Verdict = "busy"         // in a turn, at a dialog, or nobody can tell: to be looked at again
	Due         Verdict = "due"
)

// Occasion is the moment at which it is decided whether a parent is told how its children ended.
type Occasion int

// The occasions. They differ for a parent that was started anew while it waited.
const (
	Told    Occasion = iota // something has ended, or the user is there: the parent is told once all have ended
	OwnEnd                  // the parent's own turn has ended: it takes any result
	Unasked                 // time has passed: it is told once all have ended, and at least one since it came back
)

// Decide says whether a parent is told now how its children ended.
func Decide(f Family, occasion Occasion) Verdict {
	w := f.Parent.Record.Wait
	if w == nil || w.TypedAt != nil || len(w.Children) == 0 {
		return NothingOwed
	}
	restarted := f.Restarted()
	if occasion == Unasked && restarted && !f.newSinceRestart() {
		return NotDue
	}
	ended := len(f.Ended())
	all := ended == len(w.Children)
	some := ended > 0 && (w.Any || restarted && occasion == OwnEnd)
	if !all && !some && f.beingTold() {
		return Busy
	}
	if !all && !some {
		return NotDue
	}
	return f.Parent.Ready()
}

// Restarted reports whether the parent was started anew while it waited.
func (f Family) Restarted() bool {
	w := f.Parent.Record.Wait
	return w != nil && f.Parent.Launch != 0 && w.Launch != 0 && f.Parent.Launch != w.Launch
}

// newSinceRestart reports whether a child has ended since the parent was started anew.
func (f Family) newSinceRestart() bool {
	resumed := f.Parent.Record.Wait.Resumed
	return resumed != nil && resumed.Launch == f.Parent.Launch && !maps.Equal(resumed.Ended, f.Telling())
}

// beingTold reports whether somebody is just about to find out whether a child that is left has got what it waited for
// itself. If it has not, that was its end, and nothing else will tell of it.
func (f Family) beingTold() bool {
	for _, name := range f.Left() {
		child := f.Children[name]
		if w := child.Record.Wait; w != nil && w.TypedAt != nil && child.Delivering {
			return true
		}
	}
	return false
}

// Ready reports whether a prompt may be typed.
func (f Facts) Ready() Verdict {
	if f.Launch == 0 {
		return NotRunning
	}
	switch f.Status.State {
	case session.StateRunning, session.StateWaitingInput, session.StateWaitingChildren:
		return Busy
	case session.StateUnknown:
		if !f.Status.Orphan && (!f.TurnsUnseen || !f.Running) {
			return Busy
		}
	case session.StateSuspended, session.StateIdle, session.StateCompleted, session.StateError:
	}
	if !f.Running {
		return NotRunning
	}
	return Due
}

// Ended are the awaited children that have ended, in the order in which they are awaited.
func (f Family) Ended() []string {
	return f.awaited(func(child Facts, there bool) bool { return !there || child.Ended() })
}

// Left are the awaited children that have not ended.
func (f Family) Left() []string {
	return f.awaited(func(child Facts, there bool) bool { return there && !child.Ended() })
}

func (f Family) awaited(is func(child Facts, there bool) bool) []string {
	if f.Parent.Record.Wait == nil {
		return nil
	}
	var names []string
	for _, name := range f.Parent.Record.Wait.Children {
		if child, there := f.Children[name]; is(child, there) {
			names = append(names, name)
		}
	}
	return names
}

// toldOfExit stands for the number of the last turn of a child that exited before it had one.
const toldOfExit = -1

// Telling is what the awaited children that have ended did last, by number of their turn, for session.Wait.Telling.
func (f Family) Telling() map[string]int {
	telling := map[string]int{}
	for _, name := range f.Ended() {
		child, there := f.Children[name]
		switch {
		case !there:
		case child.Last == nil:
			telling[name] = toldOfExit
		default:
			telling[name] = child.Last.Number
		}
	}
	return telling
}

// Results are how the awaited children that have ended did so.
func (f Family) Results() []Result {
	var results []Result
	for _, name := range f.Ended() {
		if child, there := f.Children[name]; there {
			results = append(results, child.Result())
		} else {
			results = append(results, Removed(name))
		}
	}
	return results
}

// Awaitable are the children that a parent which names none waits for: those at work and those with an end that it has
// not been told of.
func (f Family) Awaitable() []string {
	var names []string
	for _, branch := range f.Parent.Children {
		for name, child := range f.Children {
			if child.Branch == branch && (child.AtWork() || child.Ended() && !child.told()) {
				names = append(names, name)
			}
		}
	}
	return names
}

// told reports whether the parent knows of the agent's last turn, or of its exit without one.
func (f Facts) told() bool {
	if f.Last == nil {
		return f.Record.Told == toldOfExit
	}
	return f.Record.Told >= f.Last.Number
}

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
