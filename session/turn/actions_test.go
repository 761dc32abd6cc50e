package turn

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// show writes actions in a line that a table can hold.
func show(actions []Action) string {
	words := make([]string, len(actions))
	for i, a := range actions {
		switch a.Do {
		case ActStart:
			words[i] = fmt.Sprintf("start %s %s/%s %q", a.Start.Type, a.Start.Conversation, a.Start.TurnID, a.Start.Prompt)
		case ActAbort:
			words[i] = "abort " + a.Abort.Error()
		case ActExecute:
			words[i] = strings.TrimSpace("execute " + a.Text)
			if a.TurnID != "" {
				words[i] += ", now " + a.TurnID
			}
			words[i] += inside(a.Conversation)
		default:
			words[i] = strings.TrimSpace(string(a.Do)+" "+a.Text) + inside(a.Conversation)
		}
	}
	return strings.Join(words, "; ")
}

// inside names the conversation of an action.
func inside(conversation string) string {
	if conversation == "" {
		return ""
	}
	return " in " + conversation
}

// The situations: what the last turn is and how the event's ids relate to it.
var situations = []struct {
	name string
	last *Record
	with func(*Event)
}{
	{"no turn", nil, ids("c1", "t1")},
	{"finished, same id", &Record{State: Finished, Conversation: "c1", TurnID: "t1"}, ids("c1", "t1")},
	{"finished, other id", &Record{State: Finished, Conversation: "c1", TurnID: "t1"}, ids("c1", "t2")},
	{"finished, no id", &Record{State: Finished, Conversation: "c1"}, ids("c1", "")},
	{"aborted, same id", &Record{State: Aborted, Reason: ReasonInterrupted, Conversation: "c1", TurnID: "t1"}, ids("c1", "t1")},
	{"failed, same id", &Record{State: Aborted, Reason: ReasonError, Conversation: "c1", TurnID: "t1"}, ids("c1", "t1")},
	{"open, same id", &Record{State: InProgress, Conversation: "c1", TurnID: "t1"}, ids("c1", "t1")},
	{"open, other id", &Record{State: InProgress, Conversation: "c1", TurnID: "t1"}, ids("c1", "t2")},
	{"open, event without id", &Record{State: InProgress, Conversation: "c1", TurnID: "t1"}, ids("c1", "")},
	{"open without id", &Record{State: InProgress, Conversation: "c1"}, ids("c1", "t1")},
	{"open, nothing known", &Record{State: InProgress}, ids("", "")},
	{"open, other conversation", &Record{State: InProgress, Conversation: "c1", TurnID: "t1"}, ids("c2", "t2")},
	{"open, same id, other conversation", &Record{State: InProgress, Conversation: "c1", TurnID: "t1"}, ids("c2", "t1")},
	{"open, other conversation, no ids", &Record{State: InProgress, Conversation: "c1"}, ids("c2", "")},
	{"waiting, same id", waiting("t1"), ids("c1", "t1")},
	{"waiting, other id", waiting("t1"), ids("c1", "t2")},
	{"waiting, event without id", waiting("t1"), ids("c1", "")},
	{"waiting, other conversation", waiting(""), ids("c2", "")},
}

func ids(conversation, turn string) func(*Event) {
	return func(e *Event) { e.Conversation, e.TurnID = conversation, turn }
}

func waiting(turn string) *Record {
	return &Record{State: InProgress, Conversation: "c1", TurnID: turn, Waiting: true, Question: "old?"}
}

