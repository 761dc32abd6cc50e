package agent

import (
	"context"
)

// Headless gives claude's stream of JSON, because its exit code does not tell an interrupt from an answer.
func (c claude) Headless(s Spec) (Command, error) {
	found, err := c.Conversation(context.Background(), s)
	if err != nil {
		return Command{}, err
	}
	id := []string{"--session-id", s.ConversationID}
	switch {
	case found.Resumable:
		id[0] = "--resume"
	case found.NewID:
		return Command{}, &ConversationError{CLI: c.Name(), ID: s.ConversationID, Reason: found.Reason}
	}
	prompt := claudeArgument(s.Prompt)
	if err := checkPrompt(c.Name(), s.Prompt, prompt); err != nil {
		return Command{}, err
	}
	argv := append([]string{s.Executable, "-p", "--output-format", "stream-json", "--verbose"}, id...)
	argv = append(append(argv, s.Args...), "--", prompt)
	return Command{Argv: argv, Unset: []string{childSession}}, nil
}

func (claude) HeadlessLine(line []byte) string { return streamText(line) }

func (c claude) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	return streamResult(c.Name(), stdout, exitCode)
}
