package opencode

import (
	"encoding/json"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/streams"
)

// Headless runs `opencode run`, which rejects every permission instead of asking.
func (o driver) Headless(s cli.Spec) (cli.Command, error) {
	argv := []string{s.Executable, "run", "--format", "json"}
	if s.ConversationID != "" {
		argv = append(argv, "--session", s.ConversationID)
	}
	argv = append(append(argv, s.Args...), "--", s.Prompt)
	return cli.Command{Argv: argv}, prompts.CheckArgument(o.Name(), s.Prompt, s.Prompt)
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

func (driver) HeadlessLine(line []byte) string { return streams.Show(line, runLine.tell) }

// HeadlessResult takes a turn without an error for a completed one: no line reports the end.
func (o driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	return streams.Result(o.Name(), streams.Turn{Ended: true}, stdout, exitCode, runLine.tell)
}

func (l runLine) tell(t *streams.Turn) {
	switch l.Type {
	case "text":
		t.Answer, t.Shown = l.Part.Text, l.Part.Text+"\n"
	case "tool_use":
		t.Shown = streams.ToolLine(l.Part.Tool, l.Part.State.Input)
	case "error":
		t.Ended, t.Shown = false, l.Error.Data.Message+"\n"
		t.Failed.Type, t.Failed.Message = l.Error.Name, l.Error.Data.Message
	}
}
