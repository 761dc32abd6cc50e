package main

import (
	"io"
	"strings"

	"paw/config/display"
)

// terminalText writes to a terminal what a host's commands print: text, colours, tabs and line breaks. Everything else that could
// command the terminal is left out; an escape sequence may come in pieces.
type terminalText struct {
	w    io.Writer
	rest string
}

// longestEscape bounds how much of an escape sequence that does not end is waited for.
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

// colouredText is a text without escape sequences but those that set colours, and without other control characters.
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

// escapeEnds reports whether an escape sequence that begins a text is whole, or the text goes on behind it.
func escapeEnds(text string) bool {
	sequence := display.Escape(text)
	if len(sequence) < len(text) {
		return true
	}
	last := sequence[len(sequence)-1]
	return len(sequence) > 2 && last >= '@' && last <= '~' && sequence[1] == '['
}
