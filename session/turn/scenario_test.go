package turn

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// agent does what Decide says, on real turns.
type agent struct {
	t             *testing.T
	dir           Dir
	now           func() time.Time
	conversations []string
}

func (a *agent) event(e Event) {
	a.t.Helper()
	last, err := a.dir.Last()
	if err != nil {
		a.t.Fatal(err)
	}
	for _, action := range Decide(last, e) {
		a.apply(action)
	}
}

func (a *agent) apply(action Action) {
	a.t.Helper()
	var err error
	switch action.Do {
	case ActConversation:
		a.conversations = append(a.conversations, action.Text)
	case ActStart:
		err = New(a.dir, a.dir.Highest()+1, a.now).Start(*action.Start)
	default:
		err = a.applyToLast(action)
	}
	if err != nil {
		a.t.Errorf("%s: %v", action.Do, err)
	}
}

func (a *agent) applyToLast(action Action) error {
	last, err := a.dir.Last()
	if err != nil {
		return err
	}
	tr, err := Open(last.LogFile, a.now)
	if err != nil {
		return err
	}
	switch action.Do {
	case ActExecute:
		return tr.Joined(action.Text, action.TurnID, action.Conversation)
	case ActAwait:
		return tr.Await(action.Subagents, action.Text)
	case ActHold:
		return tr.Hold(End{Message: action.Text})
	case ActInput:
		return tr.Input(action.Text, action.Conversation)
	case ActLimit:
		return tr.Limited(action.Limit, action.Text)
	case ActAnswered:
		return tr.Resumed()
	case ActNote:
		return tr.Note(action.Text)
	case ActFinish:
		_, err := tr.Finish(End{Message: action.Text})
		return err
	case ActAbort:
		var given *Abort
		if err := tr.Abort(action.Abort); !errors.As(err, &given) || tr.State() != Aborted {
			return err
		}
		return nil
	default:
		return errors.New("no such action")
	}
}

