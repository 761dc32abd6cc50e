package qwen

import (
	"strings"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/streams"
)

// Headless gives qwen's stream of JSON, because its exit code is 0 after an error of the API.
func (q driver) Headless(s cli.Spec) (cli.Command, error) {
	argv, err := prompts.OneShot(q, s, "stream-json")
	return cli.Command{Argv: argv}, err
}

func (driver) HeadlessLine(line []byte) string { return streams.Show(line, streams.Message.Tell) }

// HeadlessResult knows an error of the API by its text: qwen calls that a success.
func (q driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	message, err := streams.Result(q.Name(), streams.Turn{}, stdout, exitCode, streams.Message.Tell)
	if text, failed := strings.CutPrefix(message, "[API Error: "); failed && err == nil {
		return "", &cli.TurnError{CLI: q.Name(), Message: strings.TrimSuffix(text, "]"), ExitCode: exitCode}
	}
	return message, err
}
