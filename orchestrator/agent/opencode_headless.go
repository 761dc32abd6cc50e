package agent

import (
	"bytes"
	"encoding/json"
)

// Headless runs `opencode run`, which rejects every permission that it would have to ask for.
func (o opencode) Headless(s Spec) (Command, error) {
	argv := []string{s.Executable, "run", "--format", "json"}
	if s.ConversationID != "" {
		if err := checkID(o.Name(), s.ConversationID); err != nil {
			return Command{}, err
		}
		argv = append(argv, "--session", s.ConversationID)
	}
	argv = append(append(argv, s.Args...), "--", s.Prompt)
	return Command{Argv: argv}, checkPrompt(o.Name(), s.Prompt, s.Prompt)
}

type opencodeRunLine struct {
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

func (opencode) HeadlessLine(raw []byte) string {
	var line opencodeRunLine
	if json.Unmarshal(raw, &line) != nil {
		return ""
	}
	switch line.Type {
	case "text":
		return line.Part.Text + "\n"
	case "tool_use":
		return toolLine(line.Part.Tool, line.Part.State.Input)
	case "error":
		return line.Error.Data.Message + "\n"
	}
	return ""
}

func (o opencode) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	message := ""
	failed := &TurnError{CLI: o.Name(), ExitCode: exitCode}
	for raw := range bytes.Lines(stdout) {
		var line opencodeRunLine
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
