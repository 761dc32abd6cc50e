// Package streams reads what claude and qwen print in a turn without a terminal.
package streams

import (
	"bytes"
	"encoding/json"
	"strings"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/questions"
)

// streamLine is a line of the JSON that claude and qwen stream.
type streamLine struct {
	Type    string `json:"type"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Subtype string          `json:"subtype"`
	IsError bool            `json:"is_error"`
	Result  string          `json:"result"`
	Error   json.RawMessage `json:"error"` // qwen: an object with a message
}

// Text shows what the model says, and a line for each tool it uses.
func Text(raw []byte) string {
	var line streamLine
	if json.Unmarshal(raw, &line) != nil || line.Type != "assistant" {
		return ""
	}
	var blocks []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	_ = json.Unmarshal(line.Message.Content, &blocks)
	var text strings.Builder
	for _, block := range blocks {
		switch block.Type {
		case "text":
			text.WriteString(block.Text + "\n")
		case "tool_use":
			text.WriteString(ToolLine(block.Name, block.Input))
		}
	}
	return text.String()
}

// ToolLine is how the use of a tool is shown while a headless turn runs.
func ToolLine(tool string, input json.RawMessage) string {
	return "· " + questions.OfTool(tool, input) + "\n"
}

// Result reads the result, which is the last line; without one the turn was cut off.
func Result(cli string, stdout []byte, exitCode int) (string, error) {
	var result streamLine
	for raw := range bytes.Lines(stdout) {
		var line streamLine
		if json.Unmarshal(raw, &line) == nil && line.Type == "result" {
			result = line
		}
	}
	switch {
	case result.Type == "":
		return "", &agent.TurnError{CLI: cli, ExitCode: exitCode}
	case result.IsError || exitCode != 0:
		failed := &agent.TurnError{CLI: cli, Message: result.Result, ExitCode: exitCode}
		if result.Subtype != "success" {
			failed.Type = result.Subtype
		}
		var detail struct {
			Message string `json:"message"`
		}
		if failed.Message == "" && json.Unmarshal(result.Error, &detail) == nil {
			failed.Message = detail.Message
		}
		if failed.Message == "" {
			failed.Message = failed.Type
		}
		return "", failed
	}
	return result.Result, nil
}
