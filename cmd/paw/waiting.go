package main

import (
	"fmt"
	"strings"
	"time"

	"paw/orchestrator/children"
	"paw/session"
)

// waitingDelay is how long a wait is silent: what is over at once needs no line.
const waitingDelay = time.Second

// waitingLine is the line on a terminal that says for whom paw wait waits. Elsewhere it says nothing.
type waitingLine struct {
	lineBelow
	began time.Time
	noted bool
}

func (a *invocation) newWaitingLine(now time.Time) *waitingLine {
	return &waitingLine{lineBelow: lineBelow{a: a}, began: now}
}

// look says for whom the wait is, after a second; and once, for whom it may be long.
func (l *waitingLine) look(w *children.Waited, now time.Time) {
	waited := now.Sub(l.began)
	if waited < waitingDelay {
		return
	}
	if !l.noted {
		l.noted = true
		for _, note := range waitNotes(w) {
			l.a.note(note)
		}
	}
	if !l.a.json && isTerminal(l.a.stderr) {
		l.show(waitingText(w, waited))
	}
}

// waitingText is who has not finished, how many have, and for how long somebody waits.
func waitingText(w *children.Waited, waited time.Duration) string {
	var left []string
	done := 0
	for _, a := range w.Agents {
		switch {
		case a.Finished:
			done++
		case w.WaitsFor(a):
			left = append(left, a.Agent)
		}
	}
	return fmt.Sprintf("waiting for %s (%d of %d finished, %s)", strings.Join(left, ", "), done, done+len(left), waited.Truncate(time.Second))
}

// waitNotes name agents that nothing is under way for: a wait for them ends only when somebody does something.
func waitNotes(w *children.Waited) []string {
	var notes []string
	for _, a := range w.Agents {
		switch {
		case !w.WaitsFor(a):
		case a.Status.State == session.StateIdle && a.Turn == 0:
			notes = append(notes, a.Agent+": has had no turn yet; the wait goes on until it has finished one (paw send "+a.Agent+" TEXT)")
		case a.Status.State == session.StateUnknown && a.Status.Cause == session.CauseRuns:
			notes = append(notes, a.Agent+": paw does not see its turns; it counts as finished when its CLI has ended")
		}
	}
	return notes
}
