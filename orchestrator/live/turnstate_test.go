package live

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
	"paw/session"
	"paw/session/turn"
)

// runs and the others are places at which an agent can be; what its turns say comes to that.
var (
	runs    = Observation{Tmux: session.TmuxAlive, Lock: session.LockHeld, Pane: session.PaneAlive}
	silent  = Observation{Tmux: session.TmuxUnknown, Lock: session.LockHeld, Pane: session.PaneUnknown}
	orphan  = Observation{Tmux: session.TmuxAlive, Lock: session.LockHeld, Pane: session.PaneGone, HolderPID: 7}
	crashed = Observation{Tmux: session.TmuxAlive, Lock: session.LockFree, Pane: session.PaneGone, Phase: session.PhaseLive}
)

func exited(code int) Observation {
	return Observation{Tmux: session.TmuxAlive, Lock: session.LockFree, Pane: session.PaneDead, ExitCode: &code}
}

// TestAnAgentAwayFromItsPlace: that a CLI works outside of its pane or its worktree is said beside what it does.
func TestAnAgentAwayFromItsPlace(t *testing.T) {
	o := runs
	o.Turns = Turns{Visible: true, Launch: "s/a/1", Observed: cli.Observed{Known: true, Source: session.SourceRecord}}
	away, elsewhere, stray := o, o, o
	away.Observed.Away, elsewhere.Elsewhere, stray.Strays = 7, "/src/other", []string{"/src/a/.qwen/worktrees/b"}
	for reason, o := range map[string]Observation{
		"it left its pane and works in the background (pid 7)":    away,
		"it works in /src/other, not in its worktree":             elsewhere,
		"/src/a/.qwen/worktrees/b is a worktree that no turn has": stray,
	} {
		got := State(o)
		if got.State != session.StateIdle || got.Reason != reason || got.Away != (o.Observed.Away != 0) || got.Elsewhere == got.Away {
			t.Errorf("%+v", got)
		}
	}
}

func TestTurnsThatCannotBeSeenAreUnknown(t *testing.T) {
	o := runs
	o.Turns = Turns{Launch: "s/a/1", Last: &turn.Record{Number: 1, State: turn.InProgress, Launch: "s/a/1"}}
	if got := State(o); got.State != session.StateUnknown || got.Cause != session.CauseRuns {
		t.Errorf("a CLI without hooks whose prompt paw typed is %+v", got)
	}
}

