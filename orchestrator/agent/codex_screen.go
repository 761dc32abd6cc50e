package agent

import "paw/config/lazyregexp"

// Screen: codex shows the terminal's cursor in its composer, and hides it at its dialogs.
func (codex) Screen(s Screenshot) Screen {
	rows := rowsOf(s)
	if box, ok := codexBox(s, rows); ok {
		box.Works = codexWorks.MatchString(textOf(rows))
		return box
	}
	return Screen{Dialog: codexDialog(rows)}
}

// codexWorks is above the composer.
var codexWorks = lazyregexp.New(`(?m)^[•◦] .*\([^()]*esc to interrupt\)$`)

var (
	// codexPlaces are what stands in the composer for something long or an image.
	codexPlaces = lazyregexp.New(`\[(Pasted Content|Image)\b`)
	// codexFooter is below the composer, after an empty line.
	codexFooter = lazyregexp.New(` · |for shortcuts|to queue message|esc close|context left`)
)

// codexBox is the composer around the cursor, false where the cursor is in none.
func codexBox(s Screenshot, rows []row) (Screen, bool) {
	if !s.CursorShown || s.CursorX < 2 || s.CursorY >= len(rows) {
		return Screen{}, false
	}
	first := s.CursorY
	for first > 0 && (len(rows[first]) == 0 || rows[first][0].char == ' ') {
		first--
	}
	below := ending(rows, len(rows)) // all but empty rows at the end
	end := len(below)
	for end > 0 && len(below[end-1]) > 0 {
		end--
	}
	if end--; end < first { // the empty row above the footer, which a low pane cuts off
		end = len(below)
	}
	mark := rows[first]
	if end <= s.CursorY || len(mark) == 0 || !mark[0].bold || mark[0].reverse {
		return Screen{}, false
	}
	if mark[0].char == '!' {
		return Screen{Box: BoxFilled}, true // what is typed here goes to the shell
	}
	if mark[0].char != '›' {
		return Screen{}, false
	}
	text := rows[first:max(end, first+1)]
	if placeholder := text[0].from(2); len(text) == 1 && s.CursorX == 2 &&
		(len(placeholder) == 0 || placeholder.all(func(c cell) bool { return c.dim })) {
		return Screen{Box: BoxEmpty}, true
	}
	filled := Screen{Box: BoxFilled}
	if mark[len(mark)-1].char == '↑' || end+1 > len(below) || !codexFooter.MatchString(textOf(below[end+1:])) {
		return filled, true // it is longer, or an empty line of it looks like the one above the footer
	}
	var lines []string
	for _, r := range text {
		line := r.from(2)
		if codexPlaces.MatchString(line.String()) || line.some(func(c cell) bool { return c.dim }) {
			return filled, true
		}
		lines = append(lines, line.String())
	}
	filled.Draft = draft(lines, s.Width-4)
	return filled, true
}

// codexKeys end the dialogs of codex: they say how to leave them.
var codexKeys = lazyregexp.New(`(?i)\b(press enter to|enter (select|continue|confirm|submit|resume)|esc (back|skip|cancel|close|go back))\b`)

// codexCut are dialogs that a low pane shows without their keys.
var codexCut = []dialog{
	asks(`^  Trust this folder\?`, "asks whether to trust the folder"),
	asks(`^  Choose how you want to use Codex\.`, "asks you to log in"),
}

// codexDialogs are told by their words. The first that fits names the dialog.
var codexDialogs = []dialog{
	asks(`Hooks need review`, "asks whether to trust hooks"),
	asks(`Select Model`, "asks to choose a model"),
	asks(`Resume a previous (session|chat)|^ *Resume `, "asks which conversation to resume"),
	asks(`^  Would you like to run the following command\?(?s:.*?)^  \$ ([^\n]+)`, "asks for permission: $1"),
	asks(`^  (Would you like to [^?]*\?)`, "$1"),
}

// codexDialog is what a dialog asks, "" where no dialog is seen.
func codexDialog(rows []row) string {
	text := textOf(rows)
	if words := namedIn(text, codexCut); words != "" {
		return words
	}
	if !codexKeys.MatchString(textOf(ending(rows, 2))) {
		return ""
	}
	if words := namedIn(text, codexDialogs); words != "" {
		return words
	}
	return "a menu is open"
}
