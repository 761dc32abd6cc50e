// Package live decides from facts: the state of an agent (State), and what a parent is owed: which
// of its children have ended, whether their results are to be typed now, and with which words. The
// package also keeps agents as live sessions in memory while a paw works with them.
//
// A live session is built from facts that its caller gathers from disk, tmux and locks. It is never
// saved, and each look replaces its facts. All decisions are pure.
package live

import (
	"maps"
	"slices"

	"paw/session"
	"paw/session/turn"
)

// Family is a parent and those of its children that are in the session, by name. An awaited child
// that is missing has left the session.
type Family struct {
	Parent   Facts
	Children map[string]Facts
}

// Verdict says whether a prompt may be typed to a parent now.
type Verdict string

// The verdicts.
const (
	NothingOwed Verdict = "nothing owed" // there is nothing to tell, or it was typed already: results are typed once
	NotDue      Verdict = "not due"      // children are still at work
	NotRunning  Verdict = "not running"  // the parent's CLI does not run: the end of the parent's next turn tries again
	Busy        Verdict = "busy"         // the parent is in a turn, at a dialog, or in an unknown state, or tmux did not answer: look again
	Due         Verdict = "due"
)

// Occasion is the reason for deciding whether to tell a parent how its children ended.
type Occasion string

// The occasions differ for a parent that was launched again while it waited.
const (
	Told    Occasion = "told"    // something has ended, or the user is there: tell the parent once all children have ended
	OwnEnd  Occasion = "own-end" // the parent's own turn has ended: tell the parent any result
	Unasked Occasion = "unasked" // time has passed: tell the parent once all children have ended, at least one of them since the parent was launched again
)

// Decide reports whether a parent is to be told now how its children ended.
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
	if !all && !some && (f.beingTold() || f.unseen()) {
		return Busy
	}
	if !all && !some {
		return NotDue
	}
	return f.Parent.Ready()
}

// Restarted reports whether the parent was launched again while it waited.
func (f Family) Restarted() bool {
	w := f.Parent.Record.Wait
	return w != nil && f.Parent.Launch != 0 && w.Launch != 0 && f.Parent.Launch != w.Launch
}

// newSinceRestart reports whether a child has ended since the parent was launched again.
func (f Family) newSinceRestart() bool {
	resumed := f.Parent.Record.Wait.Resumed
	return resumed != nil && resumed.Launch == f.Parent.Launch && !maps.Equal(resumed.Ended, f.Telling())
}

// beingTold reports whether a process is just finding out whether a remaining child has got its own
// results. If the child has not, that was the child's end, and nothing else will report it.
func (f Family) beingTold() bool {
	for _, name := range f.Left() {
		child := f.Children[name]
		if w := child.Record.Wait; w != nil && w.TypedAt != nil && child.Delivering {
			return true
		}
	}
	return false
}

// unseen reports whether tmux did not answer when a child was looked at whose end the parent has not
// been told. That child may have ended, so the caller has to look again.
func (f Family) unseen() bool {
	return slices.ContainsFunc(f.Left(), func(name string) bool { return f.Children[name].Status.Cause == session.CauseTmuxSilent })
}

// Ready reports whether a prompt may be typed.
func (f Facts) Ready() Verdict {
	if f.Launch == 0 {
		return NotRunning
	}
	unknown := f.Status.State == session.StateUnknown && !f.Status.Orphan && (!f.TurnsUnseen || !f.Running)
	if unknown || f.Status.State.Works() {
		return Busy
	}
	if !f.Running {
		return NotRunning
	}
	return Due
}

// Ended returns the awaited children that have ended, in the order of the wait.
func (f Family) Ended() []string {
	return f.awaited(func(child Facts, there bool) bool { return !there || child.Ended() })
}

// Left returns the awaited children that have not ended.
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

// toldOfExit stands for the last turn of a child that exited before it had a turn.
const toldOfExit = -1

