package codex

import (
	"bytes"
	"encoding/json"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/prompts"
	"paw/orchestrator/agent/internal/streams"
)

// Headless runs `codex exec`, which is in no daemon and asks nobody: what needs a permission is refused.
func (c driver) Headless(s agent.Spec) (agent.Command, error) {
	argv := append([]string{s.Executable, "exec", "--json", "-C", s.Worktree}, c.options(s, nil)...)
	if s.ConversationID != "" {
		argv = append(argv, "resume", "--", s.ConversationID, s.Prompt)
	} else {
		argv = append(argv, "--", s.Prompt)
	}
	return agent.Command{Argv: argv}, prompts.CheckArgument(c.Name(), s.Prompt, s.Prompt)
}

type execLine struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Item struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Command json.RawMessage `json:"command"`
		Message string          `json:"message"`
	} `json:"item"`
}

func (driver) HeadlessLine(raw []byte) string {
	var line execLine
	if json.Unmarshal(raw, &line) != nil {
		return ""
	}
	switch {
	case line.Type == "error":
		return line.Message + "\n"
	case line.Type != "item.completed":
		return ""
	case line.Item.Type == "agent_message":
		return line.Item.Text + "\n"
	case line.Item.Type == "command_execution":
		return streams.ToolLine("shell", json.RawMessage(`{"command":`+string(line.Item.Command)+`}`))
	case line.Item.Type == "error":
		return line.Item.Message + "\n"
	}
	return ""
}

// HeadlessResult is the last message of a turn that has an end.
func (c driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	message, failure, completed := "", "", false
	for raw := range bytes.Lines(stdout) {
		var line execLine
		if json.Unmarshal(raw, &line) != nil {
			continue
		}
		switch {
		case line.Type == "item.completed" && line.Item.Type == "agent_message":
			message = line.Item.Text
		case line.Type == "turn.completed":
			completed = true
		case line.Type == "turn.failed":
			failure = line.Error.Message
		case line.Type == "error":
			failure = line.Message
		}
	}
	if exitCode != 0 || !completed {
		return "", &agent.TurnError{CLI: c.Name(), Message: failure, ExitCode: exitCode}
	}
	return message, nil
}
