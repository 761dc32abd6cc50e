// Package prompts checks and changes prompts that a CLI would take for a command.
package prompts

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"paw/orchestrator/cli"
)

// Exits lists the prompts of one word at which several CLIs exit, whatever blanks are around them.
var Exits = []string{"exit", "quit", ":q", ":q!", ":wq", ":wq!"}

// CheckWord refuses a prompt that is one of words, which the CLI would run as a command.
func CheckWord(cliName, prompt string, words ...string) error {
	word := cli.Trimmed(prompt)
	if slices.ContainsFunc(words, func(one string) bool { return strings.EqualFold(one, word) }) {
		return &cli.PromptError{CLI: cliName, Reason: fmt.Sprintf("a prompt of the one word %q is a command; say more", word)}
	}
	return nil
}

// CheckCommand refuses prompts that qwen runs as commands, as an argument and typed. It trims a prompt
// first, so that a leading space does not help. Comments and paths are no commands.
func CheckCommand(cliName, prompt string) error {
	text, slash := strings.CutPrefix(cli.TrimLeft(prompt), "/")
	if !slash || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "*") {
		return nil
	}
	if words := strings.Fields(text); len(words) > 0 && strings.Contains(words[0], "/") {
		return nil
	}
	return &cli.PromptError{CLI: cliName, Reason: `a prompt that begins with "/" would run as a command`}
}

// Spaced puts a space before a prompt that begins with "/" (a command of most CLIs) or "!" (a shell
// command).
func Spaced(prompt string) string {
	if strings.HasPrefix(prompt, "/") || strings.HasPrefix(prompt, "!") {
		return " " + prompt
	}
	return prompt
}

// Closed puts a space, which the CLI trims, behind a prompt whose last word begins with a mark: such as "@" opens a menu there,
// and Enter would take what the menu offers.
func Closed(prompt string) string {
	last := []rune(prompt[strings.LastIndexFunc(prompt, unicode.IsSpace)+1:])
	if len(last) == 0 || unicode.IsLetter(last[0]) || unicode.IsDigit(last[0]) {
		return prompt
	}
	return prompt + " "
}

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

// OwnWords cuts off the contents of files named with @, which qwen appends to a prompt.
func OwnWords(prompt string) string {
	own, files, named := strings.Cut(prompt, "\n--- Content from referenced files ---")
	if named && strings.HasSuffix(files, "\n--- End of content ---") {
		return own
	}
	return prompt
}

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
