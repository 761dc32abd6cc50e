package history_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/session/history"
)

// TestJSON: the contract of paw log --json.
func TestJSON(t *testing.T) {
	east := time.FixedZone("east", 2*60*60)
	for _, c := range []struct {
		name    string
		message history.Message
		want    string
	}{
		{
			"prompt", history.Message{Role: history.RoleUser, Content: "fix <it>", Timestamp: noon},
			`{"role":"user","content":"fix <it>","tool_call_id":null,"tool_calls":[],"timestamp":"2026-01-02T12:00:00Z"}`,
		},
		{
			"call", history.Message{
				Role: history.RoleAssistant, ToolCalls: []history.ToolCall{{ID: "c1", Name: "Bash", Arguments: `{"command":"ls"}`}},
				Timestamp: time.Date(2026, 1, 2, 14, 0, 0, 5e6, east),
			},
			`{"role":"assistant","content":"","tool_call_id":null,` +
				`"tool_calls":[{"id":"c1","name":"Bash","arguments":"{\"command\":\"ls\"}"}],"timestamp":"2026-01-02T12:00:00.005Z"}`,
		},
		{
			"result without a time", history.Message{Role: history.RoleTool, ToolCallID: "c1", Content: "NOTES.md"},
			`{"role":"tool","content":"NOTES.md","tool_call_id":"c1","tool_calls":[],"timestamp":null}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text strings.Builder
			encoder := json.NewEncoder(&text)
			encoder.SetEscapeHTML(false) // as paw prints
			if err := encoder.Encode(c.message); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want+"\n", text.String()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
