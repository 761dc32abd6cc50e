package fleet

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/session/turn"
)

// The CLI's own record closes a turn that no hook has closed, once it is clear that none will.
func TestLastTurn(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	then := now.Add(-time.Minute)
	const launch = "s/a/2"
	open := turn.Record{Number: 4, State: turn.InProgress, Launch: launch}
	closed := func(state turn.State, reason turn.Reason, message, outcome string) turn.Record {
		r := open
		r.State, r.Reason, r.ErrorMessage, r.Outcome, r.EndedAt = state, reason, message, outcome, &then
		return r
	}
	finished := closed(turn.Finished, "", "", "success")
	finished.Message = "all there"
	failed := closed(turn.Aborted, turn.ReasonError, "overloaded", "")
	failed.ErrorType = "api"
	idle := session.AgentStatus{State: session.StateIdle, Source: session.SourceTranscript}
	ended := func(kind turn.Kind, message, typ string) agent.Observed {
		return agent.Observed{Known: true, At: then, Ended: &turn.Event{Kind: kind, Message: message, ErrorType: typ}}
	}
	other := open
	other.Launch = "s/a/1"
	for name, c := range map[string]struct {
		status   session.AgentStatus
		last     *turn.Record
		observed agent.Observed
		want     *turn.Record
	}{
		"no turns":              {status: idle},
		"closed in the log":     {status: idle, last: &finished, want: &finished},
		"open":                  {status: session.AgentStatus{State: session.StateRunning}, last: &open, want: &open},
		"ended unseen":          {status: idle, last: &open, observed: ended(turn.KindEnd, "all there\nand more", ""), want: &finished},
		"failed unseen":         {status: session.AgentStatus{State: session.StateError, Source: session.SourceTranscript}, last: &open, observed: ended(turn.KindError, "overloaded", "api"), want: &failed},
		"interrupted unseen":    {status: idle, last: &open, observed: ended(turn.KindInterrupt, "Esc", ""), want: ptrTo(closed(turn.Aborted, turn.ReasonInterrupted, "Esc", ""))},
		"idle without a word":   {status: idle, last: &open, observed: agent.Observed{Known: true, At: then}, want: ptrTo(closed(turn.Aborted, turn.ReasonInterrupted, "", ""))},
		"its hook is at work":   {status: idle, last: &open, observed: agent.Observed{Known: true, At: now.Add(-time.Second), Ended: &turn.Event{Kind: turn.KindEnd}}, want: &open},
		"of an earlier launch":  {status: idle, last: &other, want: &other},
		"cut, its CLI is dead":  {status: session.AgentStatus{State: session.StateError, Source: session.SourceTmux}, last: &open, want: &open},
		"cut, it is suspended":  {status: session.AgentStatus{State: session.StateSuspended, Source: session.SourceTmux}, last: &open, want: &open},
		"nothing can be known":  {status: session.AgentStatus{State: session.StateUnknown}, last: &open, want: &open},
		"waits for a person":    {status: session.AgentStatus{State: session.StateWaitingInput}, last: &open, want: &open},
		"said done, hook to be": {status: session.AgentStatus{State: session.StateCompleted, Source: session.SourceRecord}, last: &open, observed: agent.Observed{Known: true, At: now}, want: &open},
	} {
		t.Run(name, func(t *testing.T) {
			before := open
			got := LastTurn(c.status, Turns{Last: c.last, launch: launch, observed: c.observed, now: now}, unseenGrace)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(before, open); diff != "" {
				t.Errorf("what was observed has changed (-before +after)\n%s", diff)
			}
		})
	}
}

func ptrTo[T any](v T) *T { return &v }
