package observe

import (
	"testing"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
)

// Screens cost a process: they are looked at where they can tell more, and nowhere else.
func TestWhoseScreenIsLookedAt(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const launch = "s/a/1"
	open := &turn.Record{Number: 1, State: turn.InProgress, Launch: launch}
	ended := func(by *turn.Limit) *turn.Record {
		return &turn.Record{Number: 1, State: turn.Aborted, Reason: turn.ReasonError, Launch: launch, EndedAt: &now, Limit: by}
	}
	for name, c := range map[string]struct {
		turns           live.Turns
		pane            *tmux.Pane
		lock            session.LockState
		headless        bool
		plainly, closer bool
	}{
		"nothing known":        {pane: &tmux.Pane{}, plainly: true, closer: true},
		"a turn runs":          {turns: live.Turns{Last: open}, pane: &tmux.Pane{}, closer: true},
		"hooks report":         {turns: live.Turns{HooksSeen: now}, pane: &tmux.Pane{}},
		"waits, with words":    {turns: live.Turns{Last: open, Observed: cli.Observed{Known: true, Waiting: true, Question: "Bash: ls"}}, pane: &tmux.Pane{}},
		"waits, nobody says":   {turns: live.Turns{Last: open, Observed: cli.Observed{Known: true, Waiting: true, Vague: true}}, pane: &tmux.Pane{}, plainly: true, closer: true},
		"ended by a limit":     {turns: live.Turns{Last: ended(&turn.Limit{})}, pane: &tmux.Pane{}, plainly: true, closer: true},
		"ended by an error":    {turns: live.Turns{Last: ended(nil)}, pane: &tmux.Pane{}},
		"a headless turn":      {headless: true, pane: &tmux.Pane{}},
		"no pane":              {},
		"a dead pane":          {pane: &tmux.Pane{Dead: true}},
		"its CLI does not run": {pane: &tmux.Pane{}, lock: session.LockFree},
		"paw sees no turns":    {turns: live.Turns{Visible: false, Last: open}, pane: &tmux.Pane{}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.lock == "" {
				c.lock = session.LockHeld
			}
			c.turns.Visible, c.turns.Launch = name != "paw sees no turns", launch
			f := Facts{Session: &session.Session{Status: session.StatusActive}, Tmux: session.TmuxAlive, Now: now}
			a := Agent{Record: session.Agent{Phase: session.PhaseLive}, Pane: c.pane, Turns: c.turns}
			a.Lock.State, a.Lock.Holder.Headless, a.Lock.HolderAlive = c.lock, c.headless, true
			for look, want := range map[ScreenPolicy]bool{NotAtScreens: false, WhereUnknown: c.plainly, WhereRunning: c.closer} {
				if got := f.wantsLook(a, look); got != want {
					t.Errorf("closeness %d: %v, want %v", look, got, want)
				}
			}
		})
	}
}
