package display

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
