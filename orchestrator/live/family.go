package live

import (
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/errs"
	"paw/session"
)

// States returns the states of all agents of a look, including their waits for children.
func States(all []Facts) []session.AgentStatus {
	states := make([]session.AgentStatus, len(all))
	for i := range all {
		f, _ := FamilyOf(all, all[i].Branch)
		states[i] = f.State()
	}
	return states
}

// FamilyOf returns an agent of a look with its children.
func FamilyOf(all []Facts, branch Branch) (f Family, there bool) {
	f.Children = map[string]Facts{}
	for i := range all {
		if all[i].Branch == branch {
			f.Parent, there = all[i], true
		}
	}
	for i := range all {
		if slices.Contains(f.Parent.Children, all[i].Branch) {
			f.Children[all[i].Record.Name] = all[i]
		}
	}
	return f, there
}

// Awaits reports whether the parent waits for its children, or blocks until some have ended.
func (f Family) Awaits() bool { return f.Parent.Waits() || len(f.Parent.Blocked) > 0 }

// State returns the state of a parent, including its wait for children.
func (f Family) State() session.AgentStatus { return withWait(f.Parent.Status, f.waiting()) }

// waiting returns the parent's wait, nil where it waits for none.
func (f Family) waiting() *Waiting {
	w := f.Parent.Record.Wait
	if w == nil && len(f.Parent.Blocked) > 0 {
		return &Waiting{Children: f.Parent.Blocked, Left: slices.DeleteFunc(slices.Clone(f.Parent.Blocked), func(name string) bool {
			child, there := f.Children[name]
			return !there || child.Finished()
		})}
	}
	if w == nil {
		return nil
	}
	waiting := Waiting{Children: w.Children, Left: f.Left(), Since: w.Since}
	if f.Parent.Unconfirmed() {
		waiting.Unconfirmed = toldOf(w)
	}
	return &waiting
}

// toldOf returns the children whose results were typed, in the order of the wait.
func toldOf(w *session.Wait) []string {
	var names []string
	for _, name := range w.Children {
		if _, told := w.Telling[name]; told {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return w.Children // the results were of agents that have left the session
	}
	return names
}

// Recall describes, after a restart, what a parent is still owed; "" for nothing. paw does not
// prompt the parent by itself then.
func Recall(f Family) string {
	w := f.Parent.Record.Wait
	switch {
	case w == nil || len(w.Children) == 0:
		return ""
	case f.Parent.Unconfirmed():
		return "the results of " + strings.Join(toldOf(w), ", ") + " were typed and not confirmed; " + errs.Line("paw wait %s", strings.Join(toldOf(w), " ")) + " shows them"
	}
	text := fmt.Sprintf("waits for %s: %d of %d ended", strings.Join(w.Children, ", "), len(f.Ended()), len(w.Children))
	switch left := f.Left(); {
	case len(left) == 0:
		text += "; it is told with your next paw send, add or wait"
	case len(left) < len(w.Children):
		text += "; it goes on after the end of " + strings.Join(left, ", ") + ", or with your next paw send, add or wait"
	}
	return text
}
