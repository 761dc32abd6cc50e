package agent

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// trimmed is a prompt without blanks around it, which every CLI cuts off: among them is the space with which paw makes
// text of what would be a command.
func trimmed(prompt string) string { return strings.TrimRightFunc(trimLeft(prompt), unicode.IsSpace) }

// Typable is what of a prompt may go to a terminal: no character of it acts as a key there. An ESC would begin a key, or
// end the paste that the prompt is part of, and all that follows it would be typed. As terminals do with what is pasted,
// controls (C0, DEL, C1) are left out but for line feed and tab; each line end becomes a line feed, and each byte that is
// no UTF-8 becomes U+FFFD, which is what a CLI would make of it. dropped counts the controls.
func Typable(prompt string) (text string, dropped int) {
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(prompt)
	var b strings.Builder
	b.Grow(len(lines))
	for _, r := range lines { // a byte that is no UTF-8 comes as U+FFFD
		if isControl(r) {
			dropped++
			continue
		}
		b.WriteRune(r)
	}
	return b.String(), dropped
}

func isControl(r rune) bool {
	return r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0)
}

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
