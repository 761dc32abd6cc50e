package startplan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/session/history"
	"paw/session/turn"
)

// TestBadEnds: how a turn ended is said behind its last message, and nowhere for one that left none.
func TestBadEnds(t *testing.T) {
	second := func(n int) time.Time { return time.Date(2026, 1, 2, 3, 4, n, 0, time.UTC) }
	var messages []history.Message
	say := func(at int, role history.Role, text string) {
		messages = append(messages, history.Message{Role: role, Content: text, Timestamp: second(at)})
	}
	say(1, history.RoleUser, "one")
	say(2, history.RoleAssistant, "half")
	say(4, history.RoleSystem, "interrupted")
	say(11, history.RoleUser, "two")
	say(12, history.RoleAssistant, "done")
	say(31, history.RoleUser, "four")
	say(32, history.RoleAssistant, "failed")
	var turns []turn.Record
	ends := func(began, ended int, prompt string, end turn.Record) {
		at := second(ended)
		end.Number, end.Prompt, end.StartedAt, end.EndedAt = len(turns)+1, turn.Prompt(prompt), second(began), &at
		turns = append(turns, end)
	}
	ends(1, 3, "one", turn.Record{State: turn.Aborted, Reason: turn.ReasonInterrupted})
	ends(11, 13, "two", turn.Record{State: turn.Finished, Outcome: "success"})
	ends(21, 22, "three", turn.Record{State: turn.Aborted, Reason: turn.ReasonCrash})
	ends(31, 33, "four", turn.Record{State: turn.Finished, Outcome: "failure"})
	want := map[int]string{2: "turn 1: interrupted", 6: "turn 4: failure"}
	if diff := cmp.Diff(want, badEnds(messages, turns)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
