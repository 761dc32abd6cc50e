package orchestrator

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

func TestHappened(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 12, minute, 0, 0, time.UTC) }
	agent := func(name string, last turn.Record) observe.Agent {
		return observe.Agent{Record: session.Agent{Name: name}, Turns: live.Turns{Last: &last}}
	}
	ended := func(minute int) *time.Time { return new(at(minute)) }
	got := HappenedIn(observe.SessionStatus{
		Session: &session.Session{Landings: []session.Landing{{Agent: "i18n", Target: "main", Title: "Add texts", At: at(7), Phase: session.LandingDone}, {Agent: "web", Phase: session.LandingBegun, At: at(9)}}},
		Seen: observe.Facts{Agents: []observe.Agent{
			agent("auth", turn.Record{Number: 2, State: turn.InProgress, Waiting: true, WaitingSince: ended(6), Question: "Run it?", Answered: &turn.Asked{Question: "Read it?", Since: at(5)}}),
			agent("billing", turn.Record{Number: 1, State: turn.Aborted, Reason: turn.ReasonError, ErrorMessage: "overloaded\nid 7", EndedAt: ended(2)}),
			agent("docs", turn.Record{Number: 3, State: turn.Finished, Message: "All is documented.\nMore.", EndedAt: ended(4)}),
			agent("perf", turn.Record{Number: 1, State: turn.Aborted, Reason: turn.ReasonCrash, EndedAt: ended(3)}),
			{Record: session.Agent{Name: "new"}},
		}},
	})
	want := []Happened{
		{at(2), "billing", "turn 1 failed: overloaded", true}, {at(3), "perf", "turn 1: crash", true}, {at(4), "docs", "turn 3 done: All is documented.", false},
		{at(5), "auth", "was answered: Read it?", false}, {at(6), "auth", "asks: Run it?", false}, {at(7), "i18n", "landed in main: Add texts", false},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
