package turn

import (
	"testing"
	"time"
)

// TestDecideWhileSubagentsWork: a turn whose CLI has answered goes on with its subagents until all have ended, or until somebody
// prompts the CLI.
func TestDecideWhileSubagentsWork(t *testing.T) {
	open := &Record{State: InProgress, Conversation: "c1", TurnID: "t1", Held: &Held{Message: "so far", Subagents: 2}}
	for name, c := range map[string]struct {
		e    Event
		want string
	}{
		"one of them has ended":      {Event{Kind: KindPrompt, TurnID: "t2", Type: TypeNotification, Prompt: "<task-notification>", Queued: true}, "execute <task-notification>, now t2"},
		"its report is answered":     {Event{Kind: KindEnd, TurnID: "t1", Message: "one is done", Subagents: 1}, "await one is done"},
		"all have ended":             {Event{Kind: KindEnd, TurnID: "t1", Message: "done"}, "finish done"},
		"all, with a hook of a user": {Event{Kind: KindEnd, TurnID: "t1", Message: "done", Held: true}, "hold done"},
		"a prompt":                   {Event{Kind: KindPrompt, TurnID: "t2", Prompt: "p"}, `finish so far; start prompt c1/t2 "p"`},
		"a message":                  {Event{Kind: KindPrompt, TurnID: "t2", Type: TypeMessage, Prompt: "m"}, `finish so far; start message c1/t2 "m"`},
		"interrupted":                {Event{Kind: KindInterrupt, TurnID: "t1"}, "abort interrupted"},
	} {
		if c.e.Conversation = "c1"; show(Decide(open, c.e)) != c.want {
			t.Errorf("%s: %s, want %s", name, show(Decide(open, c.e)), c.want)
		}
	}
}

// TestAwait: the log keeps that a turn waits for subagents, and its end is that of the last of them.
func TestAwait(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	one := New(Dir{Path: t.TempDir()}, 1, func() time.Time { return now })
	if err := one.Start(Start{Type: TypePrompt, Prompt: "p"}); err != nil {
		t.Fatal(err)
	}
	if err := one.Await(2, "so far"); err != nil {
		t.Fatal(err)
	}
	again, err := Open(one.Path(), func() time.Time { return now.Add(time.Minute) })
	if err != nil {
		t.Fatal(err)
	}
	if held := again.Record().Held; held == nil || held.Subagents != 2 || held.Message != "so far" || held.Snapshot != "" {
		t.Errorf("held %+v", held)
	}
	result, err := again.Finish(End{Outcome: "success", Snapshot: "s"})
	if err != nil || !result.EndedAt.Equal(now.Add(time.Minute)) {
		t.Errorf("ended at %s, %v", result.EndedAt, err)
	}
}

// TestAnEndThatWasNone: a CLI that goes on with another prompt in the turn has not ended it; the state that was held is not the last.
func TestAnEndThatWasNone(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		id   string
		held bool
	}{"the report of a subagent": {"t2", false}, "a prompt that waits": {"", true}} {
		one := New(Dir{Path: t.TempDir()}, 1, func() time.Time { return now })
		for _, err := range []error{
			one.Start(Start{Type: TypePrompt, Prompt: "p", TurnID: "t1"}), one.Hold(End{CommitHash: "c", Snapshot: "s", Message: "so far"}), one.Joined("q", c.id, ""),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := one.Record().Held != nil; got != c.held {
			t.Errorf("%s: held %v", name, got)
		}
	}
}
