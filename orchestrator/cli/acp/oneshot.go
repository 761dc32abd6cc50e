package acp

import (
	"context"
	"encoding/json"
	"path/filepath"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/inbox"
	"paw/orchestrator/cli/internal/plain"
	"paw/orchestrator/cli/internal/prompts"
	"paw/session/turn"
)

// oneShot names the record of the headless turn of a CLI that keeps its conversations itself. The next turn replaces it.
const oneShot = "run"

// OneShot takes the headless turns of a CLI by the protocol, in the conversations that the CLI keeps. The program prints what it
// records.
type OneShot struct {
	CLI    string
	Speaks string // first argument that has the CLI speak the protocol
}

// Headless has the CLI speak the protocol.
func (o OneShot) Headless(s cli.Spec) (cli.Command, error) {
	agent := append([]string{s.Executable, o.Speaks}, s.Args...)
	l := launch{Name: o.CLI, State: s.StateDir, ID: oneShot, Prompt: s.Prompt, Before: s.ConversationID, Agent: agent}
	return cli.Command{Argv: l.argv(), Files: inbox.Of(s, kind).Files()}, prompts.CheckArgument(o.CLI, s.Prompt, s.Prompt)
}

// HeadlessLine reads a line of the record.
func (OneShot) HeadlessLine(line []byte) (string, turn.Event) {
	var e plain.Entry
	switch _ = json.Unmarshal(line, &e); {
	case e.Type == plain.TypeChunk:
		return e.Content, turn.Event{}
	case e.Type == plain.TypeTool:
		return "\n· " + e.Content + "\n", turn.Event{}
	case e.Type == plain.TypeNotice:
		return e.Content + "\n", turn.Event{}
	case e.Type == plain.TypeSession:
		var opened Session
		_ = json.Unmarshal([]byte(e.Content), &opened)
		return "", turn.Event{Conversation: opened.ID}
	case e.Event == plain.Waiting:
		return "\n", turn.Event{Kind: turn.KindInput, Message: e.Question}
	case e.Event == plain.Answered:
		return "", turn.Event{Kind: turn.KindAnswered}
	case e.Event == plain.TurnEnded:
		return "\n", turn.Event{}
	}
	return "", turn.Event{}
}

// HeadlessResult returns the last message of the turn.
func (o OneShot) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	failed := &cli.TurnError{CLI: o.CLI, ExitCode: exitCode}
	for _, e := range plain.Parse(stdout) {
		switch e.Event {
		case plain.TurnEnded:
			return e.Answer, nil
		case plain.Failed:
			failed.Message = e.Error
		case plain.Interrupted:
			failed.Message = "interrupted"
		}
	}
	return "", failed
}

// HeadlessChannel answers the questions of the turn.
func (OneShot) HeadlessChannel(s cli.Spec) cli.Channel {
	return channel{inbox.Of(s, kind), filepath.Join(launch{State: s.StateDir}.folder(), oneShot+".jsonl")}
}

// Headless goes on in the record of a conversation that paw keeps.
func (d driver) Headless(s cli.Spec) (cli.Command, error) {
	found, err := d.Conversation(context.Background(), s)
	if err != nil {
		return cli.Command{}, err
	}
	s.Hook = ""
	return d.start(s, found.Found), prompts.CheckArgument(d.Name(), s.Prompt, s.Prompt)
}

// HeadlessLine leaves out the agent's own name of the conversation.
func (d driver) HeadlessLine(line []byte) (string, turn.Event) {
	text, e := d.OneShot.HeadlessLine(line)
	e.Conversation = ""
	return text, e
}

func (d driver) HeadlessChannel(s cli.Spec) cli.Channel { return d.Channel(s) }
