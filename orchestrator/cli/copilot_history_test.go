package cli_test

import (
	"path/filepath"
	"testing"
)

func TestCopilotHistory(t *testing.T) {
	checkHistory(t, "copilot", copilotSample, func(lab) string {
		return filepath.Join(".copilot", "session-state", copilotSample, "events.jsonl")
	}, []historyCase{{
		"tools and subagents", `
{"type":"session.start","data":{}}
{"type":"user.message","data":{"content":"first","transformedContent":"<current_datetime>\n\nfirst"}}
{"type":"user.message","data":{"content":"how to pdf","source":"skill-pdf"}}
{"type":"assistant.message","data":{"content":"Both.","toolRequests":[{"toolCallId":"a","name":"bash","arguments":{"command": "ls"}},{"toolCallId":"b","name":"apply_patch","arguments":"*** Begin Patch"}]}}
{"type":"user.message","agentId":"x","data":{"content":"prompt of a subagent"}}
{"type":"assistant.message","agentId":"x","data":{"content":"answer of a subagent"}}
{"type":"tool.execution_complete","data":{"toolCallId":"b","success":false,"error":{"message":"denied"}}}
{"type":"permission.completed","data":{"toolCallId":"a","result":{"kind":"approved"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"a","success":true,"result":{"content":"NOTES.md","detailedContent":"..."}}}
{"type":"permission.completed","data":{"toolCallId":"a","result":{"kind":"cancelled","reason":"late"}}}
{"type":"assistant.message","data":{"content":"","toolRequests":[]}}
{"type":"abort","data":{"reason":"user_abort"}}
{"type":"hologram","data":{}}`,
		[]string{
			"user first", "system how to pdf", `assistant Both. >a bash {"command":"ls"} >b apply_patch *** Begin Patch`, "tool <b denied",
			"tool <a NOTES.md", "system interrupted by the user",
		}, 0,
	}})
}
