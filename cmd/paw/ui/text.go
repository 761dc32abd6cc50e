package ui

import (
	"paw/config/display"
)

// measure counts columns as the terminal does.
type measure = display.Measure

type area struct{ x, y, width, height int }

func (a area) has(x, y int) bool {
	return x >= a.x && x < a.x+a.width && y >= a.y && y < a.y+a.height
}

// The SGR codes of styles. The state of an agent has its own code, Agent.Colour.
const (
	bold    = "1"
	dim     = "2"
	grey    = display.Grey // replaces dim where there are colours
	under   = "4"
	reverse = "7"
	red     = display.Red
	green   = display.Green
	yellow  = display.Yellow + ";1"
	cyan    = display.Cyan
	bar     = display.OnYellow // of the title of a boxed question
)

// palette adds styles to text. Without colour, only bold, dim, underline and reverse are used.
type palette struct {
	colour bool
	dark   bool // the background of the terminal is known to be dark
}

// paint puts text into the style with an SGR code.
func (p palette) paint(text, code string) string {
	if text == "" || code == "" {
		return text
	}
	if p.colour && code == dim {
		code = grey
	}
	if p.dark {
		code = display.OnDark(code)
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

func (g Group) style() string {
	return [...]string{NeedsYou: yellow, ToReview: cyan, Working: green, Quiet: dim}[g]
}
