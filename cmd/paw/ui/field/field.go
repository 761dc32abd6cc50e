// Package field is a line or a text that a user writes: its characters, its cursor, and what keys do to
// both. Begin with Text.
package field

import (
	"slices"
	"strings"

	"paw/config/display"
)

// Text is an input field: its characters as a terminal shows them, each with its combining marks, and
// the cursor, which is before Chars[At]. A Text is a value.
type Text struct {
	Chars []string
	At    int
}

// Of returns a text with the cursor at the end.
func Of(s string) Text { return Text{}.Insert(s) }

func (t Text) String() string { return strings.Join(t.Chars, "") }

// Insert puts s at the cursor, with \n for every line end and without control characters other than
// \n and tab.
func (t Text) Insert(s string) Text {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	s = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	before, after := strings.Join(t.Chars[:t.At], "")+s, t.Chars[t.At:]
	chars := characters(before) // the first character of s may combine with the character before the cursor
	return Text{append(chars, after...), len(chars)}
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
func (t Text) remove(from, to int) Text {
	from, to = max(from, 0), min(to, len(t.Chars))
	if from >= to {
		return t
	}
	return Text{slices.Concat(t.Chars[:from], t.Chars[to:]), from}
}

// lineStart and lineEnd return the start and end of the cursor's line.
func (t Text) lineStart() int {
	for i := t.At; i > 0; i-- {
		if t.Chars[i-1] == "\n" {
			return i
		}
	}
	return 0
}

func (t Text) lineEnd() int {
	if i := slices.Index(t.Chars[t.At:], "\n"); i >= 0 {
		return t.At + i
	}
	return len(t.Chars)
}

// wordStart and wordEnd return the start of the word before the cursor and the end of the word
// after the cursor.
func (t Text) wordStart() int {
	i := t.At
	for i > 0 && strings.TrimSpace(t.Chars[i-1]) == "" {
		i--
	}
	for i > 0 && strings.TrimSpace(t.Chars[i-1]) != "" {
		i--
	}
	return i
}

func (t Text) wordEnd() int {
	i := t.At
	for i < len(t.Chars) && strings.TrimSpace(t.Chars[i]) == "" {
		i++
	}
	for i < len(t.Chars) && strings.TrimSpace(t.Chars[i]) != "" {
		i++
	}
	return i
}

// upDown moves the cursor one line, to the same column or the end of a shorter line.
func (t Text) upDown(down bool) Text {
	column := t.At - t.lineStart()
	to := t
	if down {
		if to.At = t.lineEnd() + 1; to.At > len(t.Chars) {
			return t
		}
	} else {
		if to.At = t.lineStart() - 1; to.At < 0 {
			return t
		}
		to.At = to.lineStart()
	}
	to.At = min(to.At+column, to.lineEnd())
	return to
}

// Edited returns the text after a key; ok is false for keys that do not edit.
func (t Text) Edited(key, typed string) (_ Text, ok bool) {
	switch key {
	case "left", "ctrl+b":
		t.At = max(t.At-1, 0)
	case "right", "ctrl+f":
		t.At = min(t.At+1, len(t.Chars))
	case "home", "ctrl+a":
		t.At = t.lineStart()
	case "end", "ctrl+e":
		t.At = t.lineEnd()
	case "up", "ctrl+p":
		return t.upDown(false), true
	case "down", "ctrl+n":
		return t.upDown(true), true
	case "alt+b", "alt+left", "ctrl+left":
		t.At = t.wordStart()
	case "alt+f", "alt+right", "ctrl+right":
		t.At = t.wordEnd()
	case "backspace", "ctrl+h":
		return t.remove(t.At-1, t.At), true
	case "delete", "ctrl+d":
		return t.remove(t.At, t.At+1), true
	case "ctrl+w", "alt+backspace":
		return t.remove(t.wordStart(), t.At), true
	case "ctrl+u":
		return t.remove(t.lineStart(), t.At), true
	case "ctrl+k":
		return t.remove(t.At, t.lineEnd()), true
	default:
		if typed == "" {
			return t, false
		}
		return t.Insert(typed), true
	}
	return t, true
}

// Rows breaks the text into rows of width columns, and returns the row and column of the cursor.
func (t Text) Rows(m display.Measure, width int) (rows []string, row, column int) {
	var line strings.Builder
	used := 0
	for i := 0; ; i++ {
		w, char := 1, ""
		if i < len(t.Chars) {
			if char = t.Chars[i]; char == "\t" {
				char = "  "
			}
			w = m.Width(char)
		}
		if used+w > width && char != "\n" {
			rows = append(rows, line.String())
			line.Reset()
			used = 0
		}
		if i == t.At {
			row, column = len(rows), used
		}
		if i == len(t.Chars) {
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
