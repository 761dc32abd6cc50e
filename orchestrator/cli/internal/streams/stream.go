// Package streams reads the JSON lines that CLIs print in a headless turn.
package streams

import (
	"bytes"
	"cmp"
	"encoding/json"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/questions"
	"paw/orchestrator/cli/internal/records"
	"paw/session/turn"
)

// Turn collects what the lines tell about a headless turn. The type of a line has a method that
// adds to it.
type Turn struct {
	Shown  string // text for the user from the lines
	ID     string // of the conversation, where the CLI has chosen it
	Answer string
	Ended  bool          // the turn ended without an error
	Failed cli.TurnError // the failure, unless Ended
}

// Reader reads the lines of a headless turn, each a JSON object of type T.
type Reader[T interface{ Tell(*Turn) }] struct{ CLI string }

// HeadlessLine returns what a user wants to read of one line, and the conversation.
func (Reader[T]) HeadlessLine(raw []byte) (string, turn.Event) {
	var line T
	var told Turn
	if json.Unmarshal(raw, &line) == nil {
		line.Tell(&told)
	}
	return told.Shown, turn.Event{Conversation: told.ID}
}

// HeadlessResult returns the answer after all lines. A turn that has not ended is an error.
func (r Reader[T]) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	var turn Turn
	for raw := range bytes.Lines(stdout) {
		var line T
		if json.Unmarshal(raw, &line) == nil {
			line.Tell(&turn)
		}
	}
	if exitCode != 0 || !turn.Ended {
		turn.Failed.CLI, turn.Failed.ExitCode = r.CLI, exitCode
		return "", &turn.Failed
	}
	return turn.Answer, nil
}

// ToolLine formats a tool call for the output of a headless turn.
func ToolLine(tool string, input json.RawMessage) string {
	return "· " + questions.OfTool(tool, input) + "\n"
}

// Message is a line of the JSON stream of claude.
type Message struct {
	Type    string `json:"type"`
	Message struct {
		Content records.Parts `json:"content"`
	} `json:"message"`
	Subtype string `json:"subtype"`
	IsError bool   `json:"is_error"`
	Result  string `json:"result"`
}

// Tell reads the model's texts, and a line for each tool call. The last line has the result.
func (m Message) Tell(t *Turn) {
	switch m.Type {
	case "assistant":
		for _, block := range m.Message.Content {
			switch block.Type {
			case "text":
				t.Shown += block.Text + "\n"
			case "tool_use":
				t.Shown += ToolLine(block.Name, block.Input)
			}
		}
	case "result":
		t.Answer, t.Ended = m.Result, !m.IsError
		if m.Subtype != "success" {
			t.Failed.Type = m.Subtype
		}
		t.Failed.Message = cmp.Or(m.Result, t.Failed.Type)
	}
}
