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
