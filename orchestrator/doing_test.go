package orchestrator

import (
	"testing"
	"time"

	"paw/session/history"
)

func TestDoing(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Date(2026, 1, 1, 12, 0, s, 0, time.UTC) }
	user := history.Message{Role: history.RoleUser, Content: "fix it", Timestamp: at(0)}
	says := history.Message{Role: history.RoleAssistant, Content: "I look.\n\nThe parser is wrong.\n", Timestamp: at(1)}
	calls := func(name, arguments string) history.Message {
		return history.Message{Role: history.RoleAssistant, Content: "now", ToolCalls: []history.ToolCall{{ID: "1", Name: name, Arguments: arguments}}, Timestamp: at(2)}
	}
	result := history.Message{Role: history.RoleTool, ToolCallID: "1", Content: "ok", Timestamp: at(3)}
	for name, one := range map[string]struct {
		said []history.Message
		want Doing
	}{
		"a prompt only":              {[]history.Message{says, user}, Doing{}},
		"a sentence":                 {[]history.Message{user, says}, Doing{What: "The parser is wrong.", Since: at(1)}},
		"a tool that runs":           {[]history.Message{user, says, calls("Bash", `{"timeout":3,"command":"npm test"}`)}, Doing{What: "Bash npm test", Since: at(2), Tool: true}},
		"a tool with its result":     {[]history.Message{user, calls("Bash", `{"command":"npm test"}`), result}, Doing{What: "Bash npm test", Since: at(2)}},
		"a file of the worktree":     {[]history.Message{user, calls("Edit", `{"file_path":"/w/shop/api/src/a.go"}`)}, Doing{What: "Edit src/a.go", Since: at(2), Tool: true}},
		"a command of several words": {[]history.Message{user, calls("shell", `{"command":["bash","-lc","go test ./..."]}`)}, Doing{What: "shell go test ./...", Since: at(2), Tool: true}},
		"raw text":                   {[]history.Message{user, calls("apply", "*** Begin\nPatch")}, Doing{What: "apply *** Begin Patch", Since: at(2), Tool: true}},
		"no arguments that tell":     {[]history.Message{user, calls("List", `{"n":3}`)}, Doing{What: "List", Since: at(2), Tool: true}},
	} {
		if got := doingIn(one.said, "/w/shop/api"); got != one.want {
			t.Errorf("%s: %+v, want %+v", name, got, one.want)
		}
	}
}
