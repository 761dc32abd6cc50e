package agent

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cell is one character of a screen with those of its attributes that tell what it is.
type cell struct {
	char          rune
	dim           bool // drawn weaker than text, by the attribute
	reverse, bold bool
	colour        string // of the text, as the screen gives it: "" for the terminal's own, "36", "38;5;246"
	ground        string // the colour behind it
}

// row is one line of a screen, without the spaces at its end.
type row []cell

// rowsOf reads a screenshot. Attributes go on from one line to the next. An escape sequence that is none of attributes
// is left out.
func rowsOf(s Screenshot) []row {
	var all []row
	var pen cell
	for line := range strings.Lines(s.Text) {
		all = append(all, readRow(strings.TrimRight(line, "\n"), &pen))
	}
	for len(all) < s.Height {
		all = append(all, nil)
	}
	return all
}

// readRow reads a line, the begin of which pen draws and whose end leaves it as it is drawn there.
func readRow(line string, pen *cell) row {
	var cells row
	for line != "" {
		if strings.HasPrefix(line, "\033[") {
			end := strings.IndexFunc(line[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
			if end < 0 {
				break
			}
			if line[2+end] == 'm' {
				pen.attributes(line[2 : 2+end])
			}
			line = line[2+end+1:]
			continue
		}
		if strings.HasPrefix(line, "\033]") { // a link, which ends with ESC \
			end := strings.Index(line, "\033\\")
			if end < 0 {
				break
			}
			line = line[end+2:]
			continue
		}
		char, size := utf8.DecodeRuneInString(line)
		line = line[size:]
		if char < ' ' {
			continue
		}
		one := *pen
		one.char = char
		cells = append(cells, one)
	}
	for len(cells) > 0 && cells[len(cells)-1].char == ' ' {
		cells = cells[:len(cells)-1]
	}
	return cells
}

// attributes changes the pen by one sequence, such as "0;2" or "38;5;246".
func (c *cell) attributes(sequence string) {
	words := strings.Split(sequence, ";")
	for i := 0; i < len(words); i++ {
		code, _ := strconv.Atoi(words[i]) // nothing at all is a 0
		switch {
		case code == 0:
			*c = cell{}
		case code == 1:
			c.bold = true
		case code == 2:
			c.dim = true
		case code == 22:
			c.bold, c.dim = false, false
		case code == 7:
			c.reverse = true
		case code == 27:
			c.reverse = false
		case code == 38 || code == 48: // 5;N or 2;R;G;B
			length := 3
			if i+1 < len(words) && words[i+1] == "2" {
				length = 5
			}
			colour := strings.Join(words[i:min(i+length, len(words))], ";")
			if i += length - 1; code == 38 {
				c.colour = colour
			} else {
				c.ground = colour
			}
		case code == 39:
			c.colour = ""
		case code == 49:
			c.ground = ""
		case code >= 30 && code <= 37, code >= 90 && code <= 97:
			c.colour = words[i]
		case code >= 40 && code <= 47, code >= 100 && code <= 107:
			c.ground = words[i]
		}
	}
}

func (r row) String() string {
	var text strings.Builder
	for _, c := range r {
		text.WriteRune(c.char)
	}
	return text.String()
}

// all reports whether each character but spaces is so, and that there is one.
func (r row) all(is func(cell) bool) bool {
	some := false
	for _, c := range r {
		if c.char == ' ' {
			continue
		}
		if !is(c) {
			return false
		}
		some = true
	}
	return some
}

// some reports whether a character is so.
func (r row) some(is func(cell) bool) bool { return slices.ContainsFunc(r, is) }

// rule reports whether a row is a line of one of these characters over the whole width.
func (r row) rule(width int, chars string) bool {
	return len(r) == width && r.all(func(c cell) bool { return strings.ContainsRune(chars, c.char) })
}

// begins reports whether a row begins with a character.
func (r row) begins(char rune) bool { return len(r) > 0 && r[0].char == char }

// from is a row without its first n cells.
func (r row) from(n int) row { return r[min(n, len(r)):] }

// draft joins the rows of a box to the text that was typed. Where a CLI broke a line that was too long for width, nothing
// shows whether a space stood there: then the text cannot be read whole and is "".
func draft(lines []string, width int) string {
	for i := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(lines[i+1], " ")
		if utf8.RuneCountInString(lines[i])+1+utf8.RuneCountInString(word) > width {
			return ""
		}
	}
	return strings.Join(lines, "\n")
}
