package prompts

import (
	"context"

	"paw/orchestrator/agent"
)

// OneShot is the argv of gemini, qwen and copilot for one turn in a conversation whose id paw chose.
func OneShot(cli agent.Driver, s agent.Spec, format []string, fresh, resume, prompt string) ([]string, error) {
	found, err := cli.Conversation(context.Background(), s)
	if err != nil {
		return nil, err
	}
	option := fresh
	switch {
	case found.Resumable:
		option = resume
	case found.NewID:
		return nil, &agent.ConversationError{CLI: cli.Name(), ID: s.ConversationID, Reason: found.Reason}
	}
	argv := append([]string{s.Executable}, format...)
	argv = append(append(argv, option+"="+s.ConversationID), s.Args...)
	argument := prompt + "=" + s.Prompt
	return append(argv, argument), CheckArgument(cli.Name(), s.Prompt, argument)
}
