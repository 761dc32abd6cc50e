package questions

import "testing"

func TestQuestionsAreInWords(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"Bash", `{"command":"make all"}`, "Bash: make all"},
		{"run_shell_command", `{"command":"touch a.txt","is_background":false}`, "Shell: touch a.txt"},
		{"write_file", `{"file_path":"/r/a.txt","content":"x"}`, "Write: /r/a.txt"},
		{"edit", `{"file_path":"/r/a.txt"}`, "Edit: /r/a.txt"},
		{"ExitPlanMode", `{"plan":"# Plan","path":"/plans/a.md"}`, "asks whether to go on with its plan"},
		{"exit_plan_mode", `{"plan":"# Plan"}`, "asks whether to go on with its plan"},
		{"AskUserQuestion", `{"questions":[{"question":"Which database?"}]}`, "Which database?"},
		{"mcp__x__do", `not json`, "mcp__x__do"},
	} {
		if got := OfTool(c.tool, []byte(c.input)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.input, got, c.want)
		}
	}
}
