// Package output makes lines that a screen can show of what programs print for a terminal. Begin with
// Cleaner.
package output

import (
	"strings"
	"unicode/utf8"

	"paw/config/display"
)

// drawing maps the letters that a terminal shows as lines between shift-out and shift-in.
var drawing = map[byte]string{
	'j': "┘", 'k': "┐", 'l': "┌", 'm': "└", 'n': "┼", 'q': "─", 't': "├", 'u': "┤", 'v': "┴", 'w': "┬", 'x': "│", '`': "◆", 'a': "▒", '~': "·",
}

// tabStop is the number of columns between tab stops.
const tabStop = 8

// Cleaner turns the output of a program for a terminal into lines. Only styles, and those only with
// colour, remain of all control sequences. Each line begins with the styles that the lines before
// have set.
type Cleaner struct {
	display.Measure
	Colour bool
}

// Lines returns the lines of a text.
func (c Cleaner) Lines(text string) []string {
	var all []string
	holds := ""
	for line := range strings.Lines(text) {
		var clean string
		clean, holds = c.line(strings.TrimRight(line, "\r\n"), holds)
		all = append(all, clean)
	}
	return all
}

// line cleans one line, begins it with the style holds, and returns the style that the next line
// begins with.
func (c Cleaner) line(text, holds string) (clean, after string) {
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
			if codes, ok := display.Style(sequence); ok && c.Colour {
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
			if n == 0 { // a control character, invalid UTF-8, or a character that reorders text
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

// plainPrefix returns how many bytes at the start of text can be shown as they are.
func plainPrefix(text string) int {
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && size == 1 || display.Reorders(r) {
			return i
		}
	}
	return len(text)
}

// longestStyle limits the bytes of styles that a line begins with. Beyond the limit only the newest
// style is kept.
const longestStyle = 256

// styleAfter returns the style after a sequence with these codes.
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
