package opencode

import (
	"bytes"
	"encoding/json"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/prompts"
	"paw/orchestrator/agent/internal/streams"
)

// Headless runs `opencode run`, which rejects every permission that it would have to ask for.
func (o driver) Headless(s agent.Spec) (agent.Command, error) {
	argv := []string{s.Executable, "run", "--format", "json"}
	if s.ConversationID != "" {
		argv = append(argv, "--session", s.ConversationID)
	}
	argv = append(append(argv, s.Args...), "--", s.Prompt)
	return agent.Command{Argv: argv}, prompts.CheckArgument(o.Name(), s.Prompt, s.Prompt)
}

type runLine struct {
	Type string `json:"type"`
	Part struct {
		Text  string `json:"text"`
		Tool  string `json:"tool"`
		State struct {
			Input json.RawMessage `json:"input"`
		} `json:"state"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
}

func (driver) HeadlessLine(raw []byte) string {
	var line runLine
	if json.Unmarshal(raw, &line) != nil {
		return ""
	}
	switch line.Type {
	case "text":
		return line.Part.Text + "\n"
	case "tool_use":
		return streams.ToolLine(line.Part.Tool, line.Part.State.Input)
	case "error":
		return line.Error.Data.Message + "\n"
	}
	return ""
}

func (o driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	message := ""
	failed := &agent.TurnError{CLI: o.Name(), ExitCode: exitCode}
	for raw := range bytes.Lines(stdout) {
		var line runLine
		if json.Unmarshal(raw, &line) != nil {
			continue
		}
		switch line.Type {
		case "text":
			message = line.Part.Text
		case "error":
			failed.Type, failed.Message = line.Error.Name, line.Error.Data.Message
		}
	}
	if exitCode != 0 || failed.Type != "" {
		return "", failed
	}
	return message, nil
}
