package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"paw/session"
	"paw/session/turn"
)

// situation is one way in which an agent can be, in words that a table can hold.
type situation struct {
	state session.State
	clis  string // "": seen, "unseen", "silent", "exited"
	turns string // "none", "open", "told", "new": the last turn, and whether its end was told of
	done  bool   // it said that it has finished, in that turn
	waits string // "": for nobody, "waits", "unconfirmed", "typing"
}

func (s situation) String() string {
	return fmt.Sprintf("%s %s turn %s done=%t %s", s.state, s.clis, s.turns, s.done, s.waits)
}

func (s situation) facts() Facts {
	f := Facts{
		Record: session.Agent{Name: "a", CLI: "demo"}, Status: session.AgentStatus{State: s.state},
		Exited: s.clis == "exited", TurnsUnseen: s.clis == "unseen", Delivering: s.waits == "typing",
	}
	if s.clis == "silent" {
		f.Status.Cause = session.CauseSilent
	}
	number := 0
	switch s.turns {
	case "open":
		number, f.Last = 3, &turn.Record{Number: 3, State: turn.InProgress}
	case "told":
		number, f.Last, f.Record.Told = 3, &turn.Record{Number: 3, State: turn.Finished}, 3
	case "new":
		number, f.Last, f.Record.Told = 3, &turn.Record{Number: 3, State: turn.Aborted}, 2
	}
	if s.done {
		f.Record.Done = &session.Done{Turn: number}
	}
	if s.waits != "" {
		f.Record.Wait = &session.Wait{ID: "1", Children: []string{"b"}}
	}
	if s.waits == "unconfirmed" || s.waits == "typing" {
		f.Record.Wait.TypedAt = &time.Time{}
	}
	return f
}

var allStates = []session.State{
	session.StateSuspended, session.StateIdle, session.StateRunning, session.StateWaitingInput, session.StateWaitingChildren,
	session.StateCompleted, session.StateError, session.StateUnknown,
}

// everySituation is each combination that can be.
func everySituation() []situation {
	var all []situation
	for _, state := range allStates {
		for _, clis := range []string{"", "unseen", "silent", "exited"} {
			exit := state == session.StateCompleted || state == session.StateError
			if clis == "exited" && !exit || (clis == "unseen" || clis == "silent") && state != session.StateUnknown {
				continue
			}
			for _, turns := range []string{"none", "open", "told", "new"} {
				for _, done := range []bool{false, true} {
					for _, waits := range []string{"", "waits", "unconfirmed", "typing"} {
						all = append(all, situation{state: state, clis: clis, turns: turns, done: done, waits: waits})
					}
				}
			}
		}
	}
	return all
}

// row is a line of a table of situations: words that must all fit, "" fits everything, "x|y" fits either.
type row struct {
	states, clis, turns, done, waits string
	want                             bool
}

func (r row) fits(s situation) bool {
	fits := func(pattern, value string) bool {
		return pattern == "" || slices.Contains(strings.Split(pattern, "|"), value)
	}
	waits := map[string]string{"": "no", "waits": "yes", "typing": "yes", "unconfirmed": "no"}[s.waits]
	clis := s.clis
	if clis == "" {
		clis = "seen"
	}
	return fits(r.states, string(s.state)) && fits(r.clis, clis) && fits(r.turns, s.turns) && fits(r.done, fmt.Sprint(s.done)) && fits(r.waits, waits)
}

// checkTable compares a predicate with the first row that fits, for all situations. Every row must be the first for one.
func checkTable(t *testing.T, rows []row, got func(Facts) bool) {
	t.Helper()
	used := make([]bool, len(rows))
	for _, s := range everySituation() {
		i := slices.IndexFunc(rows, func(r row) bool { return r.fits(s) })
		if i < 0 {
			t.Errorf("%s: no row", s)
			continue
		}
		used[i] = true
		if got := got(s.facts()); got != rows[i].want {
			t.Errorf("%s: %t, want %t (row %d)", s, got, rows[i].want, i)
		}
	}
	for i, used := range used {
		if !used {
			t.Errorf("row %d is never needed: %+v", i, rows[i])
		}
	}
}

