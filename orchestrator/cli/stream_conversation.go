package cli

import (
	"bytes"
	"encoding/json"
)

// StreamConversation finds the conversation that a headless turn belongs to in its standard output: the first id that
// the stream of JSON names (thread_id of codex's thread.started, sessionID of opencode, session_id of the others). It
// is "" where there is none, also for an output that is no JSON.
func StreamConversation(stdout []byte) string {
	for raw := range bytes.Lines(stdout) {
		var line struct {
			Thread   string `json:"thread_id"`
			Session  string `json:"session_id"`
			Opencode string `json:"sessionID"`
		}
		if json.Unmarshal(raw, &line) != nil {
			continue
		}
		for _, id := range []string{line.Thread, line.Session, line.Opencode} {
			if CheckID("", id) == nil {
				return id
			}
		}
	}
	return ""
}
