package fakemodel

import (
	"slices"
	"testing"
	"time"

	"paw/orchestrator/cli/internal/steps"
)

func TestGrammar(t *testing.T) {
	got, err := grammar.Parse("do: ask make push\ndo: slow 2 word by word\ndo: tool Ask {\"a\": [1]}\ndo: tool Leave\n" +
		"do: fail 529 too busy\ndo: fail\ndo: limit 60\ndo: drop\ndo: hang")
	want := []steps.Step{
		{Verb: "ask", Text: "make push"}, {Verb: "slow", Text: "word by word", Duration: 2 * time.Second},
		{Verb: "tool", Path: "Ask", Text: `{"a": [1]}`}, {Verb: "tool", Path: "Leave"},
		{Verb: "fail", Text: "too busy", Number: 529}, {Verb: "fail", Text: "scripted error 400", Number: 400},
		{Verb: "limit", Text: "60", Duration: time.Minute}, {Verb: "drop"}, {Verb: "hang"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
	for prompt, want := range map[string]string{
		"do: ask":             "do: ask: command is missing",
		"do: tool":            "do: tool: name is missing",
		"do: tool Ask {a":     "do: tool Ask: the arguments are not JSON: {a",
		"do: slow word":       `do: slow: "word" is not a number of seconds`,
		"do: say\ndo: exit 1": "do: exit: unknown step",
	} {
		if _, err := grammar.Parse(prompt); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", prompt, err, want)
		}
	}
}

func TestScript(t *testing.T) {
	for _, test := range []struct {
		prompt string
		want   []answer
	}{
		{"do: say one\ndo: sleep 1\ndo: run make\ndo: slow 2 two\ndo: say three", []answer{
			{text: "one", delay: time.Second, action: action{verb: "run", text: "make"}},
			{text: "two\nthree", spread: 2 * time.Second},
		}},
		{"do: write a.txt it's", []answer{{action: action{verb: "run", text: `printf '%s\n' 'it'\''s' > 'a.txt'`}}, {text: "OK."}}},
		{"do: append d/a it's\ndo: remove b", []answer{
			{action: action{verb: "run", text: `mkdir -p 'd' && printf '%s\n' 'it'\''s' >> 'd/a'`}},
			{action: action{verb: "run", text: "rm -- 'b'"}},
			{text: "OK."},
		}},
		{"do: run make\ndo: say no\ndo: fail 503\ndo: run never", []answer{
			{action: action{verb: "run", text: "make"}},
			{text: "scripted error 503", fault: faultStatus, status: 503},
		}},
		{"do: limit 60\ndo: run never", []answer{{text: unfinished, fault: faultLimit, lifted: time.Minute}}},
		{"do: hang", []answer{{text: unfinished, fault: faultHang}}},
		{"do: say half\ndo: drop", []answer{{text: "half", fault: faultDrop}}},
		{"do: jump", []answer{{text: "do: jump: unknown step", fault: faultStatus, status: 400}}},
		{" Fix it \nall", []answer{
			{action: action{verb: "run", text: `printf '%s\n' 'Fix it' >> 'NOTES.md'`}},
			{action: action{verb: "run", text: "git add --all && git commit --quiet -m 'Fix it' -m 'outcome: success'"}},
			{text: "Done: Fix it"},
		}},
	} {
		if got := script(test.prompt); !slices.Equal(got, test.want) {
			t.Errorf("%q:\ngot  %+v\nwant %+v", test.prompt, got, test.want)
		}
	}
}

func TestAnswerAfterTheLast(t *testing.T) {
	got := answerTo("do: sleep 5\ndo: say bye", 3)
	if want := (answer{text: "bye"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
