package opencode

import (
	"slices"
	"strings"
	"unicode/utf8"

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
	return dialogIn(boxed(rows))
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

// boxed cuts off the cells to the right of a box: a wide pane has a sidebar in the same rows.
func boxed(rows []screens.Row) []screens.Row {
	cut := slices.Clone(rows)
	for i, r := range rows {
		if side := slices.IndexFunc(r, func(c screens.Cell) bool { return c.Char != ' ' }); side >= 0 && r[side].Char == '┃' {
			r = r[:edge(r, side)]
			for len(r) > 0 && r[len(r)-1].Char == ' ' {
				r = r[:len(r)-1]
			}
			cut[i] = r
		}
	}
	return cut
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

// dialogs recognizes a dialog by its title; the key that closes it stands at the right of it.
var dialogs = []screens.Dialog{
	screens.AsksInTurn(`^ *┃ +△ Permission required(?s:.*?)^ *┃ +\$ ([^\n]+)`, "asks for permission: $1"),
	screens.AsksInTurn(`^ *┃ +△ Always allow\n(?s:.*?)^ *┃ +- ((?:[^\n]+\n *┃ +- )*[^\n]+)`, alwaysAllow+"$1"),
	screens.AsksInTurn(`^ *┃  ([^\n┃]+\?)\n *┃ *\n *┃  1\. `, "$1"),
	screens.Asks(`^ +Select model +esc( |$)`, "asks to choose a model"),
	screens.Asks(`^ +Sessions +esc( |$)`, "asks which conversation to resume"),
	screens.Asks(`^ +\S[^\n]* {3,}esc(/enter)?( |$)`, "a menu is open"),
}

// alwaysAllow begins paw's words for the question that follows "Allow always".
const alwaysAllow = "asks whether to allow always: "

// permission matches the answers to a permission, side by side; confirmation those to the question
// after "Allow always".
var (
	permission   = lazyregexp.New(`^ *┃ +(Allow once) +(Allow always) +(Reject)\b`)
	confirmation = lazyregexp.New(`^ *┃ +(Confirm) +(Cancel)\b`)
)

// dialogIn recognizes a dialog, in which the arrow keys select and Enter takes an option.
func dialogIn(rows []screens.Row) cli.Screen {
	text, answers := screens.TextOf(rows), permission
	if strings.HasPrefix(screens.AskedIn(text, dialogs, nil).Dialog, alwaysAllow) {
		answers = confirmation
	}
	var options []cli.Option
	for _, r := range rows { // the last one that has them counts
		if found := sideBySide(r, answers); found != nil {
			options = found
		}
	}
	seen := screens.AskedIn(text, dialogs, options)
	seen.Dialog = strings.ReplaceAll(seen.Dialog, " ┃ - ", ", ") // the items of a list
	if q := seen.Question; q != nil {
		q.ByArrows("Right", "Left")
		always, confirms := strings.CutPrefix(seen.Dialog, alwaysAllow)
		if q.Text, q.Confirms = seen.Dialog, confirms; confirms {
			q.Options[0].About = "allow always: " + always
		}
	}
	return seen
}

// sideBySide returns the answers in a row, nil where there are none: the selected one has another
// background.
func sideBySide(r screens.Row, answers lazyregexp.Regexp) []cli.Option {
	text := r.String()
	found := answers().FindStringSubmatchIndex(text)
	if found == nil {
		return nil
	}
	plain := r[strings.IndexRune(text, '┃')+1].Ground // only spaces stand before it
	var options []cli.Option
	selected := 0
	for i := 2; i < len(found); i += 2 {
		o := cli.Option{Label: text[found[i]:found[i+1]], Selected: r[utf8.RuneCountInString(text[:found[i]])].Ground != plain}
		if options = append(options, o); o.Selected {
			selected++
		}
	}
	if selected != 1 {
		return nil
	}
	return options
}
