package display

import (
	"image/color"
	"strconv"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Pen has the attributes with which a terminal draws.
type Pen struct {
	Dim, Reverse, Bold bool
	Colour, Ground     color.Color // nil for the default
	style              uv.Style
}

// Take follows an escape sequence; those that set no colours and attributes change nothing.
func (p *Pen) Take(escape string) {
	codes, ok := Style(escape)
	if !ok {
		return
	}
	var params ansi.Params
	for word := range strings.SplitSeq(codes, ";") {
		code, _ := strconv.Atoi(word) // an empty word is a 0
		params = append(params, ansi.Param(code))
	}
	uv.ReadStyle(params, &p.style)
	has := func(attribute uint8) bool { return p.style.Attrs&attribute != 0 }
	p.Dim, p.Bold, p.Reverse = has(uv.AttrFaint), has(uv.AttrBold), has(uv.AttrReverse)
	p.Colour, p.Ground = p.style.Fg, p.style.Bg
}