func TestStateByTurns(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	after := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	ptr := func(t time.Time) *time.Time { return &t }
	const launch = "s/a/2"
	open := func() *turn.Record {
		return &turn.Record{Number: 4, State: turn.InProgress, Launch: launch, StartedAt: after(10), LastEventAt: after(12)}
	}
	closed := func(state turn.State, reason turn.Reason) *turn.Record {
		return &turn.Record{Number: 4, State: state, Reason: reason, Launch: launch, StartedAt: after(10), EndedAt: ptr(after(20)), LastEventAt: after(20)}
	}
	record := func(busy, waiting bool, second int) cli.Observed {
		return cli.Observed{Known: true, Busy: busy, Waiting: waiting, At: after(second), Source: session.SourceRecord}
	}
	late := func(second int) cli.Observed {
		o := record(false, true, second)
		o.Late = true
		return o
	}
	ended := func(kind turn.Kind, message string) cli.Observed {
		return cli.Observed{Known: true, Ended: &turn.Event{Kind: kind, Message: message}, At: after(15), Source: session.SourceTranscript}
	}
	endedAt := func(kind turn.Kind, second int) cli.Observed {
		o := ended(kind, "")
		o.At = after(second)
		return o
	}
	for _, c := range []struct {
		name   string
		at     Observation
		facts  Turns
		state  session.State
		source session.Source
		since  *time.Time
		says   string
	}{
		{name: "nothing known", at: runs, state: session.StateUnknown, source: session.SourceNone, says: "no hook"},
		{name: "hooks report, no turn yet", at: runs, facts: Turns{HooksSeen: after(1)}, state: session.StateIdle, source: session.SourceHook, since: ptr(after(1))},
		{name: "first prompt on its way", at: runs, facts: Turns{Prompted: true, Launched: after(1), HooksSeen: after(2)}, state: session.StateUnknown, source: session.SourceLock, since: ptr(after(1)), says: "first prompt"},
		{name: "first prompt on its way, record says idle", at: runs, facts: Turns{Prompted: true, Launched: after(1), Observed: record(false, false, 2)}, state: session.StateUnknown, source: session.SourceLock, says: "first prompt"},
		{name: "first prompt in a dialog", at: runs, facts: Turns{Prompted: true, Launched: after(1), Observed: record(false, true, 2)}, state: session.StateWaitingInput, source: session.SourceRecord},
		{name: "first prompt arrived", at: runs, facts: Turns{Prompted: true, Launched: after(1), Last: open()}, state: session.StateRunning, source: session.SourceHook},
		{name: "first prompt answered", at: runs, facts: Turns{Prompted: true, Launched: after(1), Last: closed(turn.Finished, "")}, state: session.StateIdle, source: session.SourceHook},
		{name: "first prompt was none", at: runs, facts: Turns{Prompted: true, Launched: after(-60), HooksSeen: after(2)}, state: session.StateIdle, source: session.SourceHook},
		{name: "record says idle, no hook", at: runs, facts: Turns{Observed: record(false, false, 2)}, state: session.StateIdle, source: session.SourceRecord, since: ptr(after(2))},
		{name: "record says busy without a turn", at: runs, facts: Turns{Observed: record(true, false, 2)}, state: session.StateRunning, source: session.SourceRecord},
		{name: "turn runs", at: runs, facts: Turns{Last: open()}, state: session.StateRunning, source: session.SourceHook, since: ptr(after(10))},
		{name: "turn waits by hook", at: runs, facts: Turns{Last: func() *turn.Record {
			r := open()
			r.Waiting, r.WaitingSince, r.Question = true, ptr(after(11)), "Bash?"
			return r
		}()}, state: session.StateWaitingInput, source: session.SourceHook, since: ptr(after(11)), says: "Bash?"},
		{name: "turn waits by record", at: runs, facts: Turns{Last: open(), Observed: record(false, true, 13)}, state: session.StateWaitingInput, source: session.SourceRecord},
		{name: "answered unseen, works on", at: runs, facts: Turns{Last: func() *turn.Record {
			r := open()
			r.Waiting, r.WaitingSince = true, ptr(after(11))
			return r
		}(), Observed: record(true, false, 13)}, state: session.StateRunning, source: session.SourceRecord, since: ptr(after(10))},
		{name: "interrupted unseen, by record", at: runs, facts: Turns{Last: open(), Observed: record(false, false, 14)}, state: session.StateIdle, source: session.SourceRecord, says: "interrupted"},
		{name: "record older than the last hook", at: runs, facts: Turns{Last: open(), Observed: record(false, false, 11)}, state: session.StateRunning, source: session.SourceHook},
		{name: "interrupted, by transcript", at: runs, facts: Turns{Last: open(), Observed: ended(turn.KindInterrupt, "")}, state: session.StateIdle, source: session.SourceTranscript, since: ptr(after(15)), says: "interrupted"},
		{name: "API error, by transcript", at: runs, facts: Turns{Last: open(), Observed: ended(turn.KindError, "401")}, state: session.StateError, source: session.SourceTranscript, says: "401"},
		{name: "ended, by transcript", at: runs, facts: Turns{Last: open(), Observed: ended(turn.KindEnd, "")}, state: session.StateIdle, source: session.SourceTranscript},
		{name: "ended, its hook is on its way", at: runs, facts: Turns{Last: open(), HooksSeen: after(1), Observed: endedAt(turn.KindEnd, 55)}, state: session.StateRunning, source: session.SourceHook, since: ptr(after(10))},
		{name: "ended, its hook writes it down", at: runs, facts: Turns{Last: open(), HooksSeen: after(1), Writing: true, Observed: ended(turn.KindEnd, "")}, state: session.StateRunning, source: session.SourceHook, since: ptr(after(10))},
		{name: "ended, no hook reports", at: runs, facts: Turns{Last: open(), Observed: endedAt(turn.KindEnd, 55)}, state: session.StateIdle, source: session.SourceTranscript},
		{name: "ended, its hook is lost", at: runs, facts: Turns{Last: open(), HooksSeen: after(1), Observed: endedAt(turn.KindEnd, 50)}, state: session.StateIdle, source: session.SourceTranscript},
		{name: "ended, as its hook said it might", at: runs, facts: Turns{Last: func() *turn.Record {
			r := open()
			r.Held = &turn.Held{At: after(54)}
			return r
		}(), HooksSeen: after(1), Observed: endedAt(turn.KindEnd, 55)}, state: session.StateIdle, source: session.SourceTranscript},
		{name: "API error, its hook is on its way", at: runs, facts: Turns{Last: open(), HooksSeen: after(1), Observed: endedAt(turn.KindError, 55)}, state: session.StateRunning, source: session.SourceHook, since: ptr(after(10))},
		{name: "API error, its hook writes it down", at: runs, facts: Turns{Last: open(), HooksSeen: after(1), Writing: true, Observed: ended(turn.KindError, "")}, state: session.StateRunning, source: session.SourceHook, since: ptr(after(10))},
		{name: "API error, no hook reports", at: runs, facts: Turns{Last: open(), Observed: endedAt(turn.KindError, 55)}, state: session.StateError, source: session.SourceTranscript},
		{name: "API error, its hook is lost", at: runs, facts: Turns{Last: open(), HooksSeen: after(1), Observed: endedAt(turn.KindError, 50)}, state: session.StateError, source: session.SourceTranscript},
		{name: "API error, which no hook of the CLI reports", at: runs, facts: Turns{Last: open(), HooksSeen: after(1), SilentErrors: true, Writing: true, Observed: endedAt(turn.KindError, 55)}, state: session.StateError, source: session.SourceTranscript},
		{name: "interrupted, its hook is on its way", at: runs, facts: Turns{Last: open(), HooksSeen: after(1), Writing: true, Observed: endedAt(turn.KindInterrupt, 55)}, state: session.StateIdle, source: session.SourceTranscript},
		{name: "turn finished", at: runs, facts: Turns{Last: closed(turn.Finished, "")}, state: session.StateIdle, source: session.SourceHook, since: ptr(after(20))},
		{name: "turn failed", at: runs, facts: Turns{Last: func() *turn.Record {
			r := closed(turn.Aborted, turn.ReasonError)
			r.ErrorMessage = "overloaded"
			return r
		}()}, state: session.StateError, source: session.SourceHook, says: "overloaded"},
		{name: "turn interrupted", at: runs, facts: Turns{Last: closed(turn.Aborted, turn.ReasonInterrupted)}, state: session.StateIdle, source: session.SourceHook, says: "interrupted"},
		{name: "busy again after the end", at: runs, facts: Turns{Last: closed(turn.Finished, ""), Observed: record(true, false, 25)}, state: session.StateRunning, source: session.SourceRecord},
		{name: "busy before paw closed the turn", at: runs, facts: Turns{Last: closed(turn.Aborted, turn.ReasonInterrupted), Observed: record(true, false, 15)}, state: session.StateIdle, source: session.SourceHook},
		{name: "turn of an earlier launch", at: runs, facts: Turns{Last: func() *turn.Record {
			r := open()
			r.Launch = "s/a/1"
			return r
		}()}, state: session.StateUnknown, source: session.SourceNone},
		{name: "record of an earlier launch", at: runs, facts: Turns{Launched: after(30), Observed: record(true, false, 20)}, state: session.StateUnknown, source: session.SourceNone},
		{name: "screen asks before the first hook", at: runs, facts: Turns{Screen: cli.Screen{Dialog: "trust?"}}, state: session.StateWaitingInput, source: session.SourceTmux, says: "trust?"},
		{name: "screen asks before the first prompt", at: runs, facts: Turns{Prompted: true, Launched: after(1), Screen: cli.Screen{Dialog: "trust?"}}, state: session.StateWaitingInput, source: session.SourceTmux, says: "trust?"},
		{name: "screen asks in a turn", at: runs, facts: Turns{Last: open(), Screen: cli.Screen{Dialog: "sure?"}}, state: session.StateWaitingInput, source: session.SourceTmux, says: "sure?"},
		{name: "screen asks more than a vague record", at: runs, facts: Turns{Last: open(), Screen: cli.Screen{Dialog: "sure?"}, Observed: func() cli.Observed {
			o := record(false, true, 13)
			o.Vague, o.Question = true, "asks for permission"
			return o
		}()}, state: session.StateWaitingInput, source: session.SourceRecord, says: "sure?"},
		{name: "screen asks less than the record", at: runs, facts: Turns{Last: open(), Screen: cli.Screen{Dialog: "a menu is open"}, Observed: func() cli.Observed {
			o := record(false, true, 13)
			o.Question = "Bash: ls"
			return o
		}()}, state: session.StateWaitingInput, source: session.SourceRecord, says: "Bash: ls"},
		{name: "screen shows a box before the first prompt", at: runs, facts: Turns{LateHooks: true, Screen: cli.Screen{Box: cli.BoxEmpty}}, state: session.StateIdle, source: session.SourceTmux},
		{name: "screen shows somebody's text", at: runs, facts: Turns{LateHooks: true, Screen: cli.Screen{Box: cli.BoxFilled}}, state: session.StateIdle, source: session.SourceTmux},
		{name: "screen shows a box, a prompt is on its way", at: runs, facts: Turns{LateHooks: true, Prompted: true, Launched: after(1), Screen: cli.Screen{Box: cli.BoxEmpty}}, state: session.StateUnknown, source: session.SourceLock, says: "first prompt"},
		{name: "screen shows a box, the first hook is overdue", at: runs, facts: Turns{Screen: cli.Screen{Box: cli.BoxEmpty}}, state: session.StateUnknown, source: session.SourceNone, says: "no hook"},
		{name: "screen shows work", at: runs, facts: Turns{Screen: cli.Screen{Box: cli.BoxEmpty, Works: true}}, state: session.StateRunning, source: session.SourceTmux},
		{name: "screen shows a box in a turn", at: runs, facts: Turns{Last: open(), Screen: cli.Screen{Box: cli.BoxEmpty}}, state: session.StateRunning, source: session.SourceHook},
		{name: "asked, screen shows work, the record is late", at: runs, facts: Turns{Last: open(), Observed: late(50), Screen: cli.Screen{Box: cli.BoxEmpty, Works: true}}, state: session.StateRunning, source: session.SourceTmux, since: ptr(after(10))},
		{name: "asked just now, screen shows work, the record is late", at: runs, facts: Turns{Last: open(), Observed: late(59), Screen: cli.Screen{Box: cli.BoxEmpty, Works: true}}, state: session.StateWaitingInput, source: session.SourceRecord},
		{name: "asked, screen shows a box, the record is late", at: runs, facts: Turns{Last: open(), Observed: late(50), Screen: cli.Screen{Box: cli.BoxEmpty}}, state: session.StateWaitingInput, source: session.SourceRecord},
		{name: "asked, screen shows work, the record is exact", at: runs, facts: Turns{Last: open(), Observed: record(false, true, 50), Screen: cli.Screen{Box: cli.BoxEmpty, Works: true}}, state: session.StateWaitingInput, source: session.SourceRecord},
		{name: "screen of a CLI that does not run", at: crashed, facts: Turns{Screen: cli.Screen{Box: cli.BoxEmpty}}, state: session.StateSuspended, source: session.SourceTmux},
		{name: "hooks cannot write, no turn", at: runs, facts: Turns{HooksSeen: after(1), Unrecorded: "its hooks cannot write /x"}, state: session.StateUnknown, source: session.SourceNone, says: "its hooks cannot write /x"},
		{name: "hooks cannot write, first prompt on its way", at: runs, facts: Turns{Prompted: true, Launched: after(1), Unrecorded: "its hooks cannot write /x"}, state: session.StateUnknown, source: session.SourceNone, says: "/x"},
		{name: "hooks cannot write, in a turn", at: runs, facts: Turns{Last: open(), Unrecorded: "its hooks cannot write /x"}, state: session.StateUnknown, source: session.SourceNone, says: "/x"},
		{name: "hooks cannot write, after a turn", at: runs, facts: Turns{Last: closed(turn.Finished, ""), Observed: record(false, false, 25), Unrecorded: "its hooks cannot write /x"}, state: session.StateUnknown, source: session.SourceNone, says: "/x"},
		{name: "hooks cannot write, an empty box", at: runs, facts: Turns{LateHooks: true, Screen: cli.Screen{Box: cli.BoxEmpty}, Unrecorded: "its hooks cannot write /x"}, state: session.StateUnknown, source: session.SourceNone, says: "/x"},
		{name: "hooks cannot write, screen asks", at: runs, facts: Turns{Screen: cli.Screen{Dialog: "trust?"}, Unrecorded: "its hooks cannot write /x"}, state: session.StateWaitingInput, source: session.SourceTmux, says: "trust?"},
		{name: "hooks cannot write, record asks", at: runs, facts: Turns{Observed: record(false, true, 13), Unrecorded: "its hooks cannot write /x"}, state: session.StateWaitingInput, source: session.SourceRecord},
		{name: "hooks cannot write, crashed", at: crashed, facts: Turns{Last: open(), Unrecorded: "its hooks cannot write /x"}, state: session.StateSuspended, source: session.SourceTmux, says: "crash, in turn 4"},
		{name: "crashed in a turn", at: crashed, facts: Turns{Last: open()}, state: session.StateSuspended, source: session.SourceTmux, says: "crash, in turn 4"},
		{name: "tmux silent", at: silent, facts: Turns{Last: open()}, state: session.StateUnknown, source: session.SourceNone},
		{name: "orphan", at: orphan, facts: Turns{Last: open()}, state: session.StateUnknown, source: session.SourceLock},
		{name: "exited", at: exited(0), facts: Turns{Last: closed(turn.Finished, "")}, state: session.StateCompleted, source: session.SourceTmux},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.at.Turns, c.at.Now = c.facts, after(60)
			c.at.Visible, c.at.Launch = true, launch
			got := State(c.at)
			if got.State != c.state || got.Source != c.source {
				t.Errorf("%s by %s, want %s by %s", got.State, got.Source, c.state, c.source)
			}
			if c.since != nil && (got.Since == nil || !got.Since.Equal(*c.since)) {
				t.Errorf("since %v, want %v", got.Since, *c.since)
			}
			if !strings.Contains(got.Reason, c.says) {
				t.Errorf("reason %q, want one with %q", got.Reason, c.says)
			}
		})
	}
}

