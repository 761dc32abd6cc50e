package program

import (
	"slices"
	"testing"
	"time"

	"paw/orchestrator/cli/internal/steps"
)

func TestGrammar(t *testing.T) {
	got, err := grammar.Parse("do: write a/b.txt two\ndo: append c d\ndo: remove my file\ndo: run make\ndo: commit fix: it\n" +
		"do: outcome failure\ndo: ask sure?\ndo: sleep 0.25\ndo: say\ndo: fail busy\ndo: exit 7\ndo: hang")
	want := []steps.Step{
		{Verb: "write", Path: "a/b.txt", Text: "two"}, {Verb: "append", Path: "c", Text: "d"}, {Verb: "remove", Path: "my file"},
		{Verb: "run", Text: "make"}, {Verb: "commit", Text: "fix: it"}, {Verb: "outcome", Text: "failure"}, {Verb: "ask", Text: "sure?"},
		{Verb: "sleep", Text: "0.25", Duration: 250 * time.Millisecond}, {Verb: "say"}, {Verb: "fail", Text: "busy"},
		{Verb: "exit", Text: "7", Number: 7}, {Verb: "hang"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
	for prompt, want := range map[string]string{
		"do: commit ":  "do: commit: message is missing",
		"do: ask":      "do: ask: question is missing",
		"do: exit":     `do: exit: "" is not an exit code`,
		"do: exit 256": `do: exit: "256" is not an exit code`,
	} {
		if _, err := grammar.Parse(prompt); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", prompt, err, want)
		}
	}
}