// events are one event of each kind, and of each variety that counts.
var events = map[string]Event{
	"prompt":             {Kind: KindPrompt, Prompt: "p"},
	"prompt, empty":      {Kind: KindPrompt},
	"prompt, queued":     {Kind: KindPrompt, Prompt: "p", Queued: true},
	"prompt, typed":      {Kind: KindPrompt, Prompt: "p", Type: TypeNotification},
	"input":              {Kind: KindInput, Message: "new?"},
	"input, again":       {Kind: KindInput, Message: "old?"},
	"input, empty":       {Kind: KindInput},
	"limit":              {Kind: KindLimit, Message: "no more", Limit: &Limit{}},
	"answered":           {Kind: KindAnswered},
	"tool":               {Kind: KindTool},
	"end":                {Kind: KindEnd, Message: "done"},
	"end, held":          {Kind: KindEnd, Message: "done", Held: true},
	"end, subagents":     {Kind: KindEnd, Message: "done", Held: true, Subagents: 2},
	"end, again":         {Kind: KindEnd, Message: "done", Held: true, Again: true},
	"end, background":    {Kind: KindEnd, Message: "done", Background: 1},
	"error":              {Kind: KindError, ErrorType: "e", Message: "m"},
	"interrupt":          {Kind: KindInterrupt},
	"idle":               {Kind: KindIdle},
	"session end":        {Kind: KindSessionEnd, Source: "other"},
	"session end, empty": {Kind: KindSessionEnd},
	"left by clear":      {Kind: KindSessionEnd, Source: SourceClear},
	"left by resume":     {Kind: KindSessionEnd, Source: SourceResume},
	"startup":            {Kind: KindSessionStart, Source: SourceStartup},
	"start, no source":   {Kind: KindSessionStart},
	"clear":              {Kind: KindSessionStart, Source: SourceClear},
	"resume":             {Kind: KindSessionStart, Source: SourceResume},
	"fork":               {Kind: KindSessionStart, Source: SourceFork},
	"compact":            {Kind: KindSessionStart, Source: SourceCompact},
	"unknown":            {Kind: "later"},
}

const (
	other    = `abort interrupted: another prompt began; `
	startT1  = `start prompt c1/t1 "p"`
	startNew = `start prompt c1/ "p"`
	startT2  = `start prompt c1/t2 "p"`
	goesOn   = "execute"
	exited   = "abort interrupted: the CLI exited"
	again    = "abort interrupted: the conversation was taken up again"
	moved    = "abort interrupted: another conversation began; conversation c2"
	to2      = other + `conversation c2; start prompt c2/t2 "p"`
	to2noID  = other + `conversation c2; start prompt c2/ "p"`
)

