package steps

import (
	"slices"
	"testing"
	"time"
)

var grammar = Grammar{
	"write": PathAndText, "append": PathAndText, "remove": Path, "run": Text("command"), "outcome": Word, "sleep": Seconds, "say": Anything,
}

func TestParse(t *testing.T) {
	got, err := grammar.Parse("please\n do: write a/b.txt two  words \nthen\ndo:append c\r\ndo: remove my file\n" +
		"do: run echo do: x\ndo: outcome failure\ndo: sleep 0.25\ndo: say")
	want := []Step{
		{Verb: "write", Path: "a/b.txt", Text: "two  words"}, {Verb: "append", Path: "c"}, {Verb: "remove", Path: "my file"},
		{Verb: "run", Text: "echo do: x"}, {Verb: "outcome", Text: "failure"},
		{Verb: "sleep", Text: "0.25", Duration: 250 * time.Millisecond}, {Verb: "say"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
}

func TestPlainPromptsHaveNoSteps(t *testing.T) {
	for _, prompt := range []string{"", "hello", "what to do: think", "undo: it", "todo\nlist"} {
		if steps, err := grammar.Parse(prompt); steps != nil || err != nil {
			t.Errorf("%q: %v, %v", prompt, steps, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for prompt, want := range map[string]string{
		"do: dance":         "do: dance: unknown step",
		"do:":               "do: : unknown step",
		"do: write":         "do: write: path is missing",
		"do: append":        "do: append: path is missing",
		"do: remove":        "do: remove: path is missing",
		"do: run":           "do: run: command is missing",
		"do: outcome":       `do: outcome: one word expected, got ""`,
		"do: outcome a b":   `do: outcome: one word expected, got "a b"`,
		"do: sleep":         `do: sleep: "" is not a number of seconds`,
		"do: sleep -1":      `do: sleep: "-1" is not a number of seconds`,
		"do: sleep NaN":     `do: sleep: "NaN" is not a number of seconds`,
		"do: sleep 1e300":   `do: sleep: "1e300" is not a number of seconds`,
		"do: say\ndo: what": "do: what: unknown step",
	} {
		steps, err := grammar.Parse(prompt)
		if steps != nil || err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v, want %s", prompt, steps, err, want)
		}
	}
}
