// Package prompts is what CLIs make of a prompt: an argument, a command of their own or text.
package prompts

import (
	"fmt"
	"slices"
	"strings"

	"paw/orchestrator/cli"
)

// Exits are the prompts of one word at which several CLIs end, whatever blanks are around them.
var Exits = []string{"exit", "quit", ":q", ":q!", ":wq", ":wq!"}

// CheckWord refuses a prompt of one word that a CLI takes for itself.
func CheckWord(cliName, prompt string, words ...string) error {
	word := cli.Trimmed(prompt)
	if slices.ContainsFunc(words, func(one string) bool { return strings.EqualFold(one, word) }) {
		return &cli.PromptError{CLI: cliName, Reason: fmt.Sprintf("a prompt of the one word %q is a command; say more", word)}
	}
	return nil
}

// CheckCommand refuses what gemini and qwen run as a command of theirs, as an argument and typed. They trim a prompt
// first, so that no space makes it text. Comments and paths are none.
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

// Spaced puts a space before a prompt that begins with "/" (a command of most CLIs) or "!" (one of the shell).
func Spaced(prompt string) string {
	if strings.HasPrefix(prompt, "/") || strings.HasPrefix(prompt, "!") {
		return " " + prompt
	}
	return prompt
}
