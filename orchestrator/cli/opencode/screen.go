package opencode

import (
	"slices"
	"strings"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/screens"
)

// Screen looks for the input box around the cursor, right of a vertical line.
func (driver) Screen(s cli.Screenshot) cli.Screen {
	s, rows := screens.Main(s)
	text := screens.TextOf(rows)
	if box := boxIn(s, rows); box.Box != cli.BoxUnseen {
		box.Works, box.Mode, box.Fresh = works().MatchString(text), modeIn(rows), home().MatchString(text)
		return box
	}
	return screens.AskedIn(text, dialogs, nil)
}

// modeIn returns the agent of opencode that the last row of the input box names, "" where it cannot
// be read.
func modeIn(rows []screens.Row) string {
	for y := 1; y < len(rows); y++ {
		if strings.HasPrefix(strings.TrimSpace(rows[y].String()), "╹") {
			name, _, named := strings.Cut(strings.Trim(rows[y-1].String(), " ┃"), " · ")
			if named {
				return name
			}
		}
	}
	return ""
}

var (
	// placeholder matches the text in the empty box before the first prompt.
	placeholder = lazyregexp.New(`^Ask anything… "`)
	// places matches the placeholders in the box for a long paste or an image.
	places = lazyregexp.New(`\[(Pasted|Image)\b`)
	// works matches the row below the box while a turn runs.
	works = lazyregexp.New(`(?m)^ +[■⬝]{4,} +esc\b`)
	// home matches the row with the folder and the version, which only the page without a
	// conversation has.
	home = lazyregexp.New(`(?m)^  [^ ┃].* {2,}\d+\.\d+\.\d+$`)
)

// boxIn reads the input box around the cursor. Its rows are: an empty one, the text, an empty one,
// and the name of the agent or "Shell". A low pane cuts some off.
func boxIn(s cli.Screenshot, rows []screens.Row) cli.Screen {
	if !s.CursorShown || s.CursorY >= len(rows) {
		return cli.Screen{}
	}
	side := slices.IndexFunc(rows[s.CursorY], func(c screens.Cell) bool { return c.Char != ' ' })
	inside := func(y int) bool { // a list over the box has a second line at its right side
		return y >= 0 && y < len(rows) && side >= 0 && side < len(rows[y]) && rows[y][side].Char == '┃' &&
			!strings.ContainsRune(rows[y].From(side+1).String(), '┃')
	}
	if !inside(s.CursorY) || s.CursorX < side+3 {
		return cli.Screen{}
	}
	top, bottom := s.CursorY, s.CursorY+1
	for inside(top - 1) {
		top--
	}
	for inside(bottom) {
		bottom++
	}
	var lines []string
	right := s.Width
	for _, r := range rows[top:bottom] {
		if end := edge(r, side); end < len(r) { // a wide pane has the name of the folder beside the box
			r, right = r[:end], end
		}
		lines = append(lines, strings.TrimRight(r.From(side+3).String(), " "))
	}
	here := lines[s.CursorY-top]
	whole := bottom < len(rows) && side < len(rows[bottom]) && rows[bottom][side].Char == '╹' && len(lines) >= 4 && lines[0] == ""
	switch {
	case whole && lines[len(lines)-1] == "Shell": // shell mode: the shell gets what is typed
		return cli.Screen{Box: cli.BoxFilled}
	case s.CursorX == side+3 && placeholder().MatchString(here):
		return cli.Screen{Box: cli.BoxEmpty}
	case !whole:
		return cli.Screen{Box: cli.BoxFilled}
	}
	lines = lines[1 : len(lines)-2]
	if len(lines) == 1 && here == "" && s.CursorX == side+3 {
		return cli.Screen{Box: cli.BoxEmpty}
	}
	if places().MatchString(strings.Join(lines, "\n")) {
		return cli.Screen{Box: cli.BoxFilled}
	}
	return cli.Screen{Box: cli.BoxFilled, Draft: screens.Draft(lines, right-side-30)}
}

// edge returns the column where the box ends: the background changes back there. Without colours it
// is the end of the row.
func edge(r screens.Row, side int) int {
	if side == 0 || side+1 >= len(r) || r[side-1].Ground == r[side+1].Ground {
		return len(r)
	}
	for i := side + 1; i < len(r); i++ {
		if r[i].Ground == r[side-1].Ground {
			return i
		}
	}
	return len(r)
}

// dialogs recognizes a dialog by its title; the key that closes it stands at the right of it. Hooks tell
// the words of a question, and the channel its answers.
var dialogs = []screens.Dialog{
	screens.Asks(`^ *┃ +△ Permission required\b`, "asks for permission"),
	screens.Asks(`^ *┃ +△ Always allow\b`, "asks whether to allow always"),
	screens.Asks(`^ *┃  ([^\n┃]+\?)[^\n]*\n *┃[^\n]*\n *┃  1\. `, "$1"),
	screens.Asks(`^ +Select model +esc( |$)`, "asks to choose a model"),
	screens.Asks(`^ +Sessions +esc( |$)`, "asks which conversation to resume"),
	screens.Asks(`^ +\S[^\n]* {3,}esc(/enter)?( |$)`, "a menu is open"),
}
