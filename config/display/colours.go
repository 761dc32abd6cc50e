package display

import "strings"

// The codes (SGR) of the colours that paw paints with. They are of the 256 that do not change with a terminal's theme, half way
// between black and white, so that each can be read on light terminals and on dark ones.
const (
	Red     = "38;5;160"
	Green   = "38;5;28"
	Yellow  = "38;5;130"
	Cyan    = "38;5;30"
	Magenta = "38;5;133"
	Grey    = "38;5;243"
	// OnYellow is of what waits for the user: black on yellow, as on the borders of panes.
	OnYellow = "30;43"
)

// Bar is of the row that the user is at: a grey that stands out of light terminals and of dark ones, and white on it.
const Bar = "48;5;239;38;5;255"

// onBar has each colour as it can be read on a Bar.
var onBar = strings.NewReplacer(Red, "38;5;217", Green, "38;5;157", Yellow, "38;5;222", Cyan, "38;5;123", Magenta, "38;5;219", Grey, "38;5;252")

// OnBar makes a line that was painted with these colours one on a Bar.
func OnBar(line string) string {
	const reset = "\x1b[m"
	begin := "\x1b[" + Bar + "m"
	return begin + strings.ReplaceAll(onBar.Replace(line), reset, reset+begin) + reset
}
