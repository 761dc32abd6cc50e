package orchestrator

import (
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/notify"
	"paw/session"
	"paw/session/turn"
)

func TestLimitWord(t *testing.T) {
	local := time.Local
	time.Local = time.FixedZone("there", 2*60*60)
	defer func() { time.Local = local }()
	hit := time.Date(2026, 11, 22, 14, 0, 0, 0, time.UTC)
	for until, want := range map[time.Time]string{
		{}: "limited",
		time.Date(2026, 11, 22, 16, 30, 59, 0, time.UTC): "limited until 18:30",
		time.Date(2026, 11, 22, 22, 0, 0, 0, time.UTC):   "limited until 23 Nov 00:00",
		time.Date(2026, 11, 29, 9, 5, 0, 0, time.UTC):    "limited until 29 Nov 11:05",
	} {
		for _, state := range []session.State{session.StateError, session.StateRunning, session.StateWaitingInput} {
			if got := (session.AgentStatus{State: state, Since: &hit, Limit: &session.Limit{Until: until}}).InWords(); got != want {
				t.Errorf("%s until %v: %q, not %q", state, until, got, want)
			}
		}
	}
	if got := (session.AgentStatus{State: session.StateError, Limit: &session.Limit{Until: hit}}).InWords(); got != "limited until 22 Nov 16:00" {
		t.Errorf("nobody knows since when: %q", got)
	}
}

func TestLimitsHappen(t *testing.T) {
	began, ended := time.Unix(100, 0), time.Unix(200, 0)
	limit := &turn.Limit{Until: time.Unix(900, 0)}
	for _, c := range []struct {
		name string
		last turn.Record
		want notify.Notice
	}{
		{"ended by it", turn.Record{Number: 2, State: turn.Aborted, Reason: turn.ReasonError, EndedAt: &ended, ErrorMessage: "quota", Limit: limit, LimitedSince: &ended}, notify.Notice{Version: 1, Event: config.NotifyLimit, Turn: 2, At: ended, Text: "quota"}},
		{"waits for it", turn.Record{Number: 2, State: turn.InProgress, StartedAt: began, ErrorMessage: "quota", Limit: limit, LimitedSince: &ended}, notify.Notice{Version: 1, Event: config.NotifyLimit, Turn: 2, At: ended, Text: "quota"}},
		{"another error", turn.Record{Number: 2, State: turn.Aborted, Reason: turn.ReasonError, EndedAt: &ended, ErrorMessage: "busy"}, notify.Notice{Version: 1, Event: config.NotifyError, Turn: 2, At: ended, Text: "busy"}},
	} {
		if got := eventOf(&c.last, began); got == nil || *got != c.want {
			t.Errorf("%s: %+v, not %+v", c.name, got, c.want)
		}
	}
}
