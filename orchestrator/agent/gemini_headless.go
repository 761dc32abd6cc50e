package agent

import (
	"bytes"
	"context"
	"encoding/json"
)

// oneShot is the argv of gemini, qwen and copilot for one turn in a conversation whose id paw chose.
func oneShot(cli CLI, s Spec, format []string, fresh, resume, prompt string) ([]string, error) {
	found, err := cli.Conversation(context.Background(), s)
	if err != nil {
		return nil, err
	}
	option := fresh
	switch {
	case found.Resumable:
		option = resume
	case found.NewID:
		return nil, &ConversationError{CLI: cli.Name(), ID: s.ConversationID, Reason: found.Reason}
	}
	argv := append([]string{s.Executable}, format...)
	argv = append(append(argv, option+"="+s.ConversationID), s.Args...)
	argument := prompt + "=" + s.Prompt
	return append(argv, argument), checkPrompt(cli.Name(), s.Prompt, argument)
}

// Headless runs gemini with -p. In a folder that is not trusted it ends with an error.
func (g gemini) Headless(s Spec) (Command, error) {
	argv, err := oneShot(g, s, []string{"--output-format", "stream-json"}, "--session-id", "--resume", "--prompt")
	if err != nil {
		return Command{}, err
	}
	s.Hook = ""
	return g.command(s, argv)
}

type geminiStreamLine struct {
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

func (gemini) HeadlessLine(raw []byte) string {
	var line geminiStreamLine
	if json.Unmarshal(raw, &line) != nil {
		return ""
	}
	switch {
	case line.Type == "message" && line.Role == "assistant":
		return line.Content
	case line.Type == "tool_use":
		return toolLine(line.Tool, line.Parameters)
	case line.Type == "error":
		return line.Message + "\n"
	case line.Type == "result":
		return "\n"
	}
	return ""
}

func (g gemini) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	message, ended := "", false
	failed := &TurnError{CLI: g.Name(), ExitCode: exitCode}
	for raw := range bytes.Lines(stdout) {
		var line geminiStreamLine
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

// Headless gives qwen's stream of JSON, because its exit code is 0 after an error of the API.
func (q qwen) Headless(s Spec) (Command, error) {
	argv, err := oneShot(q, s, []string{"--output-format", "stream-json"}, "--session-id", "--resume", "--prompt")
	return Command{Argv: argv}, err
}

func (qwen) HeadlessLine(line []byte) string { return streamText(line) }

func (q qwen) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	return streamResult(q.Name(), stdout, exitCode)
}

// Headless runs copilot with -p, in which every permission that it would have to ask for is refused.
func (c copilot) Headless(s Spec) (Command, error) {
	argv, err := oneShot(c, s, []string{"--output-format", "json"}, "--session-id", "--resume", "--prompt")
	return Command{Argv: argv}, err
}

type copilotStreamLine struct {
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

func (copilot) HeadlessLine(raw []byte) string {
	var line copilotStreamLine
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
			text += toolLine(tool.Name, tool.Arguments)
		}
	case "session.error":
		text = line.Data.Message + "\n"
	}
	return text
}

func (c copilot) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	message, ended := "", false
	failed := &TurnError{CLI: c.Name(), ExitCode: exitCode}
	for raw := range bytes.Lines(stdout) {
		var line copilotStreamLine
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
