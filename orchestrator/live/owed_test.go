package live

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/session"
	"paw/session/turn"
)

var since = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func child(name string, state session.State, last *turn.Record, told int) Facts {
	return Facts{
		Branch: Branch{"/r", name}, Record: session.Agent{Name: name, CLI: "demo", Parent: "p", Told: told},
		Status: session.AgentStatus{State: state}, Running: true, Last: last,
	}
}

func ended(name string) Facts {
	return child(name, session.StateIdle, &turn.Record{Number: 2, State: turn.Finished, Outcome: "success"}, 1)
}

// unanswered is a child whose turn has ended, and for which tmux did not answer: the child may be at
// work again.
func unanswered(name string) Facts {
	one := ended(name)
	one.Running, one.Status = false, State(Observation{Lock: session.LockHeld, Pane: session.PaneUnknown, Tmux: session.TmuxUnknown})
	return one
}

func busy(name string) Facts {
	return child(name, session.StateRunning, &turn.Record{Number: 2, State: turn.InProgress}, 1)
}

// familyOf is a parent that waits for all these children and for those that left.
func familyOf(parent session.AgentStatus, children []Facts, left ...string) Family {
	f := Family{Parent: Facts{Branch: Branch{"/r", "p"}, Status: parent, Running: true, Launch: 3}, Children: map[string]Facts{}}
	w := &session.Wait{ID: "w", Since: since, Launch: 3}
	for _, c := range children {
		name := c.Record.Name
		f.Children[name], w.Children = c, append(w.Children, name)
		f.Parent.Children = append(f.Parent.Children, c.Branch)
	}
	w.Children = append(w.Children, left...)
	f.Parent.Record = session.Agent{Name: "p", CLI: "demo", Wait: w}
	return f
}

// ended4 is what had ended when the parent was brought back as its fourth launch.
func ended4(turns map[string]int) *session.Resumed { return &session.Resumed{Launch: 4, Ended: turns} }

