package ui

import (
	"slices"
	"strings"
)

// key is one line of the help: keys, what the keys do, and the command that does the same.
type key struct{ keys, does, command string }

// helpFor lists the keys by purpose.
var helpFor = []struct {
	title string
	keys  []key
}{
	{"Move", []key{
		{"j k", "down, up", ""},
		{"Home End", "first, last", ""},
		{"1 12", "agent with that number", ""},
		{"n", "next that needs you", "paw next"},
		{"Tab", "next group", ""},
		{"/", "show only some", "paw status"},
		{"Esc", "show all, unmark", ""},
		{"A", "sessions of the machine", "paw status --all"},
		{"← →", "next tab", ""},
		{"z", "larger", ""},
		{"Space", "mark, for s g x m L R", ""},
		{"*", "mark its group", ""},
		{"=", "compare two marked", "paw diff A B"},
	}},
	{"Act", []key{
		{"Enter", "go to the pane", "paw attach A"},
		{"a", "answer its question", "paw answer A"},
		{"s", "send a prompt", "paw send A"},
		{"g", "let a cut turn go on", "paw send A"},
		{"+", "add an agent", "paw add"},
		{"S", "start a session", "paw start"},
		{"i", "interrupt its turn", "paw interrupt A"},
		{"x", "stop; then remove", "paw stop A"},
		{"Q", "what is queued", "paw queue"},
		{"@", "output of past commands", ""},
		{"r", "rewind its files", "paw rewind A N"},
		{"R", "recover after a crash", "paw recover"},
	}},
	{"Review", []key{
		{"t", "its turns", "paw turns A"},
		{"o", "its log", "paw log A"},
		{"d", "its diff", "paw diff A"},
		{"B", "since you looked, or all", "paw diff A --unseen"},
		{"[ ]", "turn by turn", "paw diff A N"},
		{"n N", "next hunk or match", ""},
		{"{ }", "next file", ""},
		{"c", "comment on a line", "paw review A"},
		{"v", "select lines for that", ""},
		{"C", "send all comments", "paw review A --send"},
		{"m", "mark as seen", "paw seen A"},
		{"l", "forecast", "paw forecast"},
		{"L", "land", "paw land A"},
		{"U", "take a landing back", "paw land --undo"},
		{"u", "update with what landed", "paw update A"},
		{"F", "have conflicts fixed", "paw send A --conflict"},
	}},
	{"", []key{{"?", "help", "paw help"}, {"q", "leave", ""}}},
}

// helpLines returns the help as lines of one column.
func (f frame) helpLines(width int) (lines []string) {
	const keysWidth, doesWidth = 9, 25
	for _, part := range helpFor {
		if part.title != "" {
			lines = append(lines, f.paint(part.title, bold))
		}
		for _, k := range part.keys {
			line := " " + f.paint(f.Fill(k.keys, keysWidth), cyan) + f.Fill(k.does, doesWidth)
			if keysWidth+doesWidth+1+f.Width(k.command) < width {
				line += f.paint(k.command, dim)
			}
			lines = append(lines, f.Cut(strings.TrimRight(line, " "), width))
		}
	}
	return lines
}

// helpView draws the help in two columns, or in one where the terminal is narrow.
func (f frame) helpView(width int) []string {
	const twoColumns = 72
	if width < twoColumns {
		return f.helpLines(width)
	}
	lines := f.helpLines(width / 2)
	half := (len(lines) + 1) / 2
	view := slices.Clone(lines[:half])
	for i, line := range lines[half:] {
		view[i] = f.Fill(view[i], width/2) + line
	}
	return view
}

// hint is a key and one or a few words, for the line at the bottom.
type hint struct{ key, word string }

