package fleet

import (
	"testing"
	"time"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/session/turn"
)

func TestDoneDecidesTheState(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	after := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	const launch = "s/a/2"
	runs := session.AgentStatus{State: session.StateUnknown, Source: session.SourceLock, Reason: session.ReasonNoTurns, Cause: session.CauseRuns}
	exited := func(code session.State, reason string) session.AgentStatus {
		return session.AgentStatus{State: code, Source: session.SourceTmux, Reason: reason}
	}
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
		base   session.AgentStatus
		facts  Turns
		state  session.State
		source session.Source
		since  time.Time // zero: not looked at
		reason string
	}{
		{"said in the open turn", runs, Turns{Last: open(3), done: done(3, "success", "ready")}, session.StateRunning, session.SourceHook, after(10), ""},
		{"after that turn", runs, Turns{Last: finished, done: done(3, "success", "ready\nand more")}, session.StateCompleted, session.SourceRecord, after(20), "ready"},
		{"said after the turn", runs, Turns{Last: finished, done: &session.Done{Turn: 3, At: after(30)}}, session.StateCompleted, session.SourceRecord, after(30), ""},
		{"failure", runs, Turns{Last: finished, done: done(3, "failure", "no way")}, session.StateError, session.SourceRecord, after(20), "no way"},
		{"error without a message", runs, Turns{Last: finished, done: done(3, "error", "")}, session.StateError, session.SourceRecord, after(20), "error"},
		{"another word", runs, Turns{Last: finished, done: done(3, "partial", "half of it")}, session.StateCompleted, session.SourceRecord, after(20), "half of it"},
		{"the outcome of the turn", runs, Turns{Last: closed(3, turn.Finished, "", "failure"), done: done(3, "", "see the log")}, session.StateError, session.SourceRecord, after(20), "see the log"},
		{"its own outcome comes first", runs, Turns{Last: closed(3, turn.Finished, "", "failure"), done: done(3, "success", "")}, session.StateCompleted, session.SourceRecord, after(20), ""},
		{"a later turn runs", runs, Turns{Last: open(4), done: done(3, "success", "")}, session.StateRunning, session.SourceHook, after(10), ""},
		{"a later turn finished", runs, Turns{Last: closed(4, turn.Finished, "", "success"), done: done(3, "success", "")}, session.StateIdle, session.SourceHook, after(20), ""},
		{"a later turn failed", runs, Turns{Last: closed(4, turn.Aborted, turn.ReasonError, ""), done: done(3, "success", "")}, session.StateError, session.SourceHook, after(20), "overloaded"},
		{"its turn was cut afterwards", runs, Turns{Last: closed(3, turn.Aborted, turn.ReasonInterrupted, ""), done: done(3, "", "ready")}, session.StateCompleted, session.SourceRecord, after(20), "ready"},
		{"no turn was seen", runs, Turns{HooksSeen: after(1), done: done(0, "", "ready")}, session.StateCompleted, session.SourceRecord, after(15), "ready"},
		{"a turn after none", runs, Turns{Last: closed(1, turn.Finished, "", "success"), done: done(0, "", "ready")}, session.StateIdle, session.SourceHook, after(20), ""},
		{"the CLI works on, by its own record", runs, Turns{Last: finished, done: done(3, "", ""), observed: agent.Observed{Known: true, Busy: true, At: after(25), Source: session.SourceRecord}}, session.StateRunning, session.SourceRecord, time.Time{}, ""},
		{"its end was seen in the transcript only", runs, Turns{Last: open(3), done: done(3, "", "ready"), observed: agent.Observed{Known: true, Ended: &turn.Event{Kind: turn.KindEnd}, At: after(18), Source: session.SourceTranscript}}, session.StateCompleted, session.SourceRecord, after(15), "ready"},
		{"recovered since", runs, Turns{Last: func() *turn.Record { r := *finished; r.Launch = "s/a/1"; return &r }(), done: done(3, "", "ready")}, session.StateCompleted, session.SourceRecord, after(20), "ready"},
		{"suspended", session.AgentStatus{State: session.StateSuspended, Source: session.SourceTmux, Reason: "crash"}, Turns{Last: finished, done: done(3, "", "")}, session.StateSuspended, session.SourceTmux, time.Time{}, "crash"},
		{"tmux silent", session.AgentStatus{State: session.StateUnknown, Source: session.SourceNone, Reason: "tmux did not answer"}, Turns{Last: finished, done: done(3, "", "")}, session.StateUnknown, session.SourceNone, time.Time{}, "tmux did not answer"},
		{"exited with 0", exited(session.StateCompleted, ""), Turns{Last: finished, done: done(3, "success", "ready")}, session.StateCompleted, session.SourceTmux, time.Time{}, ""},
		{"exited with 0 after a failure", exited(session.StateCompleted, ""), Turns{Last: finished, done: done(3, "failure", "no way")}, session.StateError, session.SourceRecord, after(20), "no way"},
		{"exited with 0 after a failure of an earlier turn", exited(session.StateCompleted, ""), Turns{Last: closed(4, turn.Finished, "", "success"), done: done(3, "failure", "no way")}, session.StateCompleted, session.SourceTmux, time.Time{}, ""},
		{"exited with 3 after success", exited(session.StateError, "exit code 3"), Turns{Last: finished, done: done(3, "success", "ready")}, session.StateError, session.SourceTmux, time.Time{}, "exit code 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.facts.Visible, c.facts.launch, c.facts.now = true, launch, after(60)
			got := WithTurnState(c.base, c.facts)
			if got.State != c.state || got.Source != c.source || got.Reason != c.reason {
				t.Errorf("%s by %s (%q), want %s by %s (%q)", got.State, got.Source, got.Reason, c.state, c.source, c.reason)
			}
			if !c.since.IsZero() && (got.Since == nil || !got.Since.Equal(c.since)) {
				t.Errorf("since %v, want %v", got.Since, c.since)
			}
		})
	}
	// A CLI without hooks: what it says is all that is known, as long as no turn of it is open.
	unseen := Turns{Last: finished, launch: launch, now: after(60), done: done(3, "", "ready")}
	if got := WithTurnState(runs, unseen); got.State != session.StateCompleted {
		t.Errorf("without hooks: %+v", got)
	}
	unseen.Last = open(4)
	if got := WithTurnState(runs, unseen); got != runs {
		t.Errorf("without hooks, in a later turn: %+v", got)
	}
	unseen.Last = open(3)
	if got := WithTurnState(runs, unseen); got != runs {
		t.Errorf("without hooks, before its turn was closed: %+v", got)
	}
}