func TestDecideWhetherItIsDue(t *testing.T) {
	idle := session.AgentStatus{State: session.StateIdle}
	for name, c := range map[string]struct {
		children  []Facts
		left      []string
		any       bool
		restarted bool
		on        Occasion
		resumed   *session.Resumed
		typed     bool
		want      Verdict
	}{
		"all at work":                            {children: []Facts{busy("a"), busy("b")}, want: NotDue},
		"all at work, any":                       {children: []Facts{busy("a"), busy("b")}, any: true, want: NotDue},
		"one of two":                             {children: []Facts{ended("a"), busy("b")}, want: NotDue},
		"one of two at its own end":              {children: []Facts{ended("a"), busy("b")}, on: OwnEnd, want: NotDue},
		"one of two, any":                        {children: []Facts{busy("a"), ended("b")}, any: true, want: Due},
		"all":                                    {children: []Facts{ended("a"), ended("b")}, want: Due},
		"all, at its own end":                    {children: []Facts{ended("a"), ended("b")}, on: OwnEnd, want: Due},
		"all, any":                               {children: []Facts{ended("a"), ended("b")}, any: true, want: Due},
		"one of two, parent restarted":           {children: []Facts{ended("a"), busy("b")}, restarted: true, want: NotDue},
		"one of two, parent restarted, own end":  {children: []Facts{ended("a"), busy("b")}, restarted: true, on: OwnEnd, want: Due},
		"none of two, parent restarted, own end": {children: []Facts{busy("a"), busy("b")}, restarted: true, on: OwnEnd, want: NotDue},
		"all, parent restarted":                  {children: []Facts{ended("a"), ended("b")}, restarted: true, want: Due},
		"one of two, unasked":                    {children: []Facts{ended("a"), busy("b")}, on: Unasked, want: NotDue},
		"all, unasked":                           {children: []Facts{ended("a"), ended("b")}, on: Unasked, want: Due},
		"all, restarted, unasked":                {children: []Facts{ended("a")}, restarted: true, on: Unasked, want: NotDue},
		"all since it came back, unasked":        {children: []Facts{ended("a")}, restarted: true, resumed: ended4(nil), on: Unasked, want: Due},
		"all once more since then, unasked":      {children: []Facts{ended("a")}, restarted: true, resumed: ended4(map[string]int{"a": 1}), on: Unasked, want: Due},
		"all before it came back, unasked":       {children: []Facts{ended("a")}, restarted: true, resumed: ended4(map[string]int{"a": 2}), on: Unasked, want: NotDue},
		"all since an earlier return, unasked":   {children: []Facts{ended("a")}, restarted: true, resumed: &session.Resumed{Launch: 2}, on: Unasked, want: NotDue},
		"one of two since then, unasked":         {children: []Facts{ended("a"), busy("b")}, restarted: true, resumed: ended4(nil), on: Unasked, want: NotDue},
		"all left":                               {left: []string{"a"}, want: Due},
		"one left, one at work":                  {children: []Facts{busy("b")}, left: []string{"a"}, want: NotDue},
		"one left, one at work, any":             {children: []Facts{busy("b")}, left: []string{"a"}, any: true, want: Due},
		"one left, one ended":                    {children: []Facts{ended("b")}, left: []string{"a"}, want: Due},
		"one of which tmux tells nothing":        {children: []Facts{ended("a"), unanswered("b")}, want: Busy},
		"one of which tmux tells nothing, any":   {children: []Facts{busy("a"), unanswered("b")}, any: true, want: Busy},
		"typed already":                          {children: []Facts{ended("a")}, typed: true, want: NothingOwed},
		"for nobody":                             {want: NothingOwed},
	} {
		t.Run(name, func(t *testing.T) {
			f := familyOf(idle, c.children, c.left...)
			f.Parent.Record.Wait.Any = c.any
			if c.typed {
				f.Parent.Record.Wait.TypedAt = &since
			}
			if c.restarted {
				f.Parent.Launch, f.Parent.Record.Wait.Resumed = 4, c.resumed
			}
			if got := Decide(f, c.on); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	told := ended("a")
	told.Record.Wait, told.Delivering = &session.Wait{ID: "v", Children: []string{"b"}, TypedAt: &since}, true
	if got := Decide(familyOf(idle, []Facts{told}), Told); got != Busy {
		t.Errorf("for a child that is just being told: %s", got)
	}
	told.Delivering = false
	if got := Decide(familyOf(idle, []Facts{told}), Told); got != Due {
		t.Errorf("for a child that was told and did not hear: %s", got)
	}
	if got := Decide(Family{Parent: Facts{Status: idle, Running: true}}, OwnEnd); got != NothingOwed {
		t.Errorf("without a wait: %s", got)
	}
}

// Whatever the parent does, only one that runs and rests gets a prompt typed.
func TestDecideWhetherItCanBeTyped(t *testing.T) {
	for _, state := range allStates {
		for _, running := range []bool{true, false} {
			for _, clis := range []string{"", "unseen", "silent", "orphan", session.ReasonTmuxSilent, session.ReasonForeign, session.ReasonStarting} {
				if clis != "" && state != session.StateUnknown {
					continue
				}
				f := familyOf(session.AgentStatus{State: state, Reason: clis, Orphan: clis == "orphan"}, []Facts{ended("a")})
				f.Parent.Running, f.Parent.TurnsUnseen = running, clis == "unseen"
				if clis == "silent" {
					f.Parent.Status.Cause = session.CauseSilent
				}
				want := NotRunning
				switch {
				case state == session.StateRunning, state == session.StateWaitingInput, state == session.StateWaitingChildren:
					want = Busy
				case state != session.StateUnknown && running, clis == "unseen" && running:
					want = Due
				case state == session.StateUnknown && clis != "orphan":
					want = Busy // it cannot be known what it does
				}
				if clis == "orphan" && running {
					continue // it has no pane
				}
				if got := Decide(f, Told); got != want {
					t.Errorf("%s %s running=%t: %s, want %s", state, clis, running, got, want)
				}
				f.Parent.Launch = 0 // nobody holds its lock: it starts, ended, or is no CLI of paw
				if got := Decide(f, Told); got != NotRunning {
					t.Errorf("%s %s without its CLI: %s", state, clis, got)
				}
			}
		}
	}
}

func TestWhatAPromptTellsOf(t *testing.T) {
	exited := child("c", session.StateError, nil, 0)
	exited.Exited = true
	f := familyOf(session.AgentStatus{State: session.StateIdle}, []Facts{busy("a"), ended("b"), exited}, "gone")
	if got, want := f.Ended(), []string{"b", "c", "gone"}; !slices.Equal(got, want) {
		t.Errorf("ended %v, want %v", got, want)
	}
	if got, want := f.Left(), []string{"a"}; !slices.Equal(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
	if got, want := f.Telling(), map[string]int{"b": 2, "c": -1}; !maps.Equal(got, want) {
		t.Errorf("telling %v, want %v", got, want)
	}
	var agents []string
	for _, r := range f.Results() {
		agents = append(agents, r.Agent+" "+r.Outcome)
	}
	if diff := cmp.Diff([]string{"b success", "c ", "gone removed"}, agents); diff != "" {
		t.Errorf("results (-want +got)\n%s", diff)
	}
	alone := Family{Parent: Facts{}}
	if len(alone.Ended())+len(alone.Left())+len(alone.Telling())+len(alone.Results()) != 0 {
		t.Error("without a wait there is something to tell")
	}
}

func TestAwaitable(t *testing.T) {
	told := ended("told")
	told.Record.Told = 2
	exited := child("exited", session.StateError, nil, 0)
	exited.Exited = true
	exitedTold := child("exited_told", session.StateError, nil, -1)
	exitedTold.Exited = true
	exitedLater := child("exited_later", session.StateError, &turn.Record{Number: 2, State: turn.Finished}, 2)
	exitedLater.Exited = true
	done := child("done", session.StateCompleted, &turn.Record{Number: 2, State: turn.Finished}, 2)
	done.Record.Done = &session.Done{Turn: 2}
	suspended := child("suspended", session.StateSuspended, nil, 0)
	cutOff := child("cut_off", session.StateSuspended, &turn.Record{Number: 1, State: turn.InProgress}, 0)
	f := familyOf(session.AgentStatus{State: session.StateRunning},
		[]Facts{ended("z"), busy("a"), told, exited, exitedTold, exitedLater, done, suspended, cutOff})
	f.Children["other"] = busy("other") // not a child of this parent
	if got, want := f.Awaitable(), []string{"z", "a", "exited", "cut_off"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestStateOfAParent(t *testing.T) {
	status := func(state session.State, reason string) session.AgentStatus {
		return session.AgentStatus{State: state, Source: session.SourceHook, Reason: reason}
	}
	waiting := func(reason string) session.AgentStatus {
		return session.AgentStatus{State: session.StateWaitingChildren, Since: &since, Source: session.SourceRecord, Reason: reason}
	}
	two := []Facts{busy("a"), ended("b")}
	for name, c := range map[string]struct {
		base session.AgentStatus
		want session.AgentStatus
	}{
		"idle":          {status(session.StateIdle, ""), waiting("waits for a (1 of 2 done)")},
		"running":       {status(session.StateRunning, ""), waiting("waits for a (1 of 2 done)")},
		"waiting_input": {status(session.StateWaitingInput, "push?"), waiting("waits for a (1 of 2 done); and for you: push?")},
		"suspended":     {status(session.StateSuspended, "crash"), waiting("waits for a (1 of 2 done); suspended: crash")},
		"error":         {status(session.StateError, "overloaded"), waiting("waits for a (1 of 2 done); overloaded")},
		"done":          {status(session.StateCompleted, "ready"), waiting("waits for a (1 of 2 done); ready")},
		"exited":        {status(session.StateCompleted, session.ReasonExited), waiting("waits for a (1 of 2 done); " + session.ReasonExited)},
		"unknown":       {status(session.StateUnknown, "tmux did not answer"), status(session.StateUnknown, "tmux did not answer; waits for a (1 of 2 done)")},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, familyOf(c.base, two).State()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			f := familyOf(c.base, two)
			f.Parent.Record.Wait = nil
			if diff := cmp.Diff(c.base, f.State()); diff != "" {
				t.Errorf("waits for nobody (-want +got)\n%s", diff)
			}
			f = familyOf(c.base, two)
			f.Parent.Record.Wait.TypedAt, f.Parent.Record.Wait.Telling = &since, map[string]int{"b": 2}
			unconfirmed := c.base
			unconfirmed.Reason = both("the results of b were typed and not confirmed", c.base.Reason)
			if diff := cmp.Diff(unconfirmed, f.State()); diff != "" {
				t.Errorf("unconfirmed (-want +got)\n%s", diff)
			}
			f.Parent.Delivering = true
			if diff := cmp.Diff(c.want, f.State()); diff != "" {
				t.Errorf("being typed (-want +got)\n%s", diff)
			}
		})
	}
	all := familyOf(status(session.StateIdle, ""), []Facts{ended("a"), ended("b")})
	if got, want := all.State().Reason, "waits for the results of a, b (2 of 2 done)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	gone := familyOf(status(session.StateIdle, ""), nil, "x")
	gone.Parent.Record.Wait.TypedAt = &since
	if got, want := gone.State().Reason, "the results of x were typed and not confirmed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRecall(t *testing.T) {
	idle := session.AgentStatus{State: session.StateIdle}
	typed := familyOf(idle, []Facts{ended("a"), ended("b")})
	typed.Parent.Record.Wait.TypedAt, typed.Parent.Record.Wait.Telling = &since, map[string]int{"a": 2, "b": 2}
	for name, c := range map[string]struct {
		f    Family
		want string
	}{
		"none ended":   {familyOf(idle, []Facts{busy("a"), busy("b")}), "waits for a, b: 0 of 2 ended"},
		"one ended":    {familyOf(idle, []Facts{ended("a"), busy("b")}), "waits for a, b: 1 of 2 ended; it goes on after the end of b, or with your next paw send, add or wait"},
		"all ended":    {familyOf(idle, []Facts{ended("a")}, "gone"), "waits for a, gone: 2 of 2 ended; it is told with your next paw send, add or wait"},
		"unconfirmed":  {typed, "the results of a, b were typed and not confirmed; paw wait a b shows them"},
		"nothing owed": {Family{Parent: Facts{Status: idle}}, ""},
	} {
		if got := Recall(c.f); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