// turns shows the turns as "number type prompt: state", with what else there is to see.
func (a *agent) turns() []string {
	a.t.Helper()
	records, problems := a.dir.Records()
	if len(problems) > 0 {
		a.t.Fatal(problems)
	}
	var out []string
	for _, r := range records {
		words := []string{string(r.Type), string(r.Prompt) + ":", string(r.State)}
		for _, w := range []string{string(r.Reason), r.ErrorType, r.Message} {
			if w != "" {
				words = append(words, w)
			}
		}
		if r.Waiting {
			words = append(words, "waits: "+r.Question)
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// Short forms of what the CLIs send, see the samples of their hooks.
func submitted(id, p string) Event {
	return Event{Kind: KindPrompt, Conversation: "c1", TurnID: id, Prompt: p}
}
func ended(id, answer string) Event {
	return Event{Kind: KindEnd, Conversation: "c1", TurnID: id, Message: answer}
}
func in(kind Kind, conversation, source string) Event {
	return Event{Kind: kind, Conversation: conversation, Source: source}
}

func TestScenarios(t *testing.T) {
	startup := in(KindSessionStart, "c1", SourceStartup)
	tests := map[string]struct {
		events        []Event
		turns         []string
		conversations string // "" is c1
	}{
		"two turns": {
			events: []Event{startup, submitted("t1", "a"), ended("t1", "A"), submitted("t2", "b"), ended("t2", "B")},
			turns:  []string{"prompt a: finished A", "prompt b: finished B"},
		},
		"claude: a prompt typed while busy joins without a word": {
			events: []Event{startup, submitted("t1", "a"), {Kind: KindTool, Conversation: "c1", TurnID: "t1"}, ended("t1", "both")},
			turns:  []string{"prompt a: finished both"},
		},
		"claude: a prompt typed during the last request comes after the end": {
			events: []Event{startup, submitted("t1", "a"), ended("t1", "A"), submitted("t2", "b"), ended("t2", "B")},
			turns:  []string{"prompt a: finished A", "prompt b: finished B"},
		},
		"claude: Esc is silent, the next prompt tells": {
			events: []Event{startup, submitted("t1", "a"), submitted("t2", "b"), ended("t2", "B")},
			turns:  []string{"prompt a: aborted interrupted", "prompt b: finished B"},
		},
		"claude: a denied permission is silent": {
			events: []Event{
				startup, submitted("t1", "a"), {Kind: KindInput, Conversation: "c1", TurnID: "t1", Message: "Bash"},
				{Kind: KindInput, Conversation: "c1", TurnID: "t1"}, submitted("t2", "b"),
			},
			turns: []string{"prompt a: aborted interrupted", "prompt b: in_progress"},
		},
		"a permission is shown and given": {
			events: []Event{
				startup, submitted("t1", "a"), {Kind: KindInput, Conversation: "c1", TurnID: "t1", Message: "Bash"},
				{Kind: KindTool, Conversation: "c1", TurnID: "t1"}, ended("t1", "A"),
			},
			turns: []string{"prompt a: finished A"},
		},
		"a permission is shown": {
			events: []Event{startup, submitted("t1", "a"), {Kind: KindInput, Conversation: "c1", Message: "Bash"}},
			turns:  []string{"prompt a: in_progress waits: Bash"},
		},
		"claude: a background task prompts when it ends": {
			events: []Event{
				startup, submitted("t1", "a"),
				{Kind: KindEnd, Conversation: "c1", TurnID: "t1", Message: "started it", Background: 2},
				{Kind: KindPrompt, Conversation: "c1", TurnID: "t2", Prompt: "<task-notification>", Type: TypeNotification},
				ended("t2", "it is done"),
			},
			turns: []string{"prompt a: finished started it", "task-notification <task-notification>: finished it is done"},
		},
		"claude: !command ends with the id of the turn before": {
			events: []Event{
				startup, submitted("t1", "a"), ended("t1", "A"),
				{Kind: KindTool, Conversation: "c1", TurnID: "t1"}, ended("t1", "I saw your command"), submitted("t2", "b"),
			},
			turns: []string{"prompt a: finished A", "prompt b: in_progress"},
		},
		"claude: !command before any prompt": {
			events: []Event{startup, ended("", "I saw your command")},
		},
		"claude: API error": {
			events: []Event{
				startup, submitted("t1", "a"),
				{Kind: KindError, Conversation: "c1", TurnID: "t1", ErrorType: "rate_limit", Message: "429"}, submitted("t2", "b"),
			},
			turns: []string{"prompt a: aborted error rate_limit", "prompt b: in_progress"},
		},
		"claude: /clear": {
			events: []Event{
				startup, submitted("t1", "a"), ended("t1", "A"), in(KindSessionEnd, "c1", SourceClear),
				in(KindSessionStart, "c2", SourceClear), {Kind: KindPrompt, Conversation: "c2", TurnID: "t2", Prompt: "b"},
			},
			turns:         []string{"prompt a: finished A", "prompt b: in_progress"},
			conversations: "c1 c1 c2 c2",
		},
		"claude: /clear after an Esc that nobody saw": {
			events: []Event{
				startup, submitted("t1", "a"), in(KindSessionEnd, "c1", SourceClear), in(KindSessionStart, "c2", SourceClear),
			},
			turns:         []string{"prompt a: aborted interrupted"},
			conversations: "c1 c1 c2",
		},
		"claude: /resume of another conversation": {
			events: []Event{
				startup, submitted("t1", "a"), ended("t1", "A"),
				in(KindSessionEnd, "c1", SourceResume), in(KindSessionStart, "c0", SourceResume),
				{Kind: KindPrompt, Conversation: "c0", TurnID: "t2", Prompt: "b"},
				{Kind: KindEnd, Conversation: "c0", TurnID: "t2", Message: "B"},
			},
			turns:         []string{"prompt a: finished A", "prompt b: finished B"},
			conversations: "c1 c1 c0 c0",
		},
		"claude: a conversation that is compacted in mid-turn": {
			events: []Event{startup, submitted("t1", "a"), in(KindSessionStart, "c1", SourceCompact), ended("t1", "A")},
			turns:  []string{"prompt a: finished A"},
		},
		"claude: a sub-agent": {
			events: []Event{
				startup, submitted("t1", "a"),
				{Kind: KindTool, Conversation: "c1", TurnID: "t1", Child: true},
				{Kind: KindEnd, Conversation: "c1", TurnID: "t1", Message: "of the sub-agent", Child: true}, ended("t1", "A"),
			},
			turns: []string{"prompt a: finished A"},
		},
		"the agent runs a CLI itself": {
			events: []Event{
				startup, submitted("", "a"),
				in(KindSessionStart, "n1", SourceStartup),
				{Kind: KindInput, Conversation: "n1", Message: "nested?"},
				{Kind: KindEnd, Conversation: "n1", Message: "nested"},
				{Kind: KindError, Conversation: "n1", Message: "nested"},
				{Kind: KindInterrupt, Conversation: "n1"},
				in(KindSessionEnd, "n1", "other"), ended("", "A"),
			},
			turns: []string{"prompt a: finished A"},
		},
		"exit in mid-turn": {
			events: []Event{startup, submitted("t1", "a"), in(KindSessionEnd, "c1", "prompt_input_exit")},
			turns:  []string{"prompt a: aborted interrupted"},
		},
		"codex: the start of the conversation comes with the first prompt, a steering one has the same id": {
			events: []Event{
				startup, submitted("t1", "a"), submitted("t1", "and b"), ended("t1", "both"), in(KindSessionEnd, "c1", "other"),
			},
			turns: []string{"prompt a: finished both"},
		},
		"codex: Esc, then /quit": {
			events: []Event{
				startup, submitted("t1", "a"), {Kind: KindInterrupt, Conversation: "c1", TurnID: "t1"}, in(KindSessionEnd, "c1", "other"),
			},
			turns: []string{"prompt a: aborted interrupted"},
		},
		"codex: an API error is silent": {
			events: []Event{startup, submitted("t1", "a"), submitted("t2", "b"), ended("t2", "B")},
			turns:  []string{"prompt a: aborted interrupted", "prompt b: finished B"},
		},
		"codex: an API error that its record told, then the next prompt": {
			events: []Event{
				startup, submitted("t1", "a"), {Kind: KindError, TurnID: "t1", ErrorType: "server_error"}, submitted("t2", "b"),
			},
			turns: []string{"prompt a: aborted error server_error", "prompt b: in_progress"},
		},
		"codex: /new after an API error that nobody saw": {
			events: []Event{
				startup, submitted("t1", "a"), in(KindSessionStart, "c2", SourceStartup),
				{Kind: KindPrompt, Conversation: "c2", TurnID: "t2", Prompt: "b"},
				{Kind: KindEnd, Conversation: "c2", TurnID: "t2", Message: "B"},
			},
			turns:         []string{"prompt a: aborted interrupted", "prompt b: finished B"},
			conversations: "c1 c1 c2",
		},
		"codex: each hook runs twice": {
			events: []Event{startup, startup, submitted("t1", "a"), submitted("t1", "a"), ended("t1", "A"), ended("t1", "A")},
			turns:  []string{"prompt a: finished A"}, conversations: "c1 c1 c1",
		},
		"opencode: a queued prompt joins, idle once": {
			events: []Event{
				submitted("m1", "a"), {Kind: KindPrompt, Conversation: "c1", TurnID: "m2", Prompt: "b", Queued: true}, ended("", "both"),
			},
			turns: []string{"prompt a: finished both"}, conversations: "c1",
		},
		"opencode: idle twice after an error and after an abort": {
			events: []Event{
				submitted("", "a"), {Kind: KindError, Conversation: "c1", ErrorType: "APIError", Message: "401"}, ended("", ""), ended("", ""),
				submitted("", "b"), {Kind: KindInterrupt, Conversation: "c1"}, ended("", ""), ended("", ""),
			},
			turns: []string{"prompt a: aborted error APIError", "prompt b: aborted interrupted"}, conversations: "c1",
		},
		"opencode: learns of the conversation after the prompt": {
			events: []Event{submitted("m1", "a"), startup, ended("", "A")},
			turns:  []string{"prompt a: finished A"}, conversations: "c1",
		},
		"gemini: Esc looks like an end": {
			events: []Event{startup, submitted("", "a"), ended("", "[no response text]"), submitted("", "b"), ended("", "B")},
			turns:  []string{"prompt a: finished [no response text]", "prompt b: finished B"},
		},
		"gemini: Esc in a permission dialog is silent; its end comes three times": {
			events: []Event{
				startup, submitted("", "a"), {Kind: KindInput, Conversation: "c1", Message: "shell"}, submitted("", "b"),
				in(KindSessionEnd, "c1", "exit"), in(KindSessionEnd, "c1", "exit"), in(KindSessionEnd, "c1", "exit"),
			},
			turns: []string{"prompt a: aborted interrupted", "prompt b: aborted interrupted"},
		},
		"qwen: empty prompts after the results of tools": {
			events: []Event{
				startup, submitted("", "a"), {Kind: KindInput, Conversation: "c1", Message: "shell"}, submitted("", ""), submitted("", ""),
				ended("", "A"), submitted("", ""),
			},
			turns: []string{"prompt a: finished A"},
		},
		"qwen: idle without an end is an Esc, idle after an end is nothing": {
			events: []Event{
				startup, submitted("", "a"), {Kind: KindInterrupt, Conversation: "c1"},
				submitted("", "b"), ended("", "B"), {Kind: KindInterrupt, Conversation: "c1"},
			},
			turns: []string{"prompt a: aborted interrupted", "prompt b: finished B"},
		},
		"copilot: only the last of several errors is reported": {
			events: []Event{startup, submitted("", "a"), {Kind: KindError, Conversation: "c1", ErrorType: "model_call"}, in(KindSessionEnd, "c1", "user_exit")},
			turns:  []string{"prompt a: aborted error model_call"},
		},
		"resumed after a crash that nobody closed": {
			events: []Event{startup, submitted("t1", "a"), in(KindSessionStart, "c1", SourceResume), submitted("t2", "b"), ended("t2", "B")},
			turns:  []string{"prompt a: aborted interrupted", "prompt b: finished B"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := &agent{t: t, dir: testDir(t), now: clock()}
			for _, e := range tt.events {
				a.event(e)
			}
			got := strings.Join(a.turns(), "\n")
			if want := strings.Join(tt.turns, "\n"); strings.TrimSpace(got) != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			want := tt.conversations
			if want == "" {
				want = "c1"
				if len(tt.turns) > 0 {
					want = "c1 c1" // at the start, which has no turn to compare with yet, and at the first prompt
				}
			}
			if got := strings.Join(a.conversations, " "); got != want {
				t.Errorf("conversations %s, want %s", got, want)
			}
		})
	}
}

// TestScenarioNotes is about what Decide keeps beside the course of a turn.
func TestScenarioNotes(t *testing.T) {
	a := &agent{t: t, dir: testDir(t), now: clock()}
	for _, e := range []Event{
		submitted("t1", "a"),
		ended("t0", "of a turn whose start was lost"),
		{Kind: KindEnd, Conversation: "c1", TurnID: "t1", Background: 2},
		{Kind: KindError, Conversation: "c1", TurnID: "t1", ErrorType: "server_error"},
	} {
		a.event(e)
	}
	last, err := a.dir.Last()
	if err != nil {
		t.Fatal(err)
	}
	want := "end of another turn, t0; 2 background tasks are still running; after its end: error: server_error"
	if got := strings.Join(last.Notes, "; "); got != want || last.State != Finished {
		t.Errorf("got %s, %s", got, last.State)
	}
}
