package copilot

import (
	"bytes"
	"encoding/json"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/prompts"
	"paw/orchestrator/agent/internal/streams"
)

// Headless runs copilot with -p, in which every permission that it would have to ask for is refused.
func (c driver) Headless(s agent.Spec) (agent.Command, error) {
	argv, err := prompts.OneShot(c, s, []string{"--output-format", "json"}, "--session-id", "--resume", "--prompt")
	return agent.Command{Argv: argv}, err
}

type streamLine struct {
	Type string `json:"type"`
	Data struct {
		Content   string `json:"content"`
		ErrorType string `json:"errorType"`
		Message   string `json:"message"`
		Tools     []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolRequests"`
	} `json:"data"`
	ExitCode int `json:"exitCode"`
}

func (driver) HeadlessLine(raw []byte) string {
	var line streamLine
	if json.Unmarshal(raw, &line) != nil {
		return ""
	}
	text := ""
	switch line.Type {
	case "assistant.message":
		if line.Data.Content != "" {
			text = line.Data.Content + "\n"
		}
		for _, tool := range line.Data.Tools {
			text += streams.ToolLine(tool.Name, tool.Arguments)
		}
	case "session.error":
		text = line.Data.Message + "\n"
	}
	return text
}

func (c driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	message, ended := "", false
	failed := &agent.TurnError{CLI: c.Name(), ExitCode: exitCode}
	for raw := range bytes.Lines(stdout) {
		var line streamLine
		if json.Unmarshal(raw, &line) != nil {
			continue
		}
		switch line.Type {
		case "assistant.message":
			message = line.Data.Content
		case "session.error":
			failed.Type, failed.Message = line.Data.ErrorType, line.Data.Message
		case "result":
			ended = line.ExitCode == 0
		}
	}
	if exitCode != 0 || !ended {
		return "", failed
	}
	return message, nil
}
