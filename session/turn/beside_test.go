package turn

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDecideBesideAnotherConversation: what a CLI reports of a conversation while another one of it works for the open turn.
func TestDecideBesideAnotherConversation(t *testing.T) {
	alone := &Record{State: InProgress, Conversation: "c1", TurnID: "t1"}
	both := &Record{State: InProgress, Conversation: "c1", TurnID: "t2", OlderIDs: []string{"t1"}, Others: []string{"c2"}}
	asks := *both
	asks.Waiting, asks.Question, asks.Asked = true, "first?", []Asked{{Conversation: "c1", Question: "first?"}}
	ended := &Record{State: Finished, Conversation: "c1", TurnID: "t2", Others: []string{"c2"}}
	for name, c := range map[string]struct {
		last *Record
		e    Event
		want string
	}{
		"a second one is prompted":             {alone, Event{Kind: KindPrompt, Prompt: "p", Conversation: "c2", TurnID: "t2", Beside: true}, "conversation c2; execute p, now t2 in c2"},
		"a second one is opened":               {alone, Event{Kind: KindSessionStart, Source: SourceResume, Conversation: "c2", Beside: true}, ""},
		"the first one rests":                  {alone, Event{Kind: KindPrompt, Prompt: "p", Conversation: "c2", TurnID: "t2"}, "abort interrupted: another prompt began; conversation c2; start prompt c2/t2 \"p\""},
		"the first one goes on with a prompt":  {both, Event{Kind: KindPrompt, Prompt: "p", Conversation: "c1", TurnID: "t1"}, "conversation c1; execute p, now t1 in c1"},
		"the first one is prompted anew":       {both, Event{Kind: KindPrompt, Prompt: "p", Conversation: "c1", TurnID: "t3", Beside: true}, "conversation c1; execute p, now t3 in c1"},
		"a third one is prompted":              {both, Event{Kind: KindPrompt, Prompt: "p", Conversation: "c3", TurnID: "t3", Beside: true}, "conversation c3; execute p, now t3 in c3"},
		"the first one ends first":             {both, Event{Kind: KindEnd, Message: "done", Conversation: "c1", TurnID: "t1", Beside: true}, ""},
		"the second one ends first":            {both, Event{Kind: KindEnd, Message: "done", Conversation: "c2", TurnID: "t2", Beside: true}, ""},
		"the first one ends last":              {both, Event{Kind: KindEnd, Message: "done", Conversation: "c1", TurnID: "t1"}, "finish done"},
		"the second one ends last":             {both, Event{Kind: KindEnd, Message: "done", Conversation: "c2", TurnID: "t2"}, "finish done"},
		"one is interrupted":                   {both, Event{Kind: KindInterrupt, Conversation: "c2", TurnID: "t2", Beside: true}, "note one of its conversations was interrupted"},
		"one fails":                            {both, Event{Kind: KindError, ErrorType: "e", Message: "m", Conversation: "c1", TurnID: "t1", Beside: true}, "note in one of its conversations: error: e: m"},
		"the last one is interrupted":          {both, Event{Kind: KindInterrupt, Conversation: "c1", TurnID: "t1"}, "abort interrupted"},
		"another turn of one ends":             {both, Event{Kind: KindEnd, Conversation: "c2", TurnID: "t0", Beside: true}, ""},
		"one asks":                             {both, Event{Kind: KindInput, Message: "may I?", Conversation: "c1", TurnID: "t1", Beside: true}, "input may I? in c1"},
		"the other asks the same":              {&asks, Event{Kind: KindInput, Message: "first?", Conversation: "c2", TurnID: "t2", Beside: true}, "input first? in c2"},
		"one asks again":                       {&asks, Event{Kind: KindInput, Message: "first?", Conversation: "c1", TurnID: "t1", Beside: true}, ""},
		"one is left":                          {both, Event{Kind: KindSessionEnd, Source: "other", Conversation: "c2", Beside: true}, ""},
		"the CLI exits":                        {both, Event{Kind: KindSessionEnd, Source: "other", Conversation: "c2"}, "abort interrupted: the CLI exited"},
		"after the turn, in the first one":     {ended, Event{Kind: KindPrompt, Prompt: "p", Conversation: "c1", TurnID: "t4"}, `conversation c1; start prompt c1/t4 "p"`},
		"a conversation that nobody knows end": {both, Event{Kind: KindEnd, Conversation: "c9", TurnID: "t9", Beside: true}, ""},
	} {
		if got := show(Decide(c.last, c.e)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestSeveralAsk: each of several conversations has a question of its own, and a prompt to one answers none of another.
func TestSeveralAsk(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	one := New(Dir{Path: t.TempDir()}, 1, func() time.Time { now = now.Add(time.Second); return now })
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(one.Start(Start{Type: TypePrompt, Prompt: "p", Conversation: "c1", TurnID: "t1"}))
	must(one.Input("first?", ""))
	first := now
	must(one.Joined("q", "t2", "c2"))
	must(one.Input("second?", "c2"))
	want := []Asked{{"c1", "first?", first}, {"c2", "second?", now}}
	r := one.Record()
	if diff := cmp.Diff(want, r.Asked); diff != "" || !r.Waiting || r.Question != "first?" || !r.WaitingSince.Equal(first) {
		t.Errorf("%s\n%+v", diff, r)
	}
	must(one.Joined("r", "t1", "c1"))
	if r := one.Record(); r.Question != "second?" || len(r.Asked) != 1 || r.TurnID != "t1" || !cmp.Equal(r.Others, []string{"c2"}) {
		t.Errorf("%+v", r)
	}
	if _, err := one.Finish(End{}); err != nil || one.Record().Waiting || one.Record().Asked != nil {
		t.Errorf("%v, %+v", err, one.Record())
	}
}
