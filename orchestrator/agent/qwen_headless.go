package agent

import "strings"

// Headless gives qwen's stream of JSON, because its exit code is 0 after an error of the API.
func (q qwen) Headless(s Spec) (Command, error) {
	argv, err := oneShot(q, s, []string{"--output-format", "stream-json"}, "--session-id", "--resume", "--prompt")
	return Command{Argv: argv}, err
}

func (qwen) HeadlessLine(line []byte) string { return streamText(line) }

// HeadlessResult knows an error of the API by its text: qwen calls that a success.
func (q qwen) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	message, err := streamResult(q.Name(), stdout, exitCode)
	if text, failed := strings.CutPrefix(message, "[API Error: "); failed && err == nil {
		return "", &TurnError{CLI: q.Name(), Message: strings.TrimSuffix(text, "]"), ExitCode: exitCode}
	}
	return message, err
}