func TestStateOfAHeadlessTurn(t *testing.T) {
	began := time.Now()
	o := orphan
	o.Headless, o.Turns = true, Turns{Launch: "shop/one/3", Last: &turn.Record{Launch: "shop/one/3", StartedAt: began}}
	if got := State(o); got.State != session.StateRunning || got.Since == nil || !got.Since.Equal(began) || got.Orphan {
		t.Errorf("%+v", got)
	}
	o.Last.State, o.Last.Waiting, o.Last.Question = turn.InProgress, true, "May I?"
	if got := State(o); got.State != session.StateWaitingInput || got.Reason != "May I?" {
		t.Errorf("it asks: %+v", got)
	}
	o.Launch = "shop/one/4"
	if got := State(o); got.State != session.StateRunning || got.Since != nil {
		t.Errorf("before its START: %+v", got)
	}
}

// TestTurnsThatWereCut: an agent that was brought back says which turn was cut or failed, until another one begins or it was seen.
func TestTurnsThatWereCut(t *testing.T) {
	ended := moment.Add(-time.Hour)
	aborted := func(reason turn.Reason, message string) *turn.Record {
		return &turn.Record{Number: 4, State: turn.Aborted, Reason: reason, ErrorMessage: message, Prompt: "do it\nall", Launch: "s/a/1", EndedAt: &ended}
	}
	limited := aborted(turn.ReasonError, "quota")
	limited.Limit = &turn.Limit{}
	until := func(end time.Time) *turn.Record {
		r := aborted(turn.ReasonError, "quota")
		r.Limit = &turn.Limit{Until: end}
		return r
	}
	own := aborted(turn.ReasonCrash, "")
	own.Launch = "s/a/2"
	for name, c := range map[string]struct {
		last    *turn.Record
		change  func(*Observation)
		says    string
		limited bool
	}{
		"crash":                {last: aborted(turn.ReasonCrash, ""), says: "turn 4 was cut: do it"},
		"stopped":              {last: aborted(turn.ReasonStopped, ""), says: "turn 4 was cut: do it"},
		"limit":                {last: limited, says: "turn 4 reached a usage limit: do it", limited: true},
		"a limit that goes on": {last: until(moment.Add(time.Minute)), says: "turn 4 reached a usage limit: do it", limited: true},
		"a lifted limit":       {last: until(moment), says: "turn 4 reached a usage limit: do it"},
		"its CLI exited":       {last: aborted(turn.ReasonInterrupted, "the CLI exited"), says: "turn 4 was cut: do it"},
		"failed":               {last: aborted(turn.ReasonError, "overloaded"), says: "turn 4 failed: overloaded"},
		"by the screen":        {last: aborted(turn.ReasonCrash, ""), says: "turn 4 was cut: do it", change: func(o *Observation) { o.HooksSeen, o.LateHooks, o.Screen.Box = time.Time{}, true, cli.BoxEmpty }},
		"seen":                 {last: aborted(turn.ReasonCrash, ""), change: func(o *Observation) { o.SeenCut = 4 }},
		"an older one seen":    {last: aborted(turn.ReasonCrash, ""), change: func(o *Observation) { o.SeenCut = 3 }, says: "turn 4 was cut: do it"},
		"said done":            {last: aborted(turn.ReasonCrash, ""), change: func(o *Observation) { o.Done = &session.Done{Turn: 4} }},
		"starting":             {last: aborted(turn.ReasonCrash, ""), change: func(o *Observation) { o.HooksSeen, o.Launched = time.Time{}, moment }},
		"Esc":                  {last: aborted(turn.ReasonInterrupted, "")},
		"finished":             {last: &turn.Record{Number: 4, State: turn.Finished, Launch: "s/a/1", EndedAt: &ended}},
		"of this launch":       {last: own},
		"no turn":              {},
	} {
		o := runs
		o.Now, o.Turns = moment, Turns{Visible: true, Launch: "s/a/2", Last: c.last, Launched: ended, HooksSeen: ended}
		if c.change != nil {
			c.change(&o)
		}
		got, cut := State(o), 0
		if c.says != "" {
			cut = 4
		}
		if got.CutTurn != cut || (got.Limit != nil) != c.limited || c.says != "" && (got.Reason != c.says || got.State != session.StateIdle) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestLimitedStates shows a usage limit as long as it is not lifted, in whatever state the agent is.
func TestLimitedStates(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(minutes int) *time.Time { t := now.Add(time.Duration(minutes) * time.Minute); return &t }
	until := func(minutes int) *turn.Limit { return &turn.Limit{Until: *at(minutes)} }
	failed := func(l *turn.Limit) Turns {
		return Turns{Last: &turn.Record{State: turn.Aborted, Reason: turn.ReasonError, ErrorMessage: "quota", Launch: "x", EndedAt: at(-9), Limit: l, LimitedSince: at(-9)}}
	}
	waits := func(l *turn.Limit) Turns {
		return Turns{Last: &turn.Record{State: turn.InProgress, ErrorMessage: "quota", Launch: "x", StartedAt: *at(-9), LastEventAt: *at(-8), Limit: l, LimitedSince: at(-8)}}
	}
	open := func(o cli.Observed, s cli.Screen) Turns {
		return Turns{Last: &turn.Record{State: turn.InProgress, Launch: "x", StartedAt: *at(-9), LastEventAt: *at(-8)}, Observed: o, Screen: s}
	}
	for _, c := range []struct {
		name  string
		facts Turns
		state session.State
		want  *session.Limit
		says  string
	}{
		{"ended the turn", failed(until(5)), session.StateError, &session.Limit{Until: *at(5)}, "quota"},
		{"ended the turn, lifted now", failed(until(0)), session.StateError, nil, "quota"},
		{"ended the turn, no time", failed(&turn.Limit{}), session.StateError, &session.Limit{}, "quota"},
		{"another error", failed(nil), session.StateError, nil, "quota"},
		{"waits for it", waits(until(5)), session.StateRunning, &session.Limit{Until: *at(5)}, "quota"},
		{"tries again", waits(until(-1)), session.StateRunning, nil, "quota"},
		{"ended the turn, by the transcript", open(cli.Observed{
			Known: true, At: *at(-1), Source: session.SourceTranscript, Ended: &turn.Event{Kind: turn.KindError, Message: "used up", Limit: until(5)},
		}, cli.Screen{}), session.StateError, &session.Limit{Until: *at(5)}, "used up"},
		{"asks what to do about it", func() Turns {
			f := failed(until(5))
			f.Screen = cli.Screen{Dialog: "asks whether to switch"}
			return f
		}(), session.StateError, &session.Limit{Until: *at(5)}, "quota; asks whether to switch"},
		{"a menu of an error", func() Turns {
			f := failed(nil)
			f.Screen = cli.Screen{Dialog: "a menu is open"}
			return f
		}(), session.StateError, nil, "quota"},
		{"another dialog", open(cli.Observed{}, cli.Screen{Dialog: "may I?"}), session.StateWaitingInput, nil, "may I?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := runs
			o.Turns, o.Now = c.facts, now
			o.Visible, o.Launch = true, "x"
			got := State(o)
			if diff := cmp.Diff(c.want, got.Limit); diff != "" || got.State != c.state || got.Reason != c.says && !strings.Contains(got.Reason, c.says) {
				t.Errorf("%s %q\n%s", got.State, got.Reason, diff)
			}
		})
	}
}

// TestStateSeenByHook: a hook shows the state that a look at everything shows a moment later.
func TestStateSeenByHook(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const launch = "s/a/2"
	record := func(state turn.State, change func(*turn.Record)) *turn.Record {
		r := &turn.Record{Number: 4, State: state, Launch: launch, StartedAt: now, LastEventAt: now}
		if state != turn.InProgress {
			r.EndedAt = &now
		}
		if change != nil {
			change(r)
		}
		return r
	}
	waits := session.Agent{Wait: &session.Wait{Children: []string{"c"}}}
	for _, c := range []struct {
		name string
		w    session.Agent
		last *turn.Record
		want session.State
	}{
		{"no turn yet", session.Agent{}, nil, session.StateIdle},
		{"a turn runs", session.Agent{}, record(turn.InProgress, nil), session.StateRunning},
		{"a question", session.Agent{}, record(turn.InProgress, func(r *turn.Record) { r.Waiting, r.WaitingSince = true, &now }), session.StateWaitingInput},
		{"a limit", session.Agent{}, record(turn.InProgress, func(r *turn.Record) { r.Limit, r.LimitedSince = &turn.Limit{}, &now }), session.StateRunning},
		{"finished", session.Agent{}, record(turn.Finished, nil), session.StateIdle},
		{"failed", session.Agent{}, record(turn.Aborted, func(r *turn.Record) { r.Reason = turn.ReasonError }), session.StateError},
		{"a turn of an earlier launch", session.Agent{}, record(turn.InProgress, func(r *turn.Record) { r.Launch = "s/a/1" }), session.StateIdle},
		{"said to be done", session.Agent{Done: &session.Done{Turn: 4}}, record(turn.Finished, nil), session.StateCompleted},
		{"said to be done in the turn", session.Agent{Done: &session.Done{Turn: 4}}, record(turn.InProgress, nil), session.StateRunning},
		{"waits for children", waits, record(turn.Finished, nil), session.StateWaitingChildren},
		{"waits for children in its turn", waits, record(turn.InProgress, nil), session.StateWaitingChildren},
	} {
		if got := State(SeenByHook(&c.w, c.last, launch, now)); got.State != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}
