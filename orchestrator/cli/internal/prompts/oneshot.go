package prompts

import (
	"context"

	"paw/orchestrator/cli"
)

// Session returns the option for a headless turn in the conversation Spec.ConversationID, whose id
// paw chose: --resume if the conversation exists, else --session-id.
func Session(d cli.Driver, s cli.Spec) (option string, err error) {
	found, err := d.Conversation(context.Background(), s)
	switch {
	case err != nil:
		return "", err
	case found.Resumable:
		return "--resume", nil
	case found.NewID:
		return "", &cli.ConversationError{CLI: d.Name(), ID: s.ConversationID, Reason: found.Reason}
	}
	return "--session-id", nil
}

// OneShot returns the arguments of gemini, qwen and copilot for a headless turn with that output
// format.
func OneShot(cli cli.Driver, s cli.Spec, format string) ([]string, error) {
	option, err := Session(cli, s)
	if err != nil {
		return nil, err
	}
	argv := append([]string{s.Executable, "--output-format", format, option + "=" + s.ConversationID}, s.Args...)
	argument := "--prompt=" + s.Prompt
	return append(argv, argument), CheckArgument(cli.Name(), s.Prompt, argument)
}
