package live

import (
	"fmt"
	"slices"
	"strings"

	"paw/session"
)

// State is what is shown of a parent: what its CLI does, and what it waits for.
func (f Family) State() session.AgentStatus { return withWait(f.Parent.Status, f.waiting()) }

// waiting is what the parent waits for, nil where it waits for none.
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

// toldOf are the children that the typed prompt tells of, in the order in which they are awaited.
func toldOf(w *session.Wait) []string {
	var names []string
	for _, name := range w.Children {
		if _, told := w.Telling[name]; told {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return w.Children // it told of agents that left the session
	}
	return names
}

// Recall says, after a restart, what a parent is still owed; "" when that is nothing. Nobody prompts it by itself then.
func Recall(f Family) string {
	w := f.Parent.Record.Wait
	switch {
	case w == nil || len(w.Children) == 0:
		return ""
	case f.Parent.Unconfirmed():
		return "the results of " + strings.Join(toldOf(w), ", ") + " were typed and not confirmed; paw wait " + strings.Join(toldOf(w), " ") + " shows them"
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
