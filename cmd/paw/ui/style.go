package ui

import "paw/config/display"

// The styles of what is not coloured by a state.
const (
	bold    = "1"
	dim     = "2"
	grey    = display.Grey // of what is dim, where there are colours
	under   = "4"
	reverse = "7"
	red     = display.Red
	green   = display.Green
	yellow  = display.Yellow + ";1"
	cyan    = display.Cyan
	bar     = display.OnYellow // of what is asked
)

// palette paints text. Without colour the styles stay that are none.
type palette struct{ colour bool }

// paint gives text a style by its code.
func (p palette) paint(text, code string) string {
	if text == "" || code == "" {
		return text
	}
	if p.colour && code == dim {
		code = grey
	}
	if !p.colour {
		switch code {
		case bold, dim, under:
		case yellow:
			code = bold
		case bar:
			code = reverse
		default:
			return text
		}
	}
	return "\x1b[" + code + "m" + text + "\x1b[m"
}
