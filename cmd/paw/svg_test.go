package main

import (
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"testing"

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

type cellStyle struct {
	fg, bg                 string // "" for the terminal's own colour
	bold, dim, under, back bool
}

// svgRun is text of one cellStyle, with the column of its first cell.
type svgRun struct {
	cellStyle
	column, width int
	text          string
}

// drawSVG returns an SVG of screens, one below the other, cell by cell. A screen is the output of
// `tmux capture-pane -e -p`.
func drawSVG(columns int, screens ...string) string {
	var body strings.Builder
	y := 0
	width := columns*cellWidth + 2*margin
	for _, screen := range screens {
		lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
		height := len(lines)*cellHeight + 2*margin
		fmt.Fprintf(&body, "<rect x=\"0.5\" y=\"%d.5\" width=\"%d\" height=\"%d\" rx=\"8\" fill=\"%s\" stroke=\"%s\"/>\n", y, width-1, height-1, background, frame)
		var now cellStyle
		for i, line := range lines {
			var runs []svgRun
			runs, now = svgRuns(line, now)
			for _, r := range runs {
				body.WriteString(r.svg(y + margin + i*cellHeight))
			}
		}
		y += height + gap
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"13\">\n%s</svg>\n",
		width, y-gap, body.String())
}

// svgRuns divides a line into runs. It returns the style at the end, with which the next line begins.
func svgRuns(line string, now cellStyle) ([]svgRun, cellStyle) {
	var runs []svgRun
	column := 0
	for line != "" {
		length, width := display.Graphemes.Next(line)
		cluster := line[:length]
		line = line[length:]
		if display.Escape(cluster) != "" {
			if codes, ok := display.Style(cluster); ok {
				now = now.with(styleCodes(codes))
			}
			continue
		}
		if last := len(runs) - 1; last >= 0 && runs[last].cellStyle == now {
			runs[last].text += cluster
			runs[last].width += width
		} else {
			runs = append(runs, svgRun{cellStyle: now, column: column, width: width, text: cluster})
		}
		column += width
	}
	return runs, now
}

// styleCodes parses the numbers of an escape sequence that sets styles.
func styleCodes(codes string) []int {
	var all []int
	for word := range strings.SplitSeq(codes, ";") {
		code, _ := strconv.Atoi(word) // an empty word is 0
		all = append(all, code)
	}
	return all
}

// with returns the style after an escape sequence.
func (s cellStyle) with(codes []int) cellStyle {
	for i := 0; i < len(codes); i++ {
		switch code := codes[i]; {
		case code == 0:
			s = cellStyle{}
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
				s.fg = colourOf256(codes[i+2])
			} else {
				s.bg = colourOf256(codes[i+2])
			}
			i += 2
		}
	}
	return s
}

func colourOf256(n int) string {
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
func (r svgRun) svg(y int) string {
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

func TestDrawSVG(t *testing.T) {
	svg := drawSVG(20, "a \x1b[1;33mb<c\x1b[0m 店 d\nnext", "\x1b[7mback\x1b[0m \x1b[2;38;5;196mdim")
	for _, want := range []string{
		`<text x="14" y="27" textLength="8" fill="#d0d4db" xml:space="preserve">a</text>`,
		`<text x="30" y="27" textLength="24" fill="#e5c07b" font-weight="bold" xml:space="preserve">b&lt;c</text>`,
		`<text x="54" y="27" textLength="40" fill="#d0d4db" xml:space="preserve"> 店 d</text>`, // a wide character takes two cells
		`<text x="14" y="44" textLength="32" fill="#d0d4db" xml:space="preserve">next</text>`,
		`<rect x="14" y="88" width="32" height="17" fill="#d0d4db"/>`,
		`fill="#16181d" xml:space="preserve">back</text>`,
		`fill="#ff0000" opacity="0.6" xml:space="preserve">dim</text>`,
		`viewBox="0 0 188 119"`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
