package landing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/turns"
	"paw/session/turn"
)

func TestMessageHasTheWordsOfThoseWhoWorkAndNoneOfPaw(t *testing.T) {
	listed := func(number int, prompt string) turns.Turn {
		return turns.Turn{Record: turn.Record{Number: number, State: turn.Finished, Outcome: "success", Prompt: turn.Prompt(prompt)}}
	}
	results := turn.ResultsLine("01a20521-ce9b-7e13-9d10-b6dfd83717fb", "The agent you waited for has ended.") + "\n\nchild (demo): success\n"
	failed := listed(2, "run the tests")
	failed.Outcome = "failure"
	many, lines := []string{}, ""
	for n := range maxCommitLines + 3 {
		many = append(many, fmt.Sprintf("step %d", n))
		if n < maxCommitLines {
			lines += fmt.Sprintf("- step %d\n", n)
		}
	}
	for name, c := range map[string]struct {
		facts messageFacts
		want  string
	}{
		"a parent that was told of its children": {
			messageFacts{Turns: []turns.Turn{listed(1, "build it with helpers\nand more"), listed(2, results)}, Commits: []string{""}, Listed: true},
			"build it with helpers\n\nTurn 1: build it with helpers\n",
		},
		"what a CLI or a hook began": {
			messageFacts{Turns: []turns.Turn{
				{Record: turn.Record{Number: 1, Type: turn.TypeNotification, Prompt: "<task-notification>"}},
				{Record: turn.Record{Number: 2, Type: turn.TypeStopHook, Prompt: "goes on after its end"}}, listed(3, "fix it"),
			}},
			"fix it\n\nTurn 3: fix it\n",
		},
		"what lands begins with paw's own prompt": {
			messageFacts{Turns: []turns.Turn{listed(3, results), listed(4, turn.ReviewLine(2)+"\n\n1. x"), listed(5, "and the docs")}},
			"and the docs\n\nTurn 5: and the docs\n",
		},
		"nothing but paw's prompts, and commits": {
			messageFacts{Turns: []turns.Turn{listed(3, turn.ConflictLine("main")+"\n\n1. x")}, Commits: []string{"Parser: empty input", "Merge main"}, Listed: true},
			"Merge main\n\n- Parser: empty input\n",
		},
		"commits of their own titles": {
			messageFacts{Turns: []turns.Turn{listed(1, "fix the parser"), failed}, Commits: []string{"Parser: empty input", "fix the parser", "Parser: empty input", "the same, but smaller"}, Listed: true},
			"fix the parser\n\nTurn 1: fix the parser\nTurn 2 (failure): run the tests\n\n- Parser: empty input\n- the same, but smaller\n",
		},
		"commits that the branch keeps": {
			messageFacts{Turns: []turns.Turn{listed(1, "fix the parser")}, Commits: []string{"Parser: empty input"}},
			"fix the parser\n\nTurn 1: fix the parser\n",
		},
		"many commits": {
			messageFacts{Said: "Many steps", Commits: many, Listed: true},
			"Many steps\n\n" + lines + "- 3 other commits\n",
		},
		"the number of an issue": {
			messageFacts{Turns: []turns.Turn{listed(1, "#13 fix the parser"), listed(2, "## Tests\n\nadd some")}},
			"#13 fix the parser\n\nTurn 1: #13 fix the parser\nTurn 2: Tests\n",
		},
		"what the agent said": {
			messageFacts{Said: "All done", Turns: []turns.Turn{listed(1, "fix")}, Commits: []string{"x"}},
			"All done\n\nTurn 1: fix\n",
		},
		"nobody said anything": {messageFacts{Files: func() string { return "alpha.go, beta.go" }}, "alpha.go, beta.go\n"},
	} {
		got, _, _ := strings.Cut(c.facts.message(), "\nPaw-Agent: ")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestTitleOfFiles(t *testing.T) {
	for want, paths := range map[string][]string{
		"alpha.go, src/beta.go":               {"alpha.go", "src/beta.go"},
		"3 files in src/parser":               {"src/parser/a.go", "src/parser/b.go", "src/parser/deep/c.go"},
		"3 files in src":                      {"src/a.go", "src/parser/b.go", "src/parser.go"},
		"a.go, src/parser/b.go, 1 other file": {"a.go", "src/parser/b.go", "src/c.go"},
		"1 file in deep":                      {"deep/" + strings.Repeat("x", 80)},
		`"new\nline"`:                         {"new\nline"},
	} {
		if got := titleOf(paths); got != want {
			t.Errorf("%q: %s, want %s", paths, got, want)
		}
	}
}

func TestFilesOfAnErrorStayOnItsLine(t *testing.T) {
	if got := few([]string{"plain", "new\nline", "third"}, 2); got != `plain, "new\nline", 1 other file` {
		t.Errorf("got %s", got)
	}
}
