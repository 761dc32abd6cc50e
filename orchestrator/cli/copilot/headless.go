package copilot

import (
	"encoding/json"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/streams"
)

// Headless runs copilot with -p, which refuses every permission instead of asking.
func (c driver) Headless(s cli.Spec) (cli.Command, error) {
	argv, err := prompts.OneShot(c, s, "json")
	return cli.Command{Argv: argv}, err
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

func (driver) HeadlessLine(line []byte) string { return streams.Show(line, streamLine.tell) }

func (c driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	return streams.Result(c.Name(), streams.Turn{}, stdout, exitCode, streamLine.tell)
}

func (l streamLine) tell(t *streams.Turn) {
	switch l.Type {
	case "assistant.message":
		t.Answer = l.Data.Content
		if t.Answer != "" {
			t.Shown = t.Answer + "\n"
		}
		for _, tool := range l.Data.Tools {
			t.Shown += streams.ToolLine(tool.Name, tool.Arguments)
		}
	case "session.error":
		t.Failed.Type, t.Failed.Message, t.Shown = l.Data.ErrorType, l.Data.Message, l.Data.Message+"\n"
	case "result":
		t.Ended = l.ExitCode == 0
	}
}