// hints lists what the line at the bottom offers now, the most useful first.
func (f frame) hints() []hint {
	a, ok := f.current()
	switch {
	case f.help:
		if at := f.layout().detail; len(f.helpView(at.width)) > at.height {
			return []hint{{"j k", "scroll"}, {"other keys", "back"}}
		}
		return []hint{{"any key", "back"}}
	case f.run != nil && !f.run.over:
		return []hint{{"esc", "leave it running"}, {"ctrl+c", "interrupt it"}}
	case f.run != nil:
		return []hint{{"esc", "back"}, {"j k", "scroll"}, {"other keys", "go back and act"}}
	case f.focus && f.tab == tabDiff && f.scope.with != "":
		return []hint{{"esc", "back"}, {"n N", "hunk"}, {"{ }", "file"}, {"/", "search"}, {"d", "diff of one"}, {"?", "help"}}
	case f.focus && f.tab == tabDiff:
		return []hint{{"esc", "back"}, {"n N", "hunk"}, {"{ }", "file"}, {"c", "comment"}, {"C", "send comments"}, {"m", "seen"}, {"L", "land"}, {"B [ ]", "since"}, {"/", "search"}, {"?", "help"}}
	case f.focus:
		hints := []hint{{"esc", "back"}, {"j k", "move"}, {"/", "search"}, {"d", "diff"}, {"t", "turns"}, {"o", "log"}, {"s", "send"}}
		if f.tab == tabTurns {
			hints = slices.Insert(hints, 2, hint{"enter", "what it changed"})
		}
		return hints
	case !ok:
		return []hint{{"S", "start"}, {"A", "all sessions"}, {"/", "filter"}, {"?", "help"}, {"q", "quit"}}
	}
	var first []hint
	switch {
	case len(f.roster.marked()) > 0 && !f.large:
		return []hint{{"space *", "mark"}, {"s", "send"}, {"x", "stop"}, {"m", "seen"}, {"L", "land"}, {"R", "recover"}, {"=", "compare two"}, {"esc", "unmark"}, {"?", "help"}}
	case a.Far:
		first = []hint{{"enter", "attach"}, {"s", "send"}, {"d", "diff"}, {"L", "land"}}
	case a.Pane == "":
		first = []hint{{"enter", "bring it back"}, {"R", "recover all"}, {"d", "diff"}, {"L", "land"}}
	case a.Exited:
		first = []hint{{"R", "recover"}, {"enter", "attach"}, {"d", "diff"}}
	case a.Asks:
		first = []hint{{"a", "answer"}, {"enter", "attach"}, {"d", "diff"}}
	case a.Failed:
		first = []hint{{"g", "go on"}, {"s", "send"}, {"d", "diff"}, {"enter", "attach"}}
	case a.Cut:
		first = []hint{{"g", "go on"}, {"s", "send"}, {"d", "diff"}, {"m", "seen"}, {"enter", "attach"}}
	case len(f.roster.outlooks[a.Key()].Files) > 0:
		first = []hint{{"F", "have it fixed"}, {"d", "diff"}, {"l", "forecast"}, {"enter", "attach"}}
	case a.Group == NeedsYou:
		first = []hint{{"enter", "attach"}, {"s", "send"}, {"d", "diff"}}
	case a.Group == ToReview:
		first = []hint{{"d", "diff"}, {"m", "seen"}, {"L", "land"}, {"s", "send"}, {"enter", "attach"}}
	default:
		first = []hint{{"enter", "attach"}, {"s", "send"}, {"d", "diff"}, {"L", "land"}}
	}
	stop := "stop"
	if a.State == "stopped" {
		stop = "remove"
	}
	return append(first, hint{"n", "next"}, hint{"x", stop}, hint{"/", "filter"}, hint{"?", "help"}, hint{"q", "quit"})
}

// helpLine draws as many hints as fit in width columns; those that lead out stand at the right edge always.
func (f frame) helpLine(width int) string {
	var all, out []hint
	for _, h := range f.hints() {
		if h.key == "?" || h.key == "q" {
			out = append(out, h)
		} else {
			all = append(all, h)
		}
	}
	right, room := f.hintsIn(out, width)
	if right == "" {
		left, _ := f.hintsIn(all, width)
		return left
	}
	const apart = 3
	left, room := f.hintsIn(all, room-apart)
	return left + strings.Repeat(" ", max(room+apart, 0)) + right
}

// hintsIn draws as many hints as fit in width columns, and returns how many columns are left.
func (f frame) hintsIn(hints []hint, width int) (line string, room int) {
	for _, h := range hints {
		w := f.Width(h.key) + 1 + f.Width(h.word)
		if line != "" {
			w += 3
		}
		if w > width {
			break
		}
		if line != "" {
			line += "   "
		}
		line += f.paint(h.key, bold) + " " + f.paint(h.word, dim)
		width -= w
	}
	return line, width
}
