package handover

import (
	"fmt"
	"strings"

	"paw/config/display"
	"paw/orchestrator/errs"
)

// cutText keeps so many bytes of a text, and says how many are left out, unless
// that is as long.
func cutText(text string, most int) string {
	kept := display.Prefix(text, most)
	cut := strings.TrimSpace(kept + fmt.Sprintf("\n[%d bytes left out]", len(text)-len(kept)))
	if len(cut) >= len(text) {
		return text
	}
	return cut
}

// cutLine puts a text into one line of at most so many bytes, and marks that it was longer.
func cutLine(text string, most int) string {
	line := display.Words(text)
	if len(line) > most {
		return display.Prefix(line, most) + "..."
	}
	return line
}

// CountedMessages is a number of messages in words.
func CountedMessages(n int) string { return errs.Counted(n, "message") }

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
