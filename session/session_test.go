package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStatusIsLowerCase(t *testing.T) {
	for status, want := range map[Status]string{StatusActive: "active", StatusStopped: "stopped"} {
		if got := fmt.Sprint(status); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got, err := json.Marshal(status); err != nil || string(got) != `"`+want+`"` {
			t.Errorf("got %s, %v, want %q", got, err, want)
		}
	}
	if got := fmt.Sprintf("%v %v %v %v", PhaseCreating, PhaseLive, PhaseStopping, PhaseStopped); got != "creating live stopping stopped" {
		t.Errorf("got %q", got)
	}
}

func TestWorktreeIsChangedInPlace(t *testing.T) {
	s := &Session{Agents: []Agent{{Name: "one"}, {Name: "two"}}}
	s.Agent("two").TurnHighWater = 7
	if s.Agents[1].TurnHighWater != 7 {
		t.Error("the change went to a copy")
	}
	if s.Agent("three") != nil {
		t.Error("found an agent that is not there")
	}
}

func TestAddConversation(t *testing.T) {
	var w Agent
	if w.Conversation() != "" {
		t.Errorf("got %q from none", w.Conversation())
	}
	for _, step := range []struct {
		id   string
		want []string
	}{
		{"a", []string{"a"}},
		{"b", []string{"a", "b"}},
		{"", []string{"a", "b"}},
		{"b", []string{"a", "b"}},
		{"a", []string{"b", "a"}},
		{"c", []string{"b", "a", "c"}},
	} {
		before := slices.Clone(w.ConversationIDs)
		copied := w
		w.AddConversation(step.id)
		if diff := cmp.Diff(before, copied.ConversationIDs); diff != "" {
			t.Errorf("a copy changed with %q: %s", step.id, diff)
		}
		if diff := cmp.Diff(step.want, w.ConversationIDs); diff != "" {
			t.Errorf("after %q: %s", step.id, diff)
		}
		if got := w.Conversation(); got != step.want[len(step.want)-1] {
			t.Errorf("after %q: newest is %q", step.id, got)
		}
	}
}

// TestNumbersOfAgents: a number is of one agent as long as the session lives, up to those that one key types.
func TestNumbersOfAgents(t *testing.T) {
	s := &Session{}
	numbers := func() (all []int) {
		for i := range s.Agents {
			all = append(all, s.Number(i))
		}
		return all
	}
	is := func(when string, want ...int) {
		t.Helper()
		if got := numbers(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	s.Enlist(Agent{Name: "a"}, Agent{Name: "b"}, Agent{Name: "c"})
	is("at the start", 1, 2, 3)
	s.Agents = slices.Delete(s.Agents, 1, 2)
	is("one was removed", 1, 3)
	s.Agents = slices.Delete(s.Agents, 1, 2)
	s.Enlist(Agent{Name: "d", Number: 1})
	is("another was added", 1, 4)
	for range 5 {
		s.Enlist(Agent{Name: "more"})
	}
	is("up to nine", 1, 4, 5, 6, 7, 8, 9)
	s.Enlist(Agent{Name: "late"}, Agent{Name: "later"}, Agent{Name: "last"})
	is("behind nine", 1, 4, 5, 6, 7, 8, 9, 2, 3, 10)
	leave := func(name string) {
		s.GiveBackNumber(name)
		s.Agents = slices.DeleteFunc(s.Agents, func(a Agent) bool { return a.Name == name })
	}
	s = &Session{}
	s.Enlist(Agent{Name: "a"}, Agent{Name: "b"}, Agent{Name: "c"})
	leave("c")
	s.Enlist(Agent{Name: "d"})
	is("the last one did not start", 1, 2, 3)
	leave("b")
	s.Enlist(Agent{Name: "e"})
	is("one before the last did not start", 1, 3, 4)
	s = &Session{Agents: []Agent{{Name: "a"}, {Name: "b"}}}
	is("in an old record", 1, 2)
	s.Enlist(Agent{Name: "c"})
	is("added to an old record", 1, 2, 3)
}
