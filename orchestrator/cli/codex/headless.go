package codex

import (
	"encoding/json"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/streams"
)

// Headless runs `codex exec`, which uses no daemon and refuses every permission instead of asking.
func (c driver) Headless(s cli.Spec) (cli.Command, error) {
	argv := append([]string{s.Executable, "exec", "--json", "-C", s.Worktree}, c.options(s, nil)...)
	if s.ConversationID != "" {
		argv = append(argv, "resume", "--", s.ConversationID, s.Prompt)
	} else {
		argv = append(argv, "--", s.Prompt)
	}
	return cli.Command{Argv: argv}, prompts.CheckArgument(c.Name(), s.Prompt, s.Prompt)
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

func (driver) HeadlessLine(line []byte) string { return streams.Show(line, execLine.tell) }

// HeadlessResult returns the last message of a completed turn.
func (c driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	return streams.Result(c.Name(), streams.Turn{}, stdout, exitCode, execLine.tell)
}

func (l execLine) tell(t *streams.Turn) {
	switch {
	case l.Type == "turn.completed":
		t.Ended = true
	case l.Type == "turn.failed":
		t.Failed.Message = l.Error.Message
	case l.Type == "error":
		t.Failed.Message, t.Shown = l.Message, l.Message+"\n"
	case l.Type != "item.completed":
	case l.Item.Type == "agent_message":
		t.Answer, t.Shown = l.Item.Text, l.Item.Text+"\n"
	case l.Item.Type == "command_execution":
		t.Shown = streams.ToolLine("shell", json.RawMessage(`{"command":`+string(l.Item.Command)+`}`))
	case l.Item.Type == "error":
		t.Shown = l.Item.Message + "\n"
	}
}
