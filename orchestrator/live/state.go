package live

import (
	"fmt"
	"strings"

	"paw/session"
)

// State is what is shown of a parent: what its CLI does, and what it waits for.
func State(f Family) session.AgentStatus {
	status := f.Parent.Status
	w := f.Parent.Record.Wait
	switch {
	case w == nil || len(w.Children) == 0:
		return status
	case f.Parent.Unconfirmed():
		status.Reason = both("the results of "+strings.Join(toldOf(w), ", ")+" were typed and not confirmed", status.Reason)
		return status
	case status.State == session.StateUnknown:
		status.Reason = both(status.Reason, f.waitsFor())
		return status
	}
	since := w.Since
	waiting := session.AgentStatus{
		State: session.StateWaitingChildren, Since: &since, Source: session.SourceRecord, Reason: f.waitsFor(), Orphan: status.Orphan,
	}
	switch status.State {
	case session.StateSuspended:
		waiting.Reason = both(waiting.Reason, string(status.State)+": "+status.Reason)
	case session.StateWaitingInput:
		waiting.Reason = both(waiting.Reason, "and for you: "+status.Reason)
	case session.StateError, session.StateCompleted:
		waiting.Reason = both(waiting.Reason, status.Reason)
	case session.StateIdle, session.StateRunning, session.StateWaitingChildren, session.StateUnknown:
	}
	return waiting
}

// waitsFor says whom the parent waits for, and how many have ended.
func (f Family) waitsFor() string {
	w := f.Parent.Record.Wait
	names, what := f.Left(), "waits for "
	if len(names) == 0 {
		names, what = w.Children, "waits for the results of "
	}
	return fmt.Sprintf("%s%s (%d of %d done)", what, strings.Join(names, ", "), len(f.Ended()), len(w.Children))
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

// both joins two reasons, either of which may be empty.
func both(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "; " + second
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
	if len(f.Ended()) > 0 {
		text += "; it goes on when you prompt it"
	}
	return text
}
