package cli_test

import (
	"path/filepath"
	"testing"
)

func TestQwenHistory(t *testing.T) {
	checkHistory(t, "qwen", qwenSample, func(l lab) string {
		return filepath.Join(".qwen", "projects", dash(l.worktree), "chats", qwenSample+".jsonl")
	}, []historyCase{{
		"rewind and errors", `
{"uuid":"1","parentUuid":null,"type":"user","message":{"parts":[{"text":"first"}]}}
{"uuid":"2","parentUuid":null,"type":"user","message":{"parts":[{"text":"taken back"}]}}
{"uuid":"2a","parentUuid":"2","type":"assistant","message":{"parts":[{"text":"gone"}]}}
{"uuid":"3","parentUuid":"1","type":"assistant","message":{"parts":[{"text":"hm","thought":true},{"text":"Both."},{"functionCall":{"id":"a","name":"ls","args":{"path": "."}}},{"functionCall":{"id":"b","name":"cat","args":{}}}]}}
{"uuid":"4","parentUuid":"3","type":"tool_result","message":{"parts":[{"functionResponse":{"id":"a","response":{"output":""}}},{"functionResponse":{"id":"b","response":{"code":7}}}]}}
{"uuid":"5","parentUuid":"4","type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_error","error_type":"RateLimit","error_message":"slow down"}}}
{"uuid":"6","parentUuid":"5","type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_error","error_type":"RateLimit","error_message":"slow down"}}}
{"uuid":"7","parentUuid":"6","type":"user","subtype":"notification","message":{"parts":[{"text":"the task is done"}]}}
{"uuid":"8","parentUuid":"7","type":"hologram"}`,
		[]string{
			"user first", `assistant Both. >a ls {"path":"."} >b cat {}`, "tool <a", `tool <b {"code":7}`, "system slow down", "system the task is done",
		}, 0,
	}})
}
