package claude

import (
	"context"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/prompts"
	"paw/orchestrator/agent/internal/streams"
)

// Headless gives claude's stream of JSON, because its exit code does not tell an interrupt from an answer.
func (c driver) Headless(s agent.Spec) (agent.Command, error) {
	found, err := c.Conversation(context.Background(), s)
	if err != nil {
		return agent.Command{}, err
	}
	id := []string{"--session-id", s.ConversationID}
	switch {
	case found.Resumable:
		id[0] = "--resume"
	case found.NewID:
		return agent.Command{}, &agent.ConversationError{CLI: c.Name(), ID: s.ConversationID, Reason: found.Reason}
	}
	prompt := argument(s.Prompt)
	if err := prompts.CheckArgument(c.Name(), s.Prompt, prompt); err != nil {
		return agent.Command{}, err
	}
	argv := append([]string{s.Executable, "-p", "--output-format", "stream-json", "--verbose"}, id...)
	argv = append(append(argv, s.Args...), "--", prompt)
	return agent.Command{Argv: argv, Unset: []string{agent.ChildSession}}, nil
}

func (driver) HeadlessLine(line []byte) string { return streams.Text(line) }

func (c driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	return streams.Result(c.Name(), stdout, exitCode)
}
