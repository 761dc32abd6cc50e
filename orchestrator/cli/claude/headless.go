package claude

import (
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/streams"
)

// Headless gives claude's stream of JSON, because its exit code does not tell an interrupt from an answer.
func (c driver) Headless(s cli.Spec) (cli.Command, error) {
	option, err := prompts.Session(c, s)
	if err != nil {
		return cli.Command{}, err
	}
	prompt := argument(s.Prompt)
	if err := prompts.CheckArgument(c.Name(), s.Prompt, prompt); err != nil {
		return cli.Command{}, err
	}
	argv := append([]string{s.Executable, "-p", "--output-format", "stream-json", "--verbose", option, s.ConversationID}, s.Args...)
	argv = append(argv, "--", prompt)
	return cli.Command{Argv: argv, Unset: []string{cli.ChildSession}}, nil
}

func (driver) HeadlessLine(line []byte) string { return streams.Show(line, streams.Message.Tell) }

func (c driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	return streams.Result(c.Name(), streams.Turn{}, stdout, exitCode, streams.Message.Tell)
}
