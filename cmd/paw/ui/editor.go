package ui

import (
	"slices"
	"strings"

	"paw/config/display"
)

// text is what the user writes, divided into the characters that he sees, with the cursor before
// chars[at]. A text is a value.
type text struct {
	chars []string
	at    int
}

// textOf returns a text with the cursor at the end.
func textOf(s string) text { return text{}.insert(s) }

func (t text) String() string { return strings.Join(t.chars, "") }

// insert puts s at the cursor, with \n for every line end and without control characters other than
// \n and tab.
func (t text) insert(s string) text {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	s = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	before, after := strings.Join(t.chars[:t.at], "")+s, t.chars[t.at:]
	chars := characters(before) // the first character of s may combine with the character before the cursor
	return text{append(chars, after...), len(chars)}
}

// characters divides a string into grapheme clusters.
func characters(s string) []string {
	var chars []string
	for s != "" {
		length, _ := display.Graphemes.Next(s)
		chars, s = append(chars, s[:length]), s[length:]
	}
	return chars
}

// remove deletes the characters from one index to another.
func (t text) remove(from, to int) text {
	from, to = max(from, 0), min(to, len(t.chars))
	if from >= to {
		return t
	}
	return text{slices.Concat(t.chars[:from], t.chars[to:]), from}
}

// lineStart and lineEnd return the start and end of the cursor's line.
func (t text) lineStart() int {
	for i := t.at; i > 0; i-- {
		if t.chars[i-1] == "\n" {
			return i
		}
	}
	return 0
}

func (t text) lineEnd() int {
	for i := t.at; i < len(t.chars); i++ {
		if t.chars[i] == "\n" {
			return i
		}
	}
	return len(t.chars)
}

// wordStart and wordEnd return the start of the word before the cursor and the end of the word
// after the cursor.
func (t text) wordStart() int {
	i := t.at
	for i > 0 && strings.TrimSpace(t.chars[i-1]) == "" {
		i--
	}
	for i > 0 && strings.TrimSpace(t.chars[i-1]) != "" {
		i--
	}
	return i
}

func (t text) wordEnd() int {
	i := t.at
	for i < len(t.chars) && strings.TrimSpace(t.chars[i]) == "" {
		i++
	}
	for i < len(t.chars) && strings.TrimSpace(t.chars[i]) != "" {
		i++
	}
	return i
}

// upDown moves the cursor one line, to the same column or the end of a shorter line.
func (t text) upDown(down bool) text {
	column := t.at - t.lineStart()
	to := t
	if down {
		if to.at = t.lineEnd() + 1; to.at > len(t.chars) {
			return t
		}
	} else {
		if to.at = t.lineStart() - 1; to.at < 0 {
			return t
		}
		to.at = to.lineStart()
	}
	to.at = min(to.at+column, to.lineEnd())
	return to
}

// edited returns the text after a key; ok is false for keys that do not edit.
func (t text) edited(key, typed string) (_ text, ok bool) {
	switch key {
	case "left", "ctrl+b":
		t.at = max(t.at-1, 0)
	case "right", "ctrl+f":
		t.at = min(t.at+1, len(t.chars))
	case "home", "ctrl+a":
		t.at = t.lineStart()
	case "end", "ctrl+e":
		t.at = t.lineEnd()
	case "up", "ctrl+p":
		return t.upDown(false), true
	case "down", "ctrl+n":
		return t.upDown(true), true
	case "alt+b", "alt+left", "ctrl+left":
		t.at = t.wordStart()
	case "alt+f", "alt+right", "ctrl+right":
		t.at = t.wordEnd()
	case "backspace", "ctrl+h":
		return t.remove(t.at-1, t.at), true
	case "delete", "ctrl+d":
		after := t.remove(t.at, t.at+1)
		after.at = t.at
		return after, true
	case "ctrl+w", "alt+backspace":
		return t.remove(t.wordStart(), t.at), true
	case "ctrl+u":
		return t.remove(t.lineStart(), t.at), true
	case "ctrl+k":
		after := t.remove(t.at, t.lineEnd())
		after.at = t.at
		return after, true
	default:
		if typed == "" {
			return t, false
		}
		return t.insert(typed), true
	}
	return t, true
}

// rows breaks the text into rows of width columns, and returns the row and column of the cursor.
func (t text) rows(m measure, width int) (rows []string, row, column int) {
	var line strings.Builder
	used := 0
	for i := 0; ; i++ {
		w, char := 1, ""
		if i < len(t.chars) {
			if char = t.chars[i]; char == "\t" {
				char = "  "
			}
			w = m.Width(char)
		}
		if used+w > width && char != "\n" {
			rows = append(rows, line.String())
			line.Reset()
			used = 0
		}
		if i == t.at {
			row, column = len(rows), used
		}
		if i == len(t.chars) {
			return append(rows, line.String()), row, column
		}
		if char == "\n" {
			rows = append(rows, line.String())
			line.Reset()
			used = 0
			continue
		}
		line.WriteString(char)
		used += w
	}
}
