package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// ellipsis stands for what a line has no room for.
const ellipsis = "…"

// measure is how a terminal counts columns, as it has told the terminal library.
type measure ansi.Method

func (m measure) width(text string) int {
	for i := range len(text) {
		if text[i] < 0x20 || text[i] > 0x7e {
			return ansi.Method(m).StringWidth(text)
		}
	}
	return len(text)
}

// cut is text in at most width columns, with an ellipsis where some of it is left out.
func (m measure) cut(text string, width int) string {
	switch {
	case width <= 0:
		return ""
	case len(text) <= width && !strings.Contains(text, "\x1b") || m.width(text) <= width: // a column takes a byte at least
		return text
	}
	return ansi.Method(m).Truncate(text, width, ellipsis)
}

// fill is text in exactly width columns.
func (m measure) fill(text string, width int) string {
	text = m.cut(text, width)
	return text + strings.Repeat(" ", max(width-m.width(text), 0))
}

// right is text at the right end of width columns.
func (m measure) right(text string, width int) string {
	text = m.cut(text, width)
	return strings.Repeat(" ", max(width-m.width(text), 0)) + text
}

// wrap is text in at most most lines of width columns, broken at spaces where there are some.
func (m measure) wrap(text string, width, most int) []string {
	text = strings.TrimSpace(text)
	if text == "" || width <= 0 || most <= 0 {
		return nil
	}
	lines := strings.Split(ansi.Method(m).Wrap(text, width, " "), "\n")
	if len(lines) > most {
		lines[most-1] = m.cut(lines[most-1]+" "+lines[most], width)
		lines = lines[:most]
	}
	return lines
}

// drawing are the line-drawing characters that a terminal shows between shift-out and shift-in.
var drawing = map[byte]string{
	'j': "┘", 'k': "┐", 'l': "┌", 'm': "└", 'n': "┼", 'q': "─", 't': "├", 'u': "┤", 'v': "┴", 'w': "┬", 'x': "│", '`': "◆", 'a': "▒", '~': "·",
}

// tabStop is how far apart the columns are that a tab goes to.
const tabStop = 8

// cleaner makes lines out of text that programs wrote for a terminal. Nothing is left that would command the terminal but
// the styles, and these only with colour. Styles go on from line to line, so each line begins with those that hold.
type cleaner struct {
	measure
	colour bool
}

// lines are the lines of a text.
func (c cleaner) lines(text string) []string {
	var all []string
	holds := ""
	for line := range strings.Lines(text) {
		var clean string
		clean, holds = c.line(strings.TrimRight(line, "\r\n"), holds)
		all = append(all, clean)
	}
	return all
}

// line is one line, which begins with the style that holds, and the style that holds after it.
func (c cleaner) line(text, holds string) (clean, after string) {
	var out strings.Builder
	out.WriteString(holds)
	column, shifted, styled := 0, false, holds != ""
	write := func(s string) {
		out.WriteString(s)
		column += c.width(s)
	}
	for text != "" {
		switch b := text[0]; {
		case b == 0x1b:
			sequence, style := escapeIn(text)
			text = text[len(sequence):]
			if style && c.colour {
				out.WriteString(sequence)
				holds, styled = styleAfter(holds, sequence), true
			}
		case b == 0x0e, b == 0x0f:
			shifted, text = b == 0x0e, text[1:]
		case b == '\t':
			write(strings.Repeat(" ", tabStop-column%tabStop))
			text = text[1:]
		case b < 0x20 || b == 0x7f:
			text = text[1:]
		case shifted && drawing[b] != "":
			write(drawing[b])
			text = text[1:]
		default:
			n := plainPrefix(text)
			if n == 0 { // one character that does not stand for itself
				r, size := utf8.DecodeRuneInString(text)
				if r == utf8.RuneError && size == 1 {
					write("?")
				}
				n = size
			} else {
				if shifted {
					n = 1
				}
				write(text[:n])
			}
			text = text[n:]
		}
	}
	if styled {
		out.WriteString("\x1b[m")
	}
	return out.String(), holds
}

// plainPrefix is how many bytes text begins with that show as they are.
func plainPrefix(text string) int {
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && size == 1 || reorders(r) {
			return i
		}
	}
	return len(text)
}

// reorders reports whether a character shows a text in another order than it is written in.
func reorders(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// escapeIn is the escape sequence that text begins with, and whether it sets a style (ECMA-48).
func escapeIn(text string) (sequence string, style bool) {
	if len(text) < 2 {
		return text, false
	}
	i := 2
	switch text[1] {
	case '[':
		plain := true
		for ; i < len(text); i++ {
			switch b := text[i]; {
			case b >= '0' && b <= ';': // digits, colon, semicolon
			case b >= 0x20 && b <= 0x3f:
				plain = false
			default:
				return text[:i+1], plain && b == 'm'
			}
		}
		return text, false
	case ']', 'P', 'X', '^', '_': // a string, up to its end
		for ; i < len(text); i++ {
			if text[i] == 0x07 {
				return text[:i+1], false
			}
			if text[i] == 0x1b {
				return text[:min(i+2, len(text))], false
			}
		}
		return text, false
	}
	for i = 1; i < len(text) && text[i] >= 0x20 && text[i] <= 0x2f; i++ {
	}
	return text[:min(i+1, len(text))], false
}

// longestStyle bounds how many bytes of styles a line begins with: beyond it the newest one alone counts.
const longestStyle = 256

// styleAfter is the style that holds after one more sequence.
func styleAfter(holds, sequence string) string {
	switch codes := sequence[2 : len(sequence)-1]; {
	case codes == "" || codes == "0":
		return ""
	case strings.HasPrefix(codes, "0;"):
		return sequence
	}
	if len(holds)+len(sequence) > longestStyle {
		return sequence
	}
	return holds + sequence
}

// plain is a line without its styles.
func plain(line string) string {
	if !strings.Contains(line, "\x1b") {
		return line
	}
	return ansi.Strip(line)
}
