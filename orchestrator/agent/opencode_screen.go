package agent

import (
	"slices"
	"strings"

	"paw/config/lazyregexp"
)

// Screen: opencode shows the terminal's cursor in its input box, behind a line at its left side.
func (opencode) Screen(s Screenshot) Screen {
	rows := rowsOf(s)
	text := textOf(rows)
	if box := opencodeBox(s, rows); box.Box != BoxUnseen {
		box.Works = opencodeWorks.MatchString(text)
		return box
	}
	return Screen{Dialog: namedIn(text, opencodeDialogs)}
}

var (
	// opencodePlaceholder is what stands in the empty box before the first prompt.
	opencodePlaceholder = lazyregexp.New(`^Ask anything… "`)
	// opencodePlaces are what stands in the box for something long that was pasted.
	opencodePlaces = lazyregexp.New(`\[(Pasted|Image)\b`)
	// opencodeWorks is below the box.
	opencodeWorks = lazyregexp.New(`(?m)^ +[■⬝]{4,} +esc\b`)
)

// opencodeBox is the input box around the cursor. From top to bottom it has an empty row, the text, an empty row, and one
// that names the agent or the shell. Low panes cut some of them off.
func opencodeBox(s Screenshot, rows []row) Screen {
	if !s.CursorShown || s.CursorY >= len(rows) {
		return Screen{}
	}
	side := slices.IndexFunc(rows[s.CursorY], func(c cell) bool { return c.char != ' ' })
	inside := func(y int) bool { // a list over the box has another line at its right side
		return y >= 0 && y < len(rows) && side >= 0 && side < len(rows[y]) && rows[y][side].char == '┃' &&
			!strings.ContainsRune(rows[y].from(side+1).String(), '┃')
	}
	if !inside(s.CursorY) || s.CursorX < side+3 {
		return Screen{}
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
		if end := opencodeEdge(r, side); end < len(r) { // a wide pane has the name of the folder beside the box
			r, right = r[:end], end
		}
		lines = append(lines, strings.TrimRight(r.from(side+3).String(), " "))
	}
	here := lines[s.CursorY-top]
	whole := bottom < len(rows) && side < len(rows[bottom]) && rows[bottom][side].char == '╹' && len(lines) >= 4 && lines[0] == ""
	switch {
	case whole && lines[len(lines)-1] == "Shell": // what is typed here goes to the shell
		return Screen{Box: BoxFilled}
	case s.CursorX == side+3 && opencodePlaceholder.MatchString(here):
		return Screen{Box: BoxEmpty}
	case !whole:
		return Screen{Box: BoxFilled}
	}
	lines = lines[1 : len(lines)-2]
	if len(lines) == 1 && here == "" && s.CursorX == side+3 {
		return Screen{Box: BoxEmpty}
	}
	if opencodePlaces.MatchString(strings.Join(lines, "\n")) {
		return Screen{Box: BoxFilled}
	}
	return Screen{Box: BoxFilled, Draft: draft(lines, right-side-30)}
}

// opencodeEdge is where the box ends in a row: behind it is the ground that is before its line, too. Without colours it is
// the end of the row.
func opencodeEdge(r row, side int) int {
	if side == 0 || side+1 >= len(r) || r[side-1].ground == r[side+1].ground {
		return len(r)
	}
	for i := side + 1; i < len(r); i++ {
		if r[i].ground == r[side-1].ground {
			return i
		}
	}
	return len(r)
}

// opencodeDialogs are told by their titles, at the right of which stands the key that closes them.
var opencodeDialogs = []dialog{
	asks(`^ *┃ +△ Permission required(?s:.*?)^ *┃ +\$ ([^\n]+)`, "asks for permission: $1"),
	asks(`^ *┃  ([^\n┃]+\?)\n *┃ *\n *┃  1\. `, "$1"),
	asks(`^ +Select model +esc( |$)`, "asks to choose a model"),
	asks(`^ +Sessions +esc( |$)`, "asks which conversation to resume"),
	asks(`^ +\S[^\n]* {3,}esc(/enter)?( |$)`, "a menu is open"),
}
