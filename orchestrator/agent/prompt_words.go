package agent

import (
	"fmt"
	"slices"
	"strings"
)

// exits are the prompts of one word at which several CLIs end, whatever blanks are around them.
var exits = []string{"exit", "quit", ":q", ":q!", ":wq", ":wq!"}

// checkWord refuses a prompt of one word that a CLI takes for itself.
func checkWord(cli, prompt string, words ...string) error {
	word := trimmed(prompt)
	if slices.ContainsFunc(words, func(one string) bool { return strings.EqualFold(one, word) }) {
		return &PromptError{CLI: cli, Reason: fmt.Sprintf("a prompt of the one word %q is a command; say more", word)}
	}
	return nil
}

// checkCommand refuses what gemini and qwen run as a command of theirs, as an argument and typed. They trim a prompt
// first, so that no space makes it text. Comments and paths are none.
func checkCommand(cli, prompt string) error {
	text, slash := strings.CutPrefix(trimLeft(prompt), "/")
	if !slash || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "*") {
		return nil
	}
	if words := strings.Fields(text); len(words) > 0 && strings.Contains(words[0], "/") {
		return nil
	}
	return &PromptError{CLI: cli, Reason: `a prompt that begins with "/" would run as a command`}
}

// spaced puts a space before a prompt that begins with "/" (a command of most CLIs) or "!" (one of the shell).
func spaced(prompt string) string {
	if strings.HasPrefix(prompt, "/") || strings.HasPrefix(prompt, "!") {
		return " " + prompt
	}
	return prompt
}
