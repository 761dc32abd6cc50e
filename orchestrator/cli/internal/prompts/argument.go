package prompts

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"

	"paw/orchestrator/cli"
)

// CheckArgument refuses a prompt with a NUL character, or whose argument is too long for a process.
func CheckArgument(cliName, prompt, argument string) error {
	if strings.ContainsRune(prompt, 0) {
		return &cli.PromptError{CLI: cliName, Reason: "a prompt cannot have a NUL character"}
	}
	if len(argument) > MaxArgument() {
		return &cli.PromptError{CLI: cliName, Send: true,
			Reason: fmt.Sprintf("the prompt has %d bytes, more than the %d of one argument", len(prompt), MaxArgument())}
	}
	return nil
}

// MaxArgument returns the maximal length of one argument in bytes. Linux allows 32 pages with the
// final NUL (MAX_ARG_STRLEN, execve(2)); elsewhere only the sum of all arguments is limited, and
// most of that is left to the environment.
func MaxArgument() int {
	if runtime.GOOS == "linux" {
		return 128<<10 - 1
	}
	return 256<<10 - 1
}

// Begin returns the command line with which gemini and qwen begin a conversation under a given id.
// exits are prompts at which the CLI would exit.
func Begin(cli string, s cli.Spec, exits ...string) ([]string, error) {
	argv := append([]string{s.Executable, "--session-id", s.ConversationID}, s.Args...)
	if s.Prompt == "" {
		return argv, nil
	}
	argument := "--prompt-interactive=" + s.Prompt
	return append(argv, argument), cmp.Or(CheckWord(cli, s.Prompt, exits...), CheckCommand(cli, s.Prompt), CheckArgument(cli, s.Prompt, argument))
}

// Resume returns the command line with which gemini and qwen resume a conversation.
func Resume(s cli.Spec) []string {
	return append([]string{s.Executable, "--resume", s.ConversationID}, s.Args...)
}

// OwnWords cuts off the contents of files named with @, which gemini and qwen append to a prompt.
func OwnWords(prompt string) string {
	own, files, named := strings.Cut(prompt, "\n--- Content from referenced files ---")
	if named && strings.HasSuffix(files, "\n--- End of content ---") {
		return own
	}
	return prompt
}
