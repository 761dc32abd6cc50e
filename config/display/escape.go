package display

import (
	"strings"
	"unicode"
)

// Escape returns the escape sequence at the start of a text: control sequences, strings such as
// titles, and short escapes (ECMA-48); "" for none. An incomplete sequence ends before the
// character that breaks it off.
//
// A string ends at BEL, ST, CAN or SUB, or before the next ESC. The single byte 0x9c does not end a
// string, although package ansi takes that byte for ST: the byte is part of “, ✜ and other
// characters.
func Escape(s string) string {
	if s == "" || s[0] != '\x1b' {
		return ""
	}
	if len(s) == 1 {
		return s
	}
	switch s[1] {
	case '[':
		i := 2
		for i < len(s) && s[i] >= '0' && s[i] <= '?' {
			i++
		}
		return s[:final(s, i, '@')]
	case ']', 'P', 'X', '^', '_':
		end := strings.IndexAny(s[2:], "\a\x18\x1a\x1b")
		switch {
		case end < 0:
			return s
		case s[2+end] != '\x1b':
			return s[:2+end+1]
		case strings.HasPrefix(s[2+end:], "\x1b\\"):
			return s[:2+end+2]
		}
		return s[:2+end]
	}
	return s[:final(s, 1, '0')]
}

// final returns the end of a sequence. Intermediate bytes start at i; the final byte is least or
// higher.
func final(s string, i int, least byte) int {
	for i < len(s) && s[i] >= ' ' && s[i] <= '/' {
		i++
	}
	if i < len(s) && s[i] >= least && s[i] <= '~' {
		i++
	}
	return i
}

// Style returns the codes of an escape sequence that sets colours and attributes, such as "1;31";
// ok is false for other sequences.
func Style(escape string) (codes string, ok bool) {
	codes, begins := strings.CutPrefix(escape, "\x1b[")
	codes, ends := strings.CutSuffix(codes, "m")
	return codes, begins && ends && strings.Trim(codes, "0123456789:;") == ""
}

// Strip removes escape sequences.
func Strip(s string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(s, '\x1b')
		if i < 0 {
			break
		}
		out.WriteString(s[:i])
		s = s[i+len(Escape(s[i:])):]
	}
	if out.Len() == 0 {
		return s
	}
	out.WriteString(s)
	return out.String()
}

// Reorders reports whether a character makes a terminal change the order of the text (Unicode bidi
// controls).
func Reorders(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

// Printable returns a text without escape sequences, control characters other than line ends and
// tabs, and characters that reorder text.
func Printable(s string) string {
	if ascii(s, "\n\t") {
		return s
	}
	s = lineEnds.Replace(Strip(strings.ToValidUTF8(s, "?")))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || Reorders(r) {
			return -1
		}
		return r
	}, s)
}

var (
	lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")
	breaks   = strings.NewReplacer("\n", " ", "\t", " ")
)

// ascii reports whether a text holds only printable ASCII characters and those in controls.
func ascii(s, controls string) bool {
	for i := range len(s) {
		if b := s[i]; (b < ' ' || b > '~') && strings.IndexByte(controls, b) < 0 {
			return false
		}
	}
	return true
}

// OneLine returns the text as Printable does, with line ends and tabs replaced by spaces.
func OneLine(s string) string { return breaks.Replace(Printable(s)) }

// Words returns the text as Printable does, with words separated by single spaces.
func Words(s string) string { return strings.Join(strings.Fields(Printable(s)), " ") }

// FirstLine returns the first line that is not blank, without surrounding spaces.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}
