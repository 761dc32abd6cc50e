package display

import "strings"

// SGR codes of paw's colours, from the 256 that no terminal theme changes. All are of medium
// brightness, readable on light and dark backgrounds.
const (
	Red     = "38;5;196"
	Green   = "38;5;28"
	Yellow  = "38;5;130"
	Cyan    = "38;5;31"
	Magenta = "38;5;133"
	Grey    = "38;5;243"
	// OnYellow is black on yellow, for an agent that waits for the user; tmux borders use the same.
	OnYellow = "30;43"
)

// sixteen replaces each colour by the one of the 16 that is nearest.
var sixteen = strings.NewReplacer(Red, "31", Green, "32", Yellow, "33", Cyan, "36", Magenta, "35", Grey, "90")

// For returns a style as a terminal shows it, by its name in TERM: some know 16 colours and no more.
func For(terminal, style string) string {
	switch {
	case terminal == "linux", terminal == "ansi", terminal == "cygwin", terminal == "xterm-color", strings.HasSuffix(terminal, "-16color"), strings.HasPrefix(terminal, "vt"):
		return sixteen.Replace(style)
	}
	return style
}

// Bar is the style of the selected row: white on a grey that stands out on light and dark
// terminals.
const Bar = "48;5;239;38;5;255"

// onBar replaces each colour by a lighter one, readable on a Bar.
var onBar = strings.NewReplacer(Red, "38;5;217", Green, "38;5;157", Yellow, "38;5;222", Cyan, "38;5;123", Magenta, "38;5;219", Grey, "38;5;252")

// OnBar restyles a painted line as a selected row.
func OnBar(line string) string {
	const reset = "\x1b[m"
	begin := "\x1b[" + Bar + "m"
	return begin + strings.ReplaceAll(onBar.Replace(line), reset, reset+begin) + reset
}