func TestEnded(t *testing.T) {
	checkTable(t, []row{
		{clis: "exited", want: true},
		{waits: "yes", want: false},
		{states: "running|waiting_input|waiting_children", want: false},
		{turns: "none|open", want: false},
		{states: "unknown", clis: "seen|unseen", want: false},
		{turns: "new", want: true}, // also of a CLI that was brought back and is silent
		{turns: "told", done: "true", want: true},
		{turns: "told", want: false},
	}, Facts.Ended)
}

func TestFinished(t *testing.T) {
	checkTable(t, []row{
		{clis: "exited", want: true},
		{states: "suspended", want: true},
		{waits: "yes", want: false},
		{states: "running|waiting_input|waiting_children", want: false},
		{turns: "none|open", want: false},
		{clis: "silent", want: true},
		{states: "unknown", want: false},
		{want: true},
	}, Facts.Finished)
}

func TestAtWork(t *testing.T) {
	checkTable(t, []row{
		{clis: "exited", want: false},
		{waits: "yes", want: true},
		{turns: "open", want: true},
		{states: "running|waiting_input|waiting_children", want: true},
		{states: "idle", turns: "none", want: true}, // its first prompt is on the way
		{clis: "silent", turns: "none", want: true},
		{clis: "silent", want: false},
		{states: "unknown", want: true},
		{want: false},
	}, Facts.AtWork)
}

// An agent that is at work has not ended: a parent that waits for nobody in particular would be told of it twice.
func TestNobodyIsAtWorkAndHasEnded(t *testing.T) {
	for _, s := range everySituation() {
		if f := s.facts(); f.AtWork() && f.Ended() {
			t.Errorf("%s", s)
		}
	}
}

// An agent that another paw makes has its work before it, and one whose paw was killed has not.
func TestAnAgentThatIsBeingMade(t *testing.T) {
	f := situation{state: session.StateSuspended, turns: "none"}.facts()
	if f.Ended() || f.AtWork() || !f.Finished() {
		t.Errorf("stopped before its first turn: ended %t, at work %t, finished %t", f.Ended(), f.AtWork(), f.Finished())
	}
	f.Record.Phase = session.PhaseCreating
	if f.Ended() || f.AtWork() || !f.Finished() {
		t.Errorf("its paw was killed: ended %t, at work %t, finished %t", f.Ended(), f.AtWork(), f.Finished())
	}
	f.Status = Observation{Tmux: session.TmuxDead, Phase: session.PhaseCreating, Lock: session.LockFree, Made: true}.making()
	if f.Ended() || !f.AtWork() || f.Finished() {
		t.Errorf("being made: ended %t, at work %t, finished %t", f.Ended(), f.AtWork(), f.Finished())
	}
}

// That an agent left is the end of it, and not what becomes of it on the way.
func TestAnAgentThatIsBeingRemoved(t *testing.T) {
	for _, phase := range []session.Phase{session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving} {
		for _, s := range everySituation() {
			f := s.facts()
			f.Record.Phase = phase
			if f.Ended() || !f.AtWork() || f.Finished() {
				t.Errorf("%s, %s: ended %t, at work %t, finished %t", phase, s, f.Ended(), f.AtWork(), f.Finished())
			}
		}
	}
}

func TestWaitsAndUnconfirmed(t *testing.T) {
	for waits, want := range map[string][2]bool{"": {false, false}, "waits": {true, false}, "unconfirmed": {false, true}, "typing": {true, false}} {
		f := situation{state: session.StateIdle, turns: "told", waits: waits}.facts()
		if got := [2]bool{f.Waits(), f.Unconfirmed()}; got != want {
			t.Errorf("%q: waits, unconfirmed %v, want %v", waits, got, want)
		}
	}
}
