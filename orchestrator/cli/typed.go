package cli

import (
	"strings"
	"unicode"
)

// Trimmed is a prompt without blanks around it, which every CLI cuts off: among them is the space with which paw makes
// text of what would be a command.
func Trimmed(prompt string) string { return strings.TrimRightFunc(TrimLeft(prompt), unicode.IsSpace) }

// TrimLeft cuts what CLIs in JavaScript cut off the begin of a prompt.
func TrimLeft(prompt string) string {
	return strings.TrimLeftFunc(prompt, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
}

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
