package ui

// The styles of what is not coloured by a state. Colours are the terminal's own, so that they fit light and dark ones.
const (
	bold   = "1"
	dim    = "2"
	under  = "4"
	red    = "31"
	green  = "32"
	yellow = "33;1"
	cyan   = "36"
)

// palette paints text. Without colour the styles stay that are none.
type palette struct{ colour bool }

// paint gives text a style by its code.
func (p palette) paint(text, code string) string {
	if text == "" || code == "" {
		return text
	}
	if !p.colour {
		switch code {
		case bold, dim, under:
		case yellow:
			code = bold
		default:
			return text
		}
	}
	return "\x1b[" + code + "m" + text + "\x1b[m"
}
