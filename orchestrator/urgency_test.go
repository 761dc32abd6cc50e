package orchestrator

import (
	"strings"
	"testing"
	"time"

	"paw/orchestrator/observe"
	"paw/session"
)

// urgent makes agents of words NAME:STATE[:AGE[:NEW]], of one session.
func urgent(line string, now time.Time) observe.SessionStatus {
	states := map[string]session.State{"w": session.StateWaitingInput, "e": session.StateError, "r": session.StateRunning, "i": session.StateIdle,
		"c": session.StateCompleted, "u": session.StateUnknown, "s": session.StateSuspended, "k": session.StateWaitingChildren}
	st := observe.SessionStatus{Session: &session.Session{Name: "shop"}, Status: session.StatusActive}
	for _, word := range strings.Fields(line) {
		fields := strings.Split(word+"::", ":")
		ag := observe.AgentStatus{Record: session.Agent{Name: fields[0]}, PaneID: "%" + fields[0]}
		ag.State = states[fields[1]]
		if age, err := time.ParseDuration(fields[2]); err == nil {
			since := now.Add(-age)
			ag.Since = &since
		}
		ag.ToReview = len(fields[3])
		st.Agents = append(st.Agents, ag)
	}
	return st
}

func TestWhoComesNext(t *testing.T) {
	now := time.Now()
	for _, c := range []struct{ agents, here, want string }{
		{"", "", ""},
		{"a:i b:r:1m:x c:c d:u", "", ""},
		{"a:w:1m b:w:5m c:e:9m d:i:1h:xx", "", "b"},
		{"a:w:1m b:w:5m c:e:9m d:i:1h:xx", "%b", "a"},
		{"a:w:1m b:w:5m c:e:9m d:i:1h:xx", "%a", "c"},
		{"a:w:1m b:w:5m c:e:9m d:i:1h:xx", "%c", "d"},
		{"a:w:1m b:w:5m c:e:9m d:i:1h:xx", "%d", "b"},
		{"a:w:1m b:w:5m", "%elsewhere", "b"},
		{"a:w b:w:1s", "", "b"},
		{"a:i:2m:x b:c:3m:x", "", "b"},
		{"a:w:1m", "%a", "a"},
		{"a:s:1m b:i:9m:x", "", "a"},
	} {
		got := ""
		if u := nextOf(Urgents([]observe.SessionStatus{urgent(c.agents, now)}), c.here); u != nil {
			got = u.Agent.Record.Name
		}
		if got != c.want {
			t.Errorf("%s, at %q: %q, want %q", c.agents, c.here, got, c.want)
		}
	}
}

func TestGroups(t *testing.T) {
	for word, want := range map[string]Group{
		"w": NeedsYou, "e": NeedsYou, "s": NeedsYou, "r": Working, "k": Working, "u": Working, "i": Quiet, "c": Quiet,
		"w::x": NeedsYou, "r::x": Working, "i::x": ToReview, "c::x": ToReview,
	} {
		if got := GroupOf(urgent("a:"+word, time.Now()).Agents[0]); got != want {
			t.Errorf("%s: %d, want %d", word, got, want)
		}
	}
	stopped := urgent("a:s", time.Now()).Agents[0]
	for _, cause := range []session.Cause{session.CauseStopped, session.CauseClosed} {
		if stopped.Cause = cause; GroupOf(stopped) != Quiet {
			t.Errorf("an agent that the user has stopped, or closed, needs him: cause %d", cause)
		}
	}
}

// A limited agent needs the user, whatever it does: to wait, or to have another one go on.
func TestLimitedNeedsYou(t *testing.T) {
	for _, word := range []string{"r", "e", "w", "i::x"} {
		ag := urgent("a:"+word, time.Now()).Agents[0]
		if ag.Limit = (&session.Limit{}); GroupOf(ag) != NeedsYou {
			t.Errorf("%s: not under those that need the user", word)
		}
	}
}
