package main

import (
	"io"
	"strings"

	"paw/config/display"
)

// terminalText passes text, colours, tabs and line breaks of a host on to a terminal, and drops
// everything else that could control the terminal. An escape sequence may arrive in pieces.
type terminalText struct {
	w    io.Writer
	rest string
}

// longestEscape limits the bytes of an unfinished escape sequence that are kept back.
const longestEscape = 256

func (t *terminalText) Write(text []byte) (int, error) {
	all := t.rest + string(text)
	t.rest = ""
	if at := strings.LastIndexByte(all, '\x1b'); at >= 0 && len(all)-at < longestEscape && !escapeEnds(all[at:]) {
		all, t.rest = all[:at], all[at:]
	}
	if _, err := io.WriteString(t.w, colouredText(strings.ReplaceAll(all, "\r\n", "\n"))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// colouredText removes escape sequences, except those that set colours, and control characters.
func colouredText(text string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(text, '\x1b')
		if at < 0 {
			break
		}
		out.WriteString(display.Printable(text[:at]))
		sequence := display.Escape(text[at:])
		if _, colour := display.Style(sequence); colour {
			out.WriteString(sequence)
		}
		text = text[at+len(sequence):]
	}
	out.WriteString(display.Printable(text))
	return out.String()
}

// escapeEnds reports whether the escape sequence at the begin of a text is complete.
func escapeEnds(text string) bool {
	sequence := display.Escape(text)
	if len(sequence) < len(text) {
		return true
	}
	last := sequence[len(sequence)-1]
	return len(sequence) > 2 && last >= '@' && last <= '~' && sequence[1] == '['
}
