package gemini

import (
	"encoding/json"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/streams"
)

// Headless runs gemini with -p. In a folder that is not trusted it ends with an error.
func (g driver) Headless(s cli.Spec) (cli.Command, error) {
	argv, err := prompts.OneShot(g, s, "stream-json")
	if err != nil {
		return cli.Command{}, err
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

func (driver) HeadlessLine(line []byte) string { return streams.Show(line, streamLine.tell) }

func (g driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	return streams.Result(g.Name(), streams.Turn{}, stdout, exitCode, streamLine.tell)
}

func (l streamLine) tell(t *streams.Turn) {
	switch {
	case l.Type == "message" && l.Role == "assistant":
		t.Answer, t.Shown = t.Answer+l.Content, l.Content
	case l.Type == "tool_use":
		t.Answer, t.Shown = "", streams.ToolLine(l.Tool, l.Parameters)
	case l.Type == "error":
		t.Shown = l.Message + "\n"
	case l.Type == "result":
		t.Ended, t.Shown = l.Status == "success", "\n"
		t.Failed.Type, t.Failed.Message = l.Error.Type, l.Error.Message
	}
}
