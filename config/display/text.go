// Package display prepares text for terminals: it measures and cuts text by columns, and removes
// characters that control a terminal.
//
// No other package of paw knows how wide a character is and how an escape sequence is written.
// Widths come from package ansi, like those in the desk's terminal library.
package display

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Measure is a method by which terminals count columns.
type Measure ansi.Method

// Methods of counting columns.
const (
	Single    = Measure(ansi.WcWidth)       // a flag made of two letters counts as one letter
	Graphemes = Measure(ansi.GraphemeWidth) // a visible character counts once, such as 👩‍🚀 and 🇩🇪
)

// Ellipsis marks that a text was cut.
const Ellipsis = "…"

// Next returns the length, in bytes, and the width of the first escape sequence, control character
// or visible character of a text.
func (m Measure) Next(s string) (bytes, columns int) {
	switch {
	case s == "":
		return 0, 0
	case s[0] == '\x1b':
		return len(Escape(s)), 0
	case s[0] < ' ' || s[0] == '\x7f':
		return 1, 0
	case s[0] < '\x7f' && (len(s) == 1 || s[1] < utf8.RuneSelf):
		return 1, 1
	}
	piece, columns := ansi.FirstGraphemeCluster(s, ansi.Method(m))
	return len(piece), columns
}

// Width returns how many columns a text takes.
func (m Measure) Width(s string) int {
	if ascii(s, "") {
		return len(s)
	}
	width := 0
	for s != "" {
		bytes, columns := m.Next(s)
		s, width = s[bytes:], width+columns
	}
	return width
}

// split cuts a text after at most width columns.
func (m Measure) split(s string, width int) (head, rest string) {
	i, used := 0, 0
	for i < len(s) {
		bytes, columns := m.Next(s[i:])
		if used += columns; used > width {
			break
		}
		i += bytes
	}
	return s[:i], s[i:]
}

// Cut returns a text shortened to at most width columns, with an ellipsis if something is left out.
// Escape sequences after the cut are kept, so that styles end where they did.
func (m Measure) Cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if len(s) <= width && !strings.Contains(s, "\x1b") || m.Width(s) <= width { // A column takes at least one byte.
		return s
	}
	head, rest := m.split(s, width-1)
	var out strings.Builder
	out.WriteString(head)
	out.WriteString(Ellipsis)
	for rest != "" {
		i := strings.IndexByte(rest, '\x1b')
		if i < 0 {
			break
		}
		escape := Escape(rest[i:])
		out.WriteString(escape)
		rest = rest[i+len(escape):]
	}
	return out.String()
}

// Fill returns a text in exactly width columns, cut or followed by spaces.
func (m Measure) Fill(s string, width int) string {
	s = m.Cut(s, width)
	return s + strings.Repeat(" ", max(width-m.Width(s), 0))
}

// Right returns a text in exactly width columns, cut or preceded by spaces.
func (m Measure) Right(s string, width int) string {
	s = m.Cut(s, width)
	return strings.Repeat(" ", max(width-m.Width(s), 0)) + s
}

// Wrap breaks a text at spaces into lines of width columns, at most most of them; the last line is
// cut if more is left.
func (m Measure) Wrap(s string, width, most int) []string {
	if width <= 0 || most <= 0 {
		return nil
	}
	var lines []string
	for s = strings.TrimSpace(s); s != ""; {
		head, rest := m.split(s, width)
		if len(lines) == most-1 || rest == "" || head == "" { // head is "" when a character is wider than the line
			return append(lines, m.Cut(s, width))
		}
		if space := strings.LastIndexByte(head, ' '); space > 0 && rest[0] != ' ' {
			head, rest = head[:space], head[space:]+rest
		}
		lines, s = append(lines, strings.TrimRight(head, " ")), strings.TrimLeft(rest, " ")
	}
	return lines
}

// Tail returns the last width columns of a text, with an ellipsis if its start is left out.
func (m Measure) Tail(s string, width int) string {
	left := m.Width(s)
	if left <= width {
		return s
	}
	for left >= width && s != "" {
		bytes, columns := m.Next(s)
		s, left = s[bytes:], left-columns
	}
	return Ellipsis + s
}

// Prefix returns the start of a text, at most most bytes, without a partial character.
func Prefix(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:max(most, 0)]
}

// SGR codes of paw's colours, from the 256 that no terminal theme changes. All are of medium
// brightness, readable on light and dark backgrounds.
const (
	Red     = "38;5;196"
	Green   = "38;5;28"
	Yellow  = "38;5;130"
	Cyan    = "38;5;31"
	Magenta = "38;5;133"
	Grey    = "38;5;243"
	// OnYellow is black on yellow, for an agent that waits for the user; tmux borders use the same.
	OnYellow = "30;43"
)

// onDark replaces each colour by a brighter one.
var onDark = strings.NewReplacer(Red, "38;5;210", Green, "38;5;114", Yellow, "38;5;179", Cyan, "38;5;80", Magenta, "38;5;176", Grey, "38;5;248")

// OnDark returns a style for a background that is known to be dark.
func OnDark(style string) string { return onDark.Replace(style) }

// sixteen replaces each colour by the one of the 16 that is nearest.
var sixteen = strings.NewReplacer(Red, "31", Green, "32", Yellow, "33", Cyan, "36", Magenta, "35", Grey, "90")

// For returns a style as a terminal shows it, by its name in TERM: some know 16 colours and no more.
func For(terminal, style string) string {
	switch {
	case terminal == "linux", terminal == "ansi", terminal == "cygwin", terminal == "xterm-color", strings.HasSuffix(terminal, "-16color"), strings.HasPrefix(terminal, "vt"):
		return sixteen.Replace(style)
	}
	return style
}

// Bar is the style of the selected row: white on a grey that stands out on light and dark
// terminals.
const Bar = "48;5;239;38;5;255"

// onBar replaces each colour by a lighter one, readable on a Bar.
var onBar = strings.NewReplacer(Red, "38;5;217", Green, "38;5;157", Yellow, "38;5;222", Cyan, "38;5;123", Magenta, "38;5;219", Grey, "38;5;252")

// offDark takes OnDark back.
var offDark = strings.NewReplacer(OnDark(Red), Red, OnDark(Green), Green, OnDark(Yellow), Yellow, OnDark(Cyan), Cyan, OnDark(Magenta), Magenta, OnDark(Grey), Grey)

// OnBar restyles a painted line as a selected row.
func OnBar(line string) string {
	line = offDark.Replace(line)
	const reset = "\x1b[m"
	begin := "\x1b[" + Bar + "m"
	return begin + strings.ReplaceAll(onBar.Replace(line), reset, reset+begin) + reset
}

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

// LastLine returns the last line that is not blank, without surrounding spaces.
func LastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// TitleWidth limits the columns of a title.
const TitleWidth = 72

// Title returns the first line of a text by somebody else, without control characters. Of a
// heading in Markdown it returns the words; "#13" is the number of an issue and stays.
func Title(text string) string {
	line := strings.TrimLeft(Printable(FirstLine(strings.ToValidUTF8(text, "?"))), " ")
	if words := strings.TrimLeft(line, "#"); words == "" || words[0] == ' ' {
		return strings.TrimLeft(words, " ")
	}
	return line
}