// decisions is every event in every situation; a situation that is not named calls for nothing.
var decisions = map[string]map[string]string{
	"prompt": {
		"no turn":                           "conversation c1; " + startT1,
		"finished, same id":                 startNew,
		"finished, other id":                startT2,
		"finished, no id":                   `start prompt c1/ "p"`,
		"aborted, same id":                  startNew,
		"failed, same id":                   startNew,
		"open, same id":                     "execute p",
		"open, same id, other conversation": "execute p",
		"open, other id":                    other + startT2,
		"open, event without id":            other + `start prompt c1/ "p"`,
		"open without id":                   other + startT1,
		"open, nothing known":               other + `start prompt / "p"`,
		"open, other conversation":          to2,
		"open, other conversation, no ids":  to2noID,
		"waiting, same id":                  "execute p",
		"waiting, other id":                 other + startT2,
		"waiting, event without id":         other + `start prompt c1/ "p"`,
		"waiting, other conversation":       to2noID,
	},
	"prompt, empty": {
		"open, same id":             goesOn,
		"open, other id":            goesOn,
		"open, event without id":    goesOn,
		"open without id":           goesOn,
		"open, nothing known":       goesOn,
		"waiting, same id":          goesOn,
		"waiting, other id":         goesOn,
		"waiting, event without id": goesOn,
	},
	"prompt, queued": {
		"no turn":                           "conversation c1; " + startT1,
		"finished, same id":                 startNew,
		"finished, other id":                startT2,
		"finished, no id":                   `start prompt c1/ "p"`,
		"aborted, same id":                  startNew,
		"failed, same id":                   startNew,
		"open, same id":                     "execute p",
		"open, same id, other conversation": "execute p",
		"open, other id":                    "execute p, now t2",
		"open, event without id":            "execute p",
		"open without id":                   "execute p",
		"open, nothing known":               "execute p",
		"open, other conversation":          to2,
		"open, other conversation, no ids":  to2noID,
		"waiting, same id":                  "execute p",
		"waiting, other id":                 "execute p, now t2",
		"waiting, event without id":         "execute p",
		"waiting, other conversation":       to2noID,
	},
	"prompt, typed": {
		"no turn":                           `conversation c1; start task-notification c1/t1 "p"`,
		"finished, same id":                 `start task-notification c1/ "p"`,
		"finished, other id":                `start task-notification c1/t2 "p"`,
		"finished, no id":                   `start task-notification c1/ "p"`,
		"aborted, same id":                  `start task-notification c1/ "p"`,
		"failed, same id":                   `start task-notification c1/ "p"`,
		"open, same id":                     "execute p",
		"open, same id, other conversation": "execute p",
		"open, other id":                    other + `start task-notification c1/t2 "p"`,
		"open, event without id":            other + `start task-notification c1/ "p"`,
		"open without id":                   other + `start task-notification c1/t1 "p"`,
		"open, nothing known":               other + `start task-notification / "p"`,
		"open, other conversation":          other + `conversation c2; start task-notification c2/t2 "p"`,
		"open, other conversation, no ids":  other + `conversation c2; start task-notification c2/ "p"`,
		"waiting, same id":                  "execute p",
		"waiting, other id":                 other + `start task-notification c1/t2 "p"`,
		"waiting, event without id":         other + `start task-notification c1/ "p"`,
		"waiting, other conversation":       other + `conversation c2; start task-notification c2/ "p"`,
	},
	"input":        inTurn("input new?", "input new?"),
	"input, again": inTurn("input old?", ""),
	"input, empty": inTurn("input", ""),
	"limit":        inTurn("limit no more", "limit no more"),
	"answered":     inTurn("", "answered"),
	"tool":         inTurn("", "answered"),
	"end":          strayNote("end", inTurn("finish done", "finish done")),
	"end, held":    strayNote("end", inTurn("hold done", "hold done")),
	"end, again": with(strayNote("end", inTurn("hold done", "hold done")), map[string]string{
		"finished, same id": `start stop-hook c1/t1 "goes on after its end"; hold done`,
	}),
	"end, subagents": strayNote("end", inTurn("await done", "await done")),
	"end, background": strayNote("end", inTurn(
		"note 1 background task is still running; finish done", "note 1 background task is still running; finish done")),
	"error": with(strayNote("error", inTurn("abort error: e: m", "abort error: e: m")), map[string]string{
		"finished, same id": "note after its end: error: e: m",
		"aborted, same id":  "note after its end: error: e: m",
	}),
	"interrupt":          strayNote("interrupt", inTurn("abort interrupted", "abort interrupted")),
	"idle":               {},
	"session end":        inConversation(exited),
	"session end, empty": inConversation(exited),
	"left by clear":      {},
	"left by resume":     {},
	"startup":            {"no turn": "conversation c1"},
	"start, no source":   {"no turn": "conversation c1"},
	"clear":              takenUp(),
	"resume":             takenUp(),
	"fork":               takenUp(),
	"compact": {
		"no turn":                           "conversation c1",
		"open, other conversation":          "conversation c2",
		"open, same id, other conversation": "conversation c2",
		"open, other conversation, no ids":  "conversation c2",
		"waiting, other conversation":       "conversation c2",
	},
	"unknown": {},
}

// inTurn is what an event of the open turn calls for, at work and waiting for the user.
func inTurn(atWork, whileWaiting string) map[string]string {
	return map[string]string{
		"open, same id": atWork, "open, same id, other conversation": atWork, "open, event without id": atWork, "open without id": atWork, "open, nothing known": atWork,
		"waiting, same id": whileWaiting, "waiting, event without id": whileWaiting,
	}
}

