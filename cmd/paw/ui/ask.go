package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"paw/config/display"
)

// set changes the text of the question.
func (a *ask) set(t text) {
	if a.text = t; !a.several {
		a.text = textOf(strings.ReplaceAll(t.String(), "\n", " "))
		a.text.at = min(t.at, len(a.text.chars))
	}
}

// boxed reports whether one key answers. Such a question stands in a box above the detail, where
// the user looks.
func (a *ask) boxed() bool { return a.choose != nil }

// maxTitle limits the lines that the title of a boxed question takes.
const maxTitle = 3

// box cuts the room for a boxed question from the top of the detail, or from the end of the list
// where no detail is shown.
func (a *ask) box(m measure, detail, list area) (box, restOfDetail, restOfList area) {
	if detail.height > 0 {
		box = detail
		box.height = min(a.height(m, box.width, detail.height), detail.height)
		detail.y, detail.height = detail.y+box.height, detail.height-box.height
		return box, detail, list
	}
	box = list
	box.height = min(a.height(m, box.width, list.height), list.height)
	list.height -= box.height
	box.y += list.height
	return box, detail, list
}

// height returns how many lines the question takes of the height lines between the head and the
// foot of the screen.
func (a *ask) height(m measure, width, height int) int {
	if a.boxed() {
		return min(len(m.Wrap(a.title, max(width-1, 1), maxTitle))+len(a.lines)+2, height)
	}
	rows, _, _ := a.text.rows(m, max(width-2, 1))
	most := 1
	if a.several {
		most = max(height/2, 3)
	}
	return min(1+min(len(rows), most), height)
}

// view draws the title and, of a text, the rows around the cursor.
func (a *ask) view(p palette, m measure, width, height int) []string {
	view := make([]string, height)
	if a.boxed() {
		copy(view, a.boxView(p, m, width))
		return view
	}
	lines := []string{p.paint(m.Cut(a.title, width), bold)}
	for _, line := range a.lines {
		lines = append(lines, m.Cut(line, width))
	}
	rows, row, _ := a.text.rows(m, max(width-2, 1))
	top := a.top(row, len(rows), height-1)
	for i := top; i < min(top+height-1, len(rows)); i++ {
		mark := "  "
		if i == 0 {
			mark = p.paint("> ", cyan)
		}
		lines = append(lines, m.Cut(mark+rows[i], width))
	}
	copy(view, lines)
	return view
}

// boxView draws a boxed question: the title as a bar, the lines below the title, and the keys.
func (a *ask) boxView(p palette, m measure, width int) []string {
	var lines []string
	for _, line := range m.Wrap(a.title, max(width-1, 1), maxTitle) {
		lines = append(lines, p.paint(m.Fill(" "+line, width), bar))
	}
	for _, line := range a.lines {
		lines = append(lines, m.Cut(line, width))
	}
	return append(lines, p.paint(m.Cut(" "+a.keys, width), bold), p.paint(strings.Repeat("─", width), dim))
}

// top returns the first row to show, so that the cursor's row is among the height rows that are
// seen.
func (a *ask) top(row, rows, height int) int {
	return max(min(row, rows-height), row-height+1, 0)
}

// sure asks before do is called; verb says what the key y does.
func sure(question, verb string, do func() tea.Cmd) *ask {
	return &ask{title: question, keys: "y " + verb + " · any other key cancels", choose: map[string]string{"y": "y", "Y": "y"}, done: func(string) tea.Cmd { return do() }}
}

// text is an input field: its characters as a terminal shows them, each with its combining marks, and
// the cursor, which is before chars[at]. A text is a value.
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
	if i := slices.Index(t.chars[t.at:], "\n"); i >= 0 {
		return t.at + i
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
		return t.remove(t.at, t.at+1), true
	case "ctrl+w", "alt+backspace":
		return t.remove(t.wordStart(), t.at), true
	case "ctrl+u":
		return t.remove(t.lineStart(), t.at), true
	case "ctrl+k":
		return t.remove(t.at, t.lineEnd()), true
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
