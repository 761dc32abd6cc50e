package live

import (
	"testing"
	"time"

	"paw/orchestrator/cli"
	"paw/session"
	"paw/session/turn"
)

func TestDoneDecidesTheState(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	after := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	const launch = "s/a/2"
	open := func(n int) *turn.Record {
		return &turn.Record{Number: n, State: turn.InProgress, Launch: launch, StartedAt: after(10), LastEventAt: after(12)}
	}
	closed := func(n int, state turn.State, reason turn.Reason, outcome string) *turn.Record {
		end := after(20)
		return &turn.Record{Number: n, State: state, Reason: reason, Outcome: outcome, Launch: launch, StartedAt: after(10), EndedAt: &end, LastEventAt: end, ErrorMessage: "overloaded"}
	}
	finished := closed(3, turn.Finished, "", "success")
	done := func(n int, outcome, message string) *session.Done {
		return &session.Done{Turn: n, Outcome: outcome, Message: message, At: after(15)}
	}
	for _, c := range []struct {
		name   string
		at     Observation
		turns  Turns
		done   *session.Done
		state  session.State
		source session.Source
		since  time.Time // zero: not looked at
		reason string
	}{
		{"said in the open turn", runs, Turns{Last: open(3)}, done(3, "success", "ready"), session.StateRunning, session.SourceHook, after(10), ""},
		{"after that turn", runs, Turns{Last: finished}, done(3, "success", "ready\nand more"), session.StateCompleted, session.SourceRecord, after(20), "ready"},
		{"said after the turn", runs, Turns{Last: finished}, &session.Done{Turn: 3, At: after(30)}, session.StateCompleted, session.SourceRecord, after(30), ""},
		{"failure", runs, Turns{Last: finished}, done(3, "failure", "no way"), session.StateError, session.SourceRecord, after(20), "no way"},
		{"error without a message", runs, Turns{Last: finished}, done(3, "error", ""), session.StateError, session.SourceRecord, after(20), "error"},
		{"another word", runs, Turns{Last: finished}, done(3, "partial", "half of it"), session.StateCompleted, session.SourceRecord, after(20), "half of it"},
		{"the outcome of the turn", runs, Turns{Last: closed(3, turn.Finished, "", "failure")}, done(3, "", "see the log"), session.StateError, session.SourceRecord, after(20), "see the log"},
		{"its own outcome comes first", runs, Turns{Last: closed(3, turn.Finished, "", "failure")}, done(3, "success", ""), session.StateCompleted, session.SourceRecord, after(20), ""},
		{"a later turn runs", runs, Turns{Last: open(4)}, done(3, "success", ""), session.StateRunning, session.SourceHook, after(10), ""},
		{"a later turn finished", runs, Turns{Last: closed(4, turn.Finished, "", "success")}, done(3, "success", ""), session.StateIdle, session.SourceHook, after(20), ""},
		{"a later turn failed", runs, Turns{Last: closed(4, turn.Aborted, turn.ReasonError, "")}, done(3, "success", ""), session.StateError, session.SourceHook, after(20), "overloaded"},
		{"its turn was cut afterwards", runs, Turns{Last: closed(3, turn.Aborted, turn.ReasonInterrupted, "")}, done(3, "", "ready"), session.StateCompleted, session.SourceRecord, after(20), "ready"},
		{"no turn was seen", runs, Turns{HooksSeen: after(1)}, done(0, "", "ready"), session.StateCompleted, session.SourceRecord, after(15), "ready"},
		{"a turn after none", runs, Turns{Last: closed(1, turn.Finished, "", "success")}, done(0, "", "ready"), session.StateIdle, session.SourceHook, after(20), ""},
		{"the CLI works on, by its own record", runs, Turns{Last: finished, Observed: cli.Observed{Known: true, Busy: true, At: after(25), Source: session.SourceRecord}}, done(3, "", ""), session.StateRunning, session.SourceRecord, time.Time{}, ""},
		{"its end was seen in the transcript only", runs, Turns{Last: open(3), Observed: cli.Observed{Known: true, Ended: &turn.Event{Kind: turn.KindEnd}, At: after(18), Source: session.SourceTranscript}}, done(3, "", "ready"), session.StateCompleted, session.SourceRecord, after(15), "ready"},
		{"recovered since", runs, Turns{Last: func() *turn.Record { r := *finished; r.Launch = "s/a/1"; return &r }()}, done(3, "", "ready"), session.StateCompleted, session.SourceRecord, after(20), "ready"},
		{"suspended", crashed, Turns{Last: finished}, done(3, "", ""), session.StateSuspended, session.SourceTmux, time.Time{}, "crash"},
		{"tmux silent", silent, Turns{Last: finished}, done(3, "", ""), session.StateUnknown, session.SourceNone, time.Time{}, "tmux did not answer"},
		{"exited with 0", exited(0), Turns{Last: finished}, done(3, "success", "ready"), session.StateCompleted, session.SourceTmux, time.Time{}, session.ReasonExited},
		{"exited with 0 after a failure", exited(0), Turns{Last: finished}, done(3, "failure", "no way"), session.StateError, session.SourceRecord, after(20), "no way"},
		{"exited with 0 after a failure of an earlier turn", exited(0), Turns{Last: closed(4, turn.Finished, "", "success")}, done(3, "failure", "no way"), session.StateCompleted, session.SourceTmux, time.Time{}, session.ReasonExited},
		{"exited with 3 after success", exited(3), Turns{Last: finished}, done(3, "success", "ready"), session.StateError, session.SourceTmux, time.Time{}, "exit code 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.at.Turns, c.at.Done, c.at.Now = c.turns, c.done, after(60)
			c.at.Visible, c.at.Launch = true, launch
			got := State(c.at)
			if got.State != c.state || got.Source != c.source || got.Reason != c.reason {
				t.Errorf("%s by %s (%q), want %s by %s (%q)", got.State, got.Source, got.Reason, c.state, c.source, c.reason)
			}
			if !c.since.IsZero() && (got.Since == nil || !got.Since.Equal(c.since)) {
				t.Errorf("since %v, want %v", got.Since, c.since)
			}
		})
	}
	// A CLI without hooks: what it says is all that is known, as long as no turn of it is open.
	unseen := runs
	unseen.Turns, unseen.Done = Turns{Last: finished, Launch: launch}, done(3, "", "ready")
	if got := State(unseen); got.State != session.StateCompleted {
		t.Errorf("without hooks: %+v", got)
	}
	for name, last := range map[string]*turn.Record{"in a later turn": open(4), "before its turn was closed": open(3)} {
		unseen.Last = last
		if got := State(unseen); got.Cause != session.CauseRuns {
			t.Errorf("without hooks, %s: %+v", name, got)
		}
	}
}
