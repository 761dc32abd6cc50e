package fakemodel

import (
	"slices"
	"testing"
	"time"
)

func TestParseSteps(t *testing.T) {
	got, err := parseSteps("please\n do: write a/b.txt two  words \nthen\ndo:append c\r\ndo: remove my file\n" +
		"do: run echo do: x\ndo: ask make push\ndo: commit fix: it\ndo: outcome failure\ndo: say\ndo: sleep 0.25\n" +
		"do: slow 2 word by word\ndo: tool Ask {\"a\": [1]}\ndo: tool Leave\ndo: fail 529 too busy\ndo: fail\ndo: drop\ndo: hang")
	if err != nil {
		t.Fatal(err)
	}
	want := []step{
		{verb: "write", path: "a/b.txt", text: "two  words"}, {verb: "append", path: "c"},
		{verb: "remove", path: "my file"}, {verb: "run", text: "echo do: x"}, {verb: "ask", text: "make push"},
		{verb: "commit", text: "fix: it"}, {verb: "outcome", text: "failure"}, {verb: "say"},
		{verb: "sleep", text: "0.25", duration: 250 * time.Millisecond},
		{verb: "slow", text: "word by word", duration: 2 * time.Second},
		{verb: "tool", path: "Ask", text: `{"a": [1]}`}, {verb: "tool", path: "Leave"},
		{verb: "fail", text: "too busy", status: 529}, {verb: "fail", text: "scripted error 400", status: 400},
		{verb: "drop"}, {verb: "hang"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestPlainPromptsHaveNoSteps(t *testing.T) {
	for _, prompt := range []string{"", "hello", "what to do: think", "undo: it", "todo\nlist"} {
		if steps, err := parseSteps(prompt); steps != nil || err != nil {
			t.Errorf("%q: %v, %v", prompt, steps, err)
		}
	}
}

func TestStepErrors(t *testing.T) {
	for prompt, want := range map[string]string{
		"do: dance":           "do: dance: unknown step",
		"do: write":           "do: write: path is missing",
		"do: ask":             "do: ask: command is missing",
		"do: commit ":         "do: commit: message is missing",
		"do: sleep -1":        `do: sleep: "-1" is not a number of seconds`,
		"do: tool":            "do: tool: name is missing",
		"do: tool Ask {a":     "do: tool Ask: the arguments are not JSON: {a",
		"do: slow word":       `do: slow: "word" is not a number of seconds`,
		"do: say\ndo: exit 1": "do: exit: unknown step",
	} {
		steps, err := parseSteps(prompt)
		if steps != nil || err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v, want %s", prompt, steps, err, want)
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
		{"do: write a.txt it's", []answer{{action: action{verb: "write", path: "a.txt", text: "it's\n"}}, {text: "OK."}}},
		{"do: append d/a it's\ndo: remove b", []answer{
			{action: action{verb: "run", text: `mkdir -p 'd' && printf '%s\n' 'it'\''s' >> 'd/a'`}},
			{action: action{verb: "run", text: "rm -- 'b'"}},
			{text: "OK."},
		}},
		{"do: run make\ndo: say no\ndo: fail 503\ndo: run never", []answer{
			{action: action{verb: "run", text: "make"}},
			{text: "scripted error 503", fault: faultStatus, status: 503},
		}},
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