// strayNote adds the note about an event of another turn in the same conversation.
func strayNote(kind string, table map[string]string) map[string]string {
	note := "note " + kind + " of another turn, t2"
	return with(table, map[string]string{"open, other id": note, "waiting, other id": note})
}

// inConversation is what an event of the open turn's conversation calls for, whatever turn it names.
func inConversation(action string) map[string]string {
	return with(inTurn(action, action), map[string]string{
		"open, other id": action, "waiting, other id": action, "open, same id, other conversation": "",
	})
}

// takenUp is what the start of a conversation calls for that is not a new one's.
func takenUp() map[string]string {
	return with(inConversation(again), map[string]string{
		"no turn":                           "conversation c1",
		"open, other conversation":          moved,
		"open, same id, other conversation": moved,
		"open, other conversation, no ids":  moved,
		"waiting, other conversation":       moved,
	})
}

func with(table, more map[string]string) map[string]string {
	for k, v := range more {
		table[k] = v
	}
	return table
}

func TestDecideEveryEventInEverySituation(t *testing.T) {
	for name, event := range events {
		table, ok := decisions[name]
		if !ok {
			t.Errorf("no decisions about %s", name)
		}
		known := map[string]bool{}
		for _, s := range situations {
			known[s.name] = true
			e := event
			s.with(&e)
			if got := show(Decide(s.last, e)); got != table[s.name] {
				t.Errorf("%s; %s:\n got %s\nwant %s", s.name, name, got, table[s.name])
			}
			e.Child = true
			if got := Decide(s.last, e); got != nil {
				t.Errorf("%s; %s of a child: %s", s.name, name, show(got))
			}
		}
		for situation := range table {
			if !known[situation] {
				t.Errorf("%s: no situation %q", name, situation)
			}
		}
	}
	if len(decisions) != len(events) {
		t.Errorf("%d decisions about %d events", len(decisions), len(events))
	}
}

func TestDecideKnowsEveryKind(t *testing.T) {
	tested := map[Kind]bool{}
	for _, e := range events {
		tested[e.Kind] = true
	}
	for _, kind := range []Kind{
		KindSessionStart, KindPrompt, KindInput, KindLimit, KindAnswered, KindTool, KindEnd, KindError, KindInterrupt, KindIdle, KindSessionEnd,
	} {
		if !tested[kind] {
			t.Errorf("%s is not in the table", kind)
		}
	}
}

// TestDecisionsAreAllowed takes every decision to a real turn: none may ask for a call that its state refuses.
func TestDecisionsAreAllowed(t *testing.T) {
	for _, s := range situations {
		if s.last == nil || s.last.State != InProgress {
			continue
		}
		for name, e := range events {
			s.with(&e)
			a := &agent{t: t, dir: testDir(t), now: clock()}
			a.apply(Action{Do: ActStart, Start: &Start{Type: TypePrompt, Conversation: s.last.Conversation, TurnID: s.last.TurnID}})
			if s.last.Waiting {
				a.apply(Action{Do: ActInput, Text: s.last.Question})
			}
			a.event(e)
			if a.t.Failed() {
				t.Fatalf("%s; %s", s.name, name)
			}
		}
	}
}

// A report that comes late may be about the turn before: it must not end the one that has begun since.
func TestDecideAboutAnEarlierTurn(t *testing.T) {
	began := time.Date(2026, 11, 22, 7, 0, 0, 1_500_000, time.UTC)
	open := &Record{State: InProgress, Conversation: "c1", StartedAt: began}
	for _, kind := range []Kind{KindEnd, KindError, KindInterrupt} {
		for at, want := range map[time.Time]bool{{}: true, began: true, began.Truncate(time.Millisecond): true, began.Add(-time.Millisecond): false} {
			e := Event{Kind: kind, Conversation: "c1", At: at}
			if got := len(Decide(open, e)) > 0; got != want {
				t.Errorf("%s at %v: an action: %v, want %v", kind, at, got, want)
			}
		}
	}
}
