package gemini

import (
	"bytes"
	"encoding/json"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/prompts"
	"paw/orchestrator/agent/internal/streams"
)

// Headless runs gemini with -p. In a folder that is not trusted it ends with an error.
func (g driver) Headless(s agent.Spec) (agent.Command, error) {
	argv, err := prompts.OneShot(g, s, []string{"--output-format", "stream-json"}, "--session-id", "--resume", "--prompt")
	if err != nil {
		return agent.Command{}, err
	}
	s.Hook = ""
	return g.command(s, argv)
}

type streamLine struct {
	Type       string          `json:"type"`
	Role       string          `json:"role"`
	Content    string          `json:"content"` // a piece of the answer
	Tool       string          `json:"tool_name"`
	Parameters json.RawMessage `json:"parameters"`
	Status     string          `json:"status"`
	Message    string          `json:"message"`
	Error      struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

func (driver) HeadlessLine(raw []byte) string {
	var line streamLine
	if json.Unmarshal(raw, &line) != nil {
		return ""
	}
	switch {
	case line.Type == "message" && line.Role == "assistant":
		return line.Content
	case line.Type == "tool_use":
		return streams.ToolLine(line.Tool, line.Parameters)
	case line.Type == "error":
		return line.Message + "\n"
	case line.Type == "result":
		return "\n"
	}
	return ""
}

func (g driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	message, ended := "", false
	failed := &agent.TurnError{CLI: g.Name(), ExitCode: exitCode}
	for raw := range bytes.Lines(stdout) {
		var line streamLine
		if json.Unmarshal(raw, &line) != nil {
			continue
		}
		switch {
		case line.Type == "message" && line.Role == "assistant":
			message += line.Content
		case line.Type == "tool_use":
			message = ""
		case line.Type == "result":
			ended = line.Status == "success"
			failed.Type, failed.Message = line.Error.Type, line.Error.Message
		}
	}
	if exitCode != 0 || !ended {
		return "", failed
	}
	return message, nil
}
