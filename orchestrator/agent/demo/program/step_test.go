package program

import (
	"slices"
	"testing"
	"time"
)

func TestParseSteps(t *testing.T) {
	got, err := parseSteps("please\n do: write a/b.txt two  words \nthen\ndo:append c\r\ndo: remove my file\n" +
		"do: run echo do: x\ndo: commit fix: it\ndo: outcome failure\ndo: ask sure?\ndo: sleep 0.25\ndo: say\n" +
		"do: fail busy\ndo: exit 7\ndo: hang")
	if err != nil {
		t.Fatal(err)
	}
	want := []step{
		{verb: "write", path: "a/b.txt", text: "two  words"}, {verb: "append", path: "c"},
		{verb: "remove", path: "my file"}, {verb: "run", text: "echo do: x"}, {verb: "commit", text: "fix: it"},
		{verb: "outcome", text: "failure"}, {verb: "ask", text: "sure?"},
		{verb: "sleep", text: "0.25", duration: 250 * time.Millisecond}, {verb: "say"}, {verb: "fail", text: "busy"},
		{verb: "exit", text: "7", code: 7}, {verb: "hang"},
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
		"do: dance":         "do: dance: unknown step",
		"do:":               "do: : unknown step",
		"do: write":         "do: write: path is missing",
		"do: append":        "do: append: path is missing",
		"do: remove":        "do: remove: path is missing",
		"do: run":           "do: run: command is missing",
		"do: commit ":       "do: commit: message is missing",
		"do: ask":           "do: ask: question is missing",
		"do: outcome":       `do: outcome: one word expected, got ""`,
		"do: outcome a b":   `do: outcome: one word expected, got "a b"`,
		"do: sleep":         `do: sleep: "" is not a number of seconds`,
		"do: sleep -1":      `do: sleep: "-1" is not a number of seconds`,
		"do: sleep NaN":     `do: sleep: "NaN" is not a number of seconds`,
		"do: sleep 1e300":   `do: sleep: "1e300" is not a number of seconds`,
		"do: exit":          `do: exit: "" is not an exit code`,
		"do: exit 256":      `do: exit: "256" is not an exit code`,
		"do: say\ndo: what": "do: what: unknown step",
	} {
		steps, err := parseSteps(prompt)
		if steps != nil || err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v, want %s", prompt, steps, err, want)
		}
	}
}