// Telling returns, for session.Wait.Telling, the number of the last turn of each awaited child that
// has ended.
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

// Results returns the results of the awaited children that have ended.
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

// Awaitable returns the children that a parent waits for when it names none: those at work, and
// those with an end that it has not been told.
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

// Owed reports whether an agent waits for children whose results were not typed to it yet.
func Owed(w session.Agent) bool { return w.Wait != nil && w.Wait.TypedAt == nil }

// Branch identifies an agent: each has a branch of its own.
type Branch struct {
	Repository string // common git directory
	Name       string
}

// Facts holds what is known about one agent at one moment. A wait whose results have arrived is
// removed from Record here, even if it is still in the file.
type Facts struct {
	Branch   Branch
	Parent   Branch   // zero for none
	Children []Branch // children that are in the session now

	Record session.Agent
	Status session.AgentStatus // state of the agent's CLI, without the wait for children
	Last   *turn.Record        // last turn, closed if the CLI's own record has its end; nil without turns

	Running     bool     // the agent's CLI runs in its pane, and is not being stopped
	Launch      int      // generation of the running launch, 0 when the agent's CLI does not run
	Exited      bool     // the agent's CLI exited by itself
	TurnsUnseen bool     // the agent's CLI does not report turns
	Terminals   []string // terminals that show the agent's pane
	Blocked     []string // children for which the agent waits in a running paw wait
	Delivering  bool     // a process is finding out whether typed results of children have arrived
}

// closed reports whether the last turn exists and is over.
func (f Facts) closed() bool { return f.Last != nil && f.Last.State != turn.InProgress }

// saidDone reports whether the agent ran paw done, and has begun no turn since.
func (f Facts) saidDone() bool {
	return f.Record.Done != nil && f.Record.Done.Turn >= turn.NumberOf(f.Last)
}

// Waits reports whether the agent has still to be told how its children ended.
func (f Facts) Waits() bool { return f.Record.Wait != nil && !f.Unconfirmed() }

// Unconfirmed reports whether the results of the children were typed to the agent, nothing shows
// that they arrived, and no process is finding out.
func (f Facts) Unconfirmed() bool {
	return f.Record.Wait != nil && f.Record.Wait.TypedAt != nil && !f.Delivering
}

// Ended reports whether the agent has ended a turn, its work or its CLI since its parent was told
// last.
func (f Facts) Ended() bool {
	if f.Record.Phase.Removal() {
		return false // leaving the session is the agent's end
	}
	if f.Exited {
		return true // results of the agent's children cannot be delivered any more
	}
	return !f.Waits() && f.rests() && f.closed() && (turn.NumberOf(f.Last) > f.Record.Told || f.saidDone())
}

// AtWork reports whether the agent will reach an end without a further prompt.
func (f Facts) AtWork() bool {
	if f.Record.Phase.Removal() {
		return true
	}
	if f.Exited || f.Ended() {
		return false
	}
	if f.Waits() || f.Last != nil && f.Last.State == turn.InProgress {
		return true // a turn cut by a crash ends when the agent is recovered
	}
	switch f.Status.State {
	case session.StateIdle, session.StateUnknown:
		return !f.rests() || f.Last == nil // the first prompt is on the way
	case session.StateSuspended:
		return false
	default:
		return !f.rests()
	}
}

// Finished reports whether there is nothing to wait for: the agent has had a turn and none is open,
// or its CLI does not run.
func (f Facts) Finished() bool {
	if f.Record.Phase.Removal() {
		return false
	}
	if f.Exited || f.Status.State == session.StateSuspended {
		return true
	}
	return !f.Waits() && f.rests() && f.closed()
}

// rests reports whether the CLI is known to do nothing.
func (f Facts) rests() bool {
	if f.Status.State == session.StateUnknown {
		return f.Status.Cause == session.CauseSilent // the agent was brought back, and has got no prompt since
	}
	return !f.Status.State.Works()
}
