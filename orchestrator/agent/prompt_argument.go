package agent

import (
	"fmt"
	"runtime"
	"strings"
)

// checkPrompt refuses what no program can get as one argument of argument bytes.
func checkPrompt(cli, prompt, argument string) error {
	if strings.ContainsRune(prompt, 0) {
		return &PromptError{CLI: cli, Reason: "a prompt cannot have a NUL character"}
	}
	if len(argument) > MaxArgument() {
		return &PromptError{CLI: cli, Send: true,
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

// interactivePrompt is the argument of gemini and qwen for a first prompt.
func interactivePrompt(cli, prompt string) (string, error) {
	if err := checkCommand(cli, prompt); err != nil {
		return "", err
	}
	argument := "--prompt-interactive=" + prompt
	return argument, checkPrompt(cli, prompt, argument)
}

// ownWords is a prompt without the files that it names with @, whose contents gemini and qwen put behind it.
func ownWords(prompt string) string {
	own, files, named := strings.Cut(prompt, "\n--- Content from referenced files ---")
	if named && strings.HasSuffix(files, "\n--- End of content ---") {
		return own
	}
	return prompt
}
