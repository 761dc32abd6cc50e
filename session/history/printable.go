package history

import (
	"strings"
	"unicode"

	"paw/config/lazyregexp"
)

// escapeSequence is what a terminal obeys instead of showing it (ECMA-48): control sequences, strings such as titles, and
// short escapes.
var escapeSequence = lazyregexp.New("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-~]")

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// plain reports whether text is ASCII that can be printed as it is, as most of it is.
func plain(text string) bool {
	for i := range len(text) {
		if b := text[i]; (b < ' ' || b > '~') && b != '\n' && b != '\t' {
			return false
		}
	}
	return true
}

// Printable is text as it can be printed on a terminal: without escape sequences, control characters other than line ends
// and tabs, and the characters that show a text in another order than it is written in.
func Printable(text string) string {
	if plain(text) {
		return text
	}
	text = escapeSequence.ReplaceAllString(strings.ToValidUTF8(text, "?"), "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, lineEnds.Replace(text))
}
