package agent

import (
	"slices"

	"paw/config/lazyregexp"
)

// Screen: claude keeps the terminal's cursor, hidden, where it draws its own. Its input box lies between two lines over
// the whole width; low panes cut the lower one off.
func (claude) Screen(s Screenshot) Screen {
	rows := rowsOf(s)
	if box, ok := claudeBox(s, rows); ok {
		box.Works = claudeWorks.MatchString(textOf(rows))
		return box
	}
	return Screen{Dialog: claudeDialog(s, rows)}
}

// claudeWorks is its line above the box, and the key below it.
var claudeWorks = lazyregexp.New(`(?m)^[^\s\w❯⎿▎] \S+… \(\d.*\)|^ .* · esc to interrupt\b`)

// claudePlaces are what stands in the box for something long that was pasted.
var claudePlaces = lazyregexp.New(`\[(Pasted text|\.\.\.Truncated text|Image) #\d+`)

// claudeBox is the input box around the cursor, false where the cursor is in none.
func claudeBox(s Screenshot, rows []row) (Screen, bool) {
	if s.CursorY >= len(rows) {
		return Screen{}, false
	}
	top, bottom := s.CursorY, s.CursorY
	for top >= 0 && !claudeBorder(rows, top, s.Width) {
		top--
	}
	for bottom < len(rows) && !claudeBorder(rows, bottom, s.Width) {
		bottom++
	}
	cut := bottom == len(rows)
	if top < 0 || top == s.CursorY {
		return Screen{}, false
	}
	if claudeHidden.MatchString(rows[top].String()) {
		return Screen{Box: BoxFilled}, true
	}
	if cut && (top != s.CursorY-1 || bottom != s.CursorY+1) {
		return Screen{}, false
	}
	if !cut && claudeOther.MatchString(textOf(rows[bottom:])) {
		return Screen{}, false
	}
	first := rows[top+1]
	if len(first) == 0 || (len(first) > 1 && first[1].char != ' ' && first[1].char != '\u00a0') {
		return Screen{}, false
	}
	switch first[0].char {
	case '❯':
	case '!': // what is typed here goes to the shell
		return Screen{Box: BoxFilled}, true
	default:
		return Screen{}, false
	}
	text := rows[top+1 : bottom]
	if len(text) == 1 && claudeEmpty(first.from(2), s.CursorX) {
		return Screen{Box: BoxEmpty}, true
	}
	filled := Screen{Box: BoxFilled}
	var lines []string
	for _, r := range text {
		line := r.from(2)
		if cut || claudePlaces.MatchString(line.String()) || line.some(func(c cell) bool { return c.dim }) {
			return filled, true
		}
		lines = append(lines, line.String())
	}
	filled.Draft = draft(lines, s.Width-6)
	return filled, true
}

var (
	// claudeHidden is in the upper edge of a box that is too low for its text.
	claudeHidden = lazyregexp.New(`─ ↑ \d+ more ─`)
	// claudeOther is below a box of the list of sessions, which starts a new one.
	claudeOther = lazyregexp.New(`enter to return|space to reply`)
)

// claudeBorder reports whether a row is an edge of the input box. There may be words in it.
func claudeBorder(rows []row, y, width int) bool {
	r := rows[y]
	return len(r) == width && r[:min(3, width)].all(func(c cell) bool { return c.char == '─' && !c.dim }) && r[width-1].char == '─'
}

// claudeEmpty reports whether what stands behind the prompt mark is nothing, or a suggestion: claude draws those dim but
// for the letter under the cursor.
func claudeEmpty(text row, cursorX int) bool {
	return cursorX == 2 && (len(text) == 0 || (len(text) > 1 && text[0].reverse && text[1:].all(func(c cell) bool { return c.dim })))
}

// claudeKeys end every dialog of claude and no other screen of it: they say how to leave it.
var claudeKeys = lazyregexp.New(
	`(?i)\b(esc to (cancel|close|go back|exit|skip|clear)|enter to (confirm|select|save|use|continue|stay)|press enter)\b`)

// claudeCut are dialogs that do not say how to leave them, or whose keys a low pane cuts off.
var claudeCut = []dialog{
	asks(`^ *Auto mode can.t check actions in this session$`, "says that auto mode cannot check its actions"),
	asks(`^ *Exit plan mode\?$`, "asks whether to go on with its plan"),
	asks(`^ *Choose the text style that looks best with|^ *Syntax theme: .*\(ctrl\+t to`, "first-run question"),
}

// claudeDialogs are told by their words. The first that fits names the dialog.
var claudeDialogs = slices.Concat(claudeCut, []dialog{
	asks(`trust this folder|(?s:Security guide.*No, exit)`, "asks whether to trust the folder"),
	asks(`Detected a custom API key`, "asks whether to use the API key of its environment"),
	asks(`Select login method|Paste code here|Browser didn.t open`, "asks you to log in"),
	asks(`^ *Security notes:|terminal setup\?`, "first-run question"),
	asks(`^ *Resume [sS]ession`, "asks which conversation to resume"),
	asks(`^ *Select model`, "asks to choose a model"),
	asks(`^╌+\n((?s:.+?))\n╌+\n(?s:.*)^ ?Do you want to proceed\?`, "asks for permission: $1"),
	asks(`^ [A-Z]\w* command\n\s*\n {3}([^\n]+)\n(?s:.*)^ ?Do you want to proceed\?`, "asks for permission: $1"), // as 2.1.197 does
	asks(`^ ?Do you want to proceed\?`, "asks for permission"),
	asks(`^ ?(Do you want to [^?]*\?)`, "$1"),
	asks(`^(?:← +)? ?[☐☒✔] .*\n\s*\n(.+)`, "$1"), // what AskUserQuestion asks, under the names of its questions
})

// claudeDialog is what a dialog asks, "" where no dialog is seen. It begins at a line over the whole width; some have
// further lines in them.
func claudeDialog(s Screenshot, rows []row) string {
	if !claudeKeys.MatchString(textOf(ending(rows, 3))) {
		return namedIn(textOf(rows), claudeCut)
	}
	for begin := len(rows) - 1; begin >= 0; begin-- {
		if begin > 0 && !rows[begin].rule(s.Width, "─") && !rows[begin].begins('▔') {
			continue
		}
		if words := namedIn(textOf(rows[begin:]), claudeDialogs); words != "" {
			return words
		}
	}
	return "a menu is open"
}
