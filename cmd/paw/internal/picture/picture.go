// Package picture draws terminal screens as SVG, cell by cell, from what tmux captures with
// colours.
package picture

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"paw/config/display"
)

// Size of a cell, and of the space around a screen, in pixels.
const (
	cellWidth, cellHeight = 8, 17
	margin, gap           = 14, 12
)

// Colours of the terminal, and those drawn for the 16 ANSI colours.
const foreground, background, frame = "#d0d4db", "#16181d", "#3a3f4b"

var palette = []string{
	"#3a3f4b", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d0d4db",
	"#5c6370", "#ff7b86", "#b5e890", "#ffd78a", "#7cc0ff", "#e08cf0", "#6fd3df", "#ffffff",
}

type style struct {
	fg, bg                 string // "" for the terminal's own colour
	bold, dim, under, back bool
}

// run is text of one style, with the column of its first cell.
type run struct {
	style
	column, width int
	text          string
}

// Draw returns an SVG of screens, one below the other. A screen is the output of `tmux capture-pane
// -e -p`.
func Draw(columns int, screens ...string) string {
	var body strings.Builder
	y := 0
	width := columns*cellWidth + 2*margin
	for _, screen := range screens {
		lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
		height := len(lines)*cellHeight + 2*margin
		fmt.Fprintf(&body, "<rect x=\"0.5\" y=\"%d.5\" width=\"%d\" height=\"%d\" rx=\"8\" fill=\"%s\" stroke=\"%s\"/>\n", y, width-1, height-1, background, frame)
		var now style
		for i, line := range lines {
			var runs []run
			runs, now = parse(line, now)
			for _, r := range runs {
				body.WriteString(r.svg(y + margin + i*cellHeight))
			}
		}
		y += height + gap
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"13\">\n%s</svg>\n",
		width, y-gap, body.String())
}

// parse divides a line into runs. It returns the style at the end, with which the next line begins.
func parse(line string, now style) ([]run, style) {
	var runs []run
	column := 0
	for line != "" {
		length, width := display.Graphemes.Next(line)
		cluster := line[:length]
		line = line[length:]
		if display.Escape(cluster) != "" {
			if codes, ok := display.Style(cluster); ok {
				now = now.with(numbers(codes))
			}
			continue
		}
		if last := len(runs) - 1; last >= 0 && runs[last].style == now {
			runs[last].text += cluster
			runs[last].width += width
		} else {
			runs = append(runs, run{style: now, column: column, width: width, text: cluster})
		}
		column += width
	}
	return runs, now
}

// numbers parses the numbers of an escape sequence that sets styles.
func numbers(codes string) []int {
	var all []int
	for word := range strings.SplitSeq(codes, ";") {
		code, _ := strconv.Atoi(word) // an empty word is 0
		all = append(all, code)
	}
	return all
}

// with returns the style after an escape sequence.
func (s style) with(codes []int) style {
	for i := 0; i < len(codes); i++ {
		switch code := codes[i]; {
		case code == 0:
			s = style{}
		case code == 1:
			s.bold = true
		case code == 2:
			s.dim = true
		case code == 4:
			s.under = true
		case code == 7:
			s.back = true
		case code == 22:
			s.bold, s.dim = false, false
		case code == 24:
			s.under = false
		case code == 27:
			s.back = false
		case code >= 30 && code <= 37:
			s.fg = palette[code-30]
		case code >= 90 && code <= 97:
			s.fg = palette[code-90+8]
		case code >= 40 && code <= 47:
			s.bg = palette[code-40]
		case code >= 100 && code <= 107:
			s.bg = palette[code-100+8]
		case code == 39:
			s.fg = ""
		case code == 49:
			s.bg = ""
		case (code == 38 || code == 48) && i+2 < len(codes) && codes[i+1] == 5:
			if code == 38 {
				s.fg = indexed(codes[i+2])
			} else {
				s.bg = indexed(codes[i+2])
			}
			i += 2
		}
	}
	return s
}

func indexed(n int) string {
	switch {
	case n < 16:
		return palette[max(n, 0)]
	case n < 232:
		level := func(v int) int { return []int{0, 95, 135, 175, 215, 255}[v%6] }
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6), level(n))
	}
	grey := 8 + 10*(min(n, 255)-232)
	return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
}

// svg draws a run in the row at y: its background, then its text in exactly as many cells as it
// has.
func (r run) svg(y int) string {
	fg, bg := r.fg, r.bg
	if r.back {
		fg, bg = r.bg, r.fg
		if fg == "" {
			fg = background
		}
		if bg == "" {
			bg = foreground
		}
	}
	if fg == "" {
		fg = foreground
	}
	x, width := margin+r.column*cellWidth, r.width*cellWidth
	var out strings.Builder
	if bg != "" {
		fmt.Fprintf(&out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", x, y, width, cellHeight, bg)
	}
	text := strings.TrimRight(r.text, " ")
	if text == "" {
		return out.String()
	}
	more := ""
	if r.bold {
		more += " font-weight=\"bold\""
	}
	if r.dim {
		more += " opacity=\"0.6\""
	}
	if r.under {
		more += " text-decoration=\"underline\""
	}
	fmt.Fprintf(&out, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"%s\"%s xml:space=\"preserve\">%s</text>\n",
		x, y+cellHeight-4, display.Graphemes.Width(text)*cellWidth, fg, more, html.EscapeString(text))
	return out.String()
}
