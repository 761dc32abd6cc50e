package codex

import (
	"slices"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/screens"
)

// Screen looks for the composer around the cursor: codex shows the terminal's cursor there and
// hides it in dialogs.
func (driver) Screen(s cli.Screenshot) cli.Screen {
	s, rows := screens.Main(s)
	if s.CursorY == screens.Beyond || aside().MatchString(screens.TextOf(rows[:min(1, len(rows))])+screens.TextOf(screens.Ending(rows, 6))) {
		return cli.Screen{Dialog: "a side chat is open"} // which takes the keys
	}
	if box, ok := boxIn(s, rows); ok {
		box.Works = works().MatchString(screens.TextOf(rows))
		return box
	}
	return dialogIn(rows)
}

// works matches the line above the composer while a turn runs.
var works = lazyregexp.New(`(?m)^[•◦] .*\([^()]*esc to interrupt\)$`)

var (
	// places matches the placeholders in the composer for a long paste or an image.
	places = lazyregexp.New(`\[(Pasted Content|Image)\b`)
	// footer matches the line below the composer, after an empty line.
	footer = lazyregexp.New(` · |for shortcuts|to queue message|esc close|context left`)
)

// aside matches what stands above, in and below the composer of a side chat, which covers the main conversation in a narrow
// pane: one of them is drawn first.
var aside = lazyregexp.New(`(?m)\A ?Side chat +×|^› Ask a follow-up question$|^ *Side from main thread\b`)

// boxIn reads the composer around the cursor; false where the cursor is in none.
func boxIn(s cli.Screenshot, rows []screens.Row) (cli.Screen, bool) {
	if !s.CursorShown || s.CursorX < 2 || s.CursorY >= len(rows) {
		return cli.Screen{}, false
	}
	first := s.CursorY
	for first > 0 && (len(rows[first]) == 0 || rows[first][0].Char == ' ') {
		first--
	}
	below := screens.Ending(rows, len(rows)) // all rows below, without the empty ones at the end
	end := len(below)
	for end > 0 && len(below[end-1]) > 0 {
		end--
	}
	if end--; end < first { // the empty row above the footer; a low pane has none
		end = len(below)
	}
	mark := rows[first]
	if end <= s.CursorY || len(mark) == 0 || !mark[0].Bold || mark[0].Reverse {
		return cli.Screen{}, false
	}
	if mark[0].Char == '!' {
		return cli.Screen{Box: cli.BoxFilled}, true // shell mode: the shell gets what is typed
	}
	if mark[0].Char != '›' {
		return cli.Screen{}, false
	}
	text := rows[first:max(end, first+1)]
	if placeholder := text[0].From(2); len(text) == 1 && s.CursorX == 2 &&
		(len(placeholder) == 0 || placeholder.All(screens.Dim)) {
		return cli.Screen{Box: cli.BoxEmpty}, true
	}
	if mark[len(mark)-1].Char == '↑' || end+1 > len(below) || !footer().MatchString(screens.TextOf(below[end+1:])) {
		return cli.Screen{Box: cli.BoxFilled}, true // the text is cut off, or an empty line in it looks like the one above the footer
	}
	return screens.Filled(text, 2, s.Width-4, places), true
}

// keys matches the last lines of codex's dialogs: the keys that leave them.
var keys = lazyregexp.New(`(?i)\b(press enter to|enter (select|continue|confirm|submit|resume)|esc (back|skip|cancel|close|go back|dismiss))\b`)

// cut are dialogs that show no keys, or not in a low pane.
var cut = []screens.Dialog{
	screens.AsksByList(`^  Trust this folder\?`, "asks whether to trust the folder"),
	screens.Asks(`^  Choose how you want to use Codex\.`, "asks you to log in"),
	screens.Asks(`^  reverse-i-search:`, "a menu is open"),
}

// dialogs recognizes a dialog by its words. The first match names the dialog.
var dialogs = []screens.Dialog{
	screens.AsksByList(`Hooks need review`, "asks whether to trust hooks"),
	screens.AsksByList(`^  Approaching rate limits\n\s*Switch to (\S+) `, "asks whether to switch to $1, near its rate limits"),
	screens.Asks(`Select Model`, "asks to choose a model"),
	screens.Asks(`Resume a previous (session|chat)|^ *Resume `, "asks which conversation to resume"),
	screens.AsksInTurn(`^  Would you like to run the following command\?(?s:.*?)^  \$ ([^\n]+)`, "asks for permission: $1"),
	screens.AsksInTurn(`^  (Would you like to [^?]*\?)`, "$1"),
}

// deaf is how long codex ignores keys in a dialog that it has just opened.
const deaf = 1200 * time.Millisecond

// dialogIn recognizes a dialog, in which a digit takes an option at once, or the arrow keys select one.
func dialogIn(rows []screens.Row) cli.Screen {
	known, keyed := cut, keys().MatchString(screens.TextOf(screens.Ending(rows, 2)))
	if keyed {
		known = slices.Concat(cut, dialogs)
	}
	seen := screens.AskedIn(screens.TextOf(rows), known, screens.Choices(rows, "›"))
	if seen.Dialog == "" && keyed {
		seen.Dialog = "a menu is open"
	}
	if seen.Question != nil {
		seen.Question.Deaf = deaf
	}
	return seen
}
