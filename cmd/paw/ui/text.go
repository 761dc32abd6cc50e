package ui

import (
	"strings"
	"unicode/utf8"

	"paw/config/display"
)

// measure is the way in which the terminal counts columns, as the terminal has told.
type measure = display.Measure

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
		column += c.Width(s)
	}
	for text != "" {
		switch b := text[0]; {
		case b == 0x1b:
			sequence := display.Escape(text)
			text = text[len(sequence):]
			if codes, ok := display.Style(sequence); ok && c.colour {
				out.WriteString(sequence)
				holds, styled = styleAfter(holds, sequence, codes), true
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
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && size == 1 || display.Reorders(r) {
			return i
		}
	}
	return len(text)
}

// longestStyle bounds how many bytes of styles a line begins with: beyond it the newest one alone counts.
const longestStyle = 256

// styleAfter is the style that holds after one more sequence with these codes.
func styleAfter(holds, sequence, codes string) string {
	switch {
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
