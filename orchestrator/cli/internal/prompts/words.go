// Package prompts checks and changes prompts that a CLI would take for a command.
package prompts

import (
	"fmt"
	"slices"
	"strings"

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

// CheckCommand refuses prompts that gemini and qwen run as commands, as an argument and typed. Both
// trim a prompt first, so that a leading space does not help. Comments and paths are no commands.
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
