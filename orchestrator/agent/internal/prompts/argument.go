package prompts

import (
	"fmt"
	"runtime"
	"strings"

	"paw/orchestrator/agent"
)

// CheckArgument refuses what no program can get as one argument of argument bytes.
func CheckArgument(cli, prompt, argument string) error {
	if strings.ContainsRune(prompt, 0) {
		return &agent.PromptError{CLI: cli, Reason: "a prompt cannot have a NUL character"}
	}
	if len(argument) > MaxArgument() {
		return &agent.PromptError{CLI: cli, Send: true,
			Reason: fmt.Sprintf("the prompt has %d bytes, more than the %d of one argument", len(prompt), MaxArgument())}
	}
	return nil
}

// MaxArgument is the number of bytes one argument of a process can have. Linux allows 32 pages with the final NUL
// (MAX_ARG_STRLEN, execve(2)); elsewhere only the sum counts, of which this leaves most to the environment.
func MaxArgument() int {
	if runtime.GOOS == "linux" {
		return 128<<10 - 1
	}
	return 256<<10 - 1
}

// Interactive is the argument of gemini and qwen for a first prompt.
func Interactive(cli, prompt string) (string, error) {
	if err := CheckCommand(cli, prompt); err != nil {
		return "", err
	}
	argument := "--prompt-interactive=" + prompt
	return argument, CheckArgument(cli, prompt, argument)
}

// OwnWords is a prompt without the files that it names with @, whose contents gemini and qwen put behind it.
func OwnWords(prompt string) string {
	own, files, named := strings.Cut(prompt, "\n--- Content from referenced files ---")
	if named && strings.HasSuffix(files, "\n--- End of content ---") {
		return own
	}
	return prompt
}
