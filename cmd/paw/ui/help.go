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
		{"j k Home End", "down, up, first, last", ""},
		{"1 12  Tab", "the agent with that number, the next group", ""},
		{"n", "next agent that needs you", ""},
		{"/  Esc", "show only some, show all", "paw status"},
		{"A", "sessions of this place, of the machine", "paw status --all"},
		{"← →  z", "next tab, larger", ""},
		{"Space  =", "mark (s g x m L R: marked), compare two", "paw diff A B"},
	}},
	{"Act", []key{
		{"Enter", "go to the pane", "paw attach AGENT"},
		{"a", "answer its question", "paw answer AGENT"},
		{"s  g", "send, go on with a cut or failed turn", "paw send AGENT"},
		{"+  S", "add an agent, start a session", "paw add, paw start"},
		{"x  Q", "stop, then remove; what is queued", "paw stop AGENT, paw queue"},
		{"r", "rewind the files", "paw rewind AGENT N"},
		{"R", "recover after a crash", "paw recover"},
	}},
	{"Review", []key{
		{"t  o", "turns, log", "paw turns, paw log AGENT"},
		{"d  b", "diff, the turn that a line of it is of", "paw diff, paw blame AGENT"},
		{"B  [ ]", "since you looked or its base, by turn", "paw diff AGENT --unseen"},
		{"n N  { }", "next hunk or match, next file", ""},
		{"c v C Enter", "comment on line, range; send all; change", "paw review AGENT"},
		{"m", "mark as seen", "paw seen AGENT"},
		{"l  L  U", "forecast, land, take back", "paw forecast, paw land"},
		{"u  F", "update with what landed, fix conflicts", "paw update, send --conflict"},
	}},
	{"", []key{{"?  q", "help, leave", ""}}},
}

// helpView draws the help, with titles and blank lines as far as the height allows.
func (f frame) helpView(width, height int) []string {
	const keysWidth, doesWidth = 13, 43
	lines, titles := 0, 0
	for _, part := range helpFor {
		lines, titles = lines+len(part.keys), titles+1
	}
	var view []string
	for i, part := range helpFor {
		if i > 0 && lines+2*titles <= height {
			view = append(view, "")
		}
		if part.title != "" && lines+titles <= height {
			view = append(view, f.paint(part.title, bold))
		}
		for _, k := range part.keys {
			line := "  " + f.paint(f.Fill(k.keys, keysWidth), cyan) + f.Fill(k.does, doesWidth) + f.paint(k.command, dim)
			view = append(view, f.Cut(strings.TrimRight(line, " "), width))
		}
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
		return []hint{{"any key", "back"}}
	case f.run != nil && !f.run.over:
		return []hint{{"esc", "leave it running"}, {"ctrl+c", "interrupt it"}}
	case f.run != nil:
		return []hint{{"esc", "back"}, {"j k", "scroll"}, {"other keys", "go back and act"}}
	case f.focus && f.tab == tabDiff:
		return []hint{{"esc", "back"}, {"n N", "hunk"}, {"{ }", "file"}, {"c", "comment"}, {"C", "send comments"}, {"m", "seen"}, {"L", "land"}, {"B [ ]", "since"}, {"/", "search"}, {"b", "blame"}, {"?", "help"}}
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
		return []hint{{"space", "mark"}, {"s", "send"}, {"x", "stop"}, {"m", "seen"}, {"L", "land"}, {"R", "recover"}, {"=", "compare two"}, {"esc", "unmark"}, {"?", "help"}}
	case a.Far:
		first = []hint{{"enter", "attach"}, {"s", "send"}, {"d", "diff"}, {"L", "land"}}
	case a.Pane == "":
		first = []hint{{"enter", "bring it back"}, {"R", "recover all"}, {"d", "diff"}, {"L", "land"}}
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

// helpLine draws as many hints as fit in width columns.
func (f frame) helpLine(width int) string {
	var line strings.Builder
	used := 0
	for _, h := range f.hints() {
		w := f.Width(h.key) + 1 + f.Width(h.word)
		if used > 0 {
			w += 3
		}
		if used+w > width {
			break
		}
		if used > 0 {
			line.WriteString("   ")
		}
		line.WriteString(f.paint(h.key, bold) + " " + f.paint(h.word, dim))
		used += w
	}
	return line.String()
}
