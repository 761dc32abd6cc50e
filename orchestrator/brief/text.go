package brief

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"paw/orchestrator/fault"
	"paw/session/history"
)

// cutText keeps so many bytes of a text, and says how many are left out, unless
// that is as long.
func cutText(text string, most int) string {
	kept := whole(text, most)
	cut := strings.TrimSpace(kept + fmt.Sprintf("\n[%d bytes left out]", len(text)-len(kept)))
	if len(cut) >= len(text) {
		return text
	}
	return cut
}

// whole is the beginning of a text, of at most so many bytes and whole characters.
func whole(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// cutLine puts a text into one line of at most so many bytes, and marks that it was longer.
func cutLine(text string, most int) string {
	line := oneLineOf(text)
	if len(line) > most {
		return whole(line, most) + "..."
	}
	return line
}

// oneLineOf puts a text into one line.
func oneLineOf(text string) string { return strings.Join(strings.Fields(history.Printable(text)), " ") }

// CountedMessages is a number of messages in words.
func CountedMessages(n int) string { return fault.Counted(n, "message") }

// someNumbers lists numbers of turns, the first ones of many.
func someNumbers(numbers []int) string {
	const most = 20
	var words []string
	for _, n := range numbers[:min(most, len(numbers))] {
		words = append(words, fmt.Sprint(n))
	}
	if len(numbers) > most {
		words = append(words, "...")
	}
	return strings.Join(words, ", ")
}
