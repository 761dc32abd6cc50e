package cli_test

import (
	"path/filepath"
	"testing"
)

func TestDemoHistory(t *testing.T) {
	checkHistory(t, "demo", qwenSample, func(lab) string {
		return filepath.Join(".local", "state", "paw", "demo", qwenSample+".jsonl")
	}, []historyCase{{
		"turns", `
{"type":"event","event":"start"}
{"type":"event","event":"turn_start","turn":1}
{"role":"user","content":"first"}
{"role":"assistant","content":"said"}
{"type":"event","event":"error","error":"overloaded"}
{"role":"user","content":"second"}
{"type":"event","event":"interrupted"}
{"hologram":true}`,
		[]string{"user first", "assistant said", "system overloaded", "user second", "system interrupted by the user"}, 1,
	}})
}
