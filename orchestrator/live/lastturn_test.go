package live

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
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
	ended := func(kind turn.Kind, message, typ string) cli.Observed {
		return cli.Observed{Known: true, At: then, Ended: &turn.Event{Kind: kind, Message: message, ErrorType: typ}}
	}
	other := open
	other.Launch = "s/a/1"
	seenAt := func(o cli.Observed, at time.Time) cli.Observed { o.At = at; return o }
	for name, c := range map[string]struct {
		at       Observation
		last     *turn.Record
		observed cli.Observed
		screen   string
		done     *session.Done
		want     *turn.Record
	}{
		"no turns":              {at: runs},
		"closed in the log":     {at: runs, last: &finished, want: &finished},
		"open":                  {at: runs, last: &open, want: &open},
		"ended unseen":          {at: runs, last: &open, observed: ended(turn.KindEnd, "all there\nand more", ""), want: &finished},
		"failed unseen":         {at: runs, last: &open, observed: ended(turn.KindError, "overloaded", "api"), want: &failed},
		"interrupted unseen":    {at: runs, last: &open, observed: ended(turn.KindInterrupt, "Esc", ""), want: ptrTo(closed(turn.Aborted, turn.ReasonInterrupted, "Esc", ""))},
		"idle without a word":   {at: runs, last: &open, observed: cli.Observed{Known: true, At: then}, want: ptrTo(closed(turn.Aborted, turn.ReasonInterrupted, "", ""))},
		"its hook is at work":   {at: runs, last: &open, observed: seenAt(ended(turn.KindInterrupt, "Esc", ""), now.Add(-time.Second)), want: &open},
		"of an earlier launch":  {at: runs, last: &other, want: &other},
		"cut, its CLI is dead":  {at: exited(3), last: &open, observed: ended(turn.KindEnd, "", ""), want: &open},
		"cut, it is suspended":  {at: crashed, last: &open, observed: ended(turn.KindEnd, "", ""), want: &open},
		"nothing can be known":  {at: silent, last: &open, observed: ended(turn.KindEnd, "", ""), want: &open},
		"waits for a person":    {at: runs, last: &open, observed: cli.Observed{Known: true, Waiting: true, At: then}, want: &open},
		"a dialog covers it":    {at: runs, last: &open, screen: "sure?", want: &open},
		"said done, hook to be": {at: runs, last: &open, done: &session.Done{Turn: 4}, observed: seenAt(ended(turn.KindInterrupt, "", ""), now), want: &open},
	} {
		t.Run(name, func(t *testing.T) {
			before := open
			o := c.at
			o.Now, o.Done = now, c.done
			o.Turns = Turns{Visible: true, Last: c.last, Launch: launch, Observed: c.observed, Screen: cli.Screen{Dialog: c.screen}}
			got := o.LastTurn(UnseenGrace)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(before, open); diff != "" {
				t.Errorf("what was observed has changed (-before +after)\n%s", diff)
			}
		})
	}
}

// The open turn of an agent is cut once its CLI does not run, and only then.
func TestCutTurn(t *testing.T) {
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	open := turn.Record{Number: 4, State: turn.InProgress, LastEventAt: then, Waiting: true}
	cut := open
	cut.State, cut.Reason, cut.EndedAt, cut.Waiting = turn.Aborted, turn.ReasonCrash, &then, false
	finished := cut
	finished.State, finished.Reason, finished.Outcome = turn.Finished, "", "success"
	for name, c := range map[string]struct {
		at    Observation
		last  *turn.Record
		ended *turn.Event
		want  *turn.Record
	}{
		"no turns":          {at: crashed},
		"closed in the log": {at: crashed, last: &cut},
		"runs":              {at: runs, last: &open},
		"tmux is silent":    {at: silent, last: &open},
		"suspended":         {at: crashed, last: &open, want: &cut},
		"its CLI has died":  {at: exited(3), last: &open, want: &cut},
		"had finished":      {at: crashed, last: &open, ended: &turn.Event{Kind: turn.KindEnd}, want: &finished},
	} {
		o := c.at
		o.Turns = Turns{Last: c.last, Observed: cli.Observed{Ended: c.ended}}
		if diff := cmp.Diff(c.want, o.CutTurn()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func ptrTo[T any](v T) *T { return &v }
