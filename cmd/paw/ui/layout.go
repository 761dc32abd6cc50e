package ui

import (
	"slices"
	"strings"
)

// The sizes at which the layout of the desk changes.
const (
	besideWidth   = 100 // columns of the screen from which the detail stands beside the list, else below
	focusBeside   = 160 // columns of the screen from which the list stays beside a page that has the keys
	leastList     = 50  // least columns of a list beside the detail
	mostList      = 100
	mostListBelow = 67 // per cent of the lines that the list takes at most above the detail
	leastDetail   = 5  // least lines of a detail below the list
	leastHeight   = 14 // lines of the screen below which no detail is shown
	leastPerQueue = 4  // least lines of the list for each line about queues
)

// layout divides the screen: a line at the top, a line of help at the bottom, and the list and the
// detail between them. An area of height 0 is not shown.
type layout struct {
	list, detail area
	queues       area // below the last line of the list
	beside       bool
	editor       area // of the question to the user: above the line of help, or a box above the detail
}

// frame draws one picture of the desk.
type frame struct {
	palette
	measure
	m Model
}

// frame returns the drawer of the model's current picture.
func (m Model) frame() frame { return frame{m.palette, m.measure, m} }

func (m Model) layout() layout {
	var l layout
	height := max(m.height-2, 0)
	if m.ask != nil && !m.ask.boxed() {
		lines := m.ask.height(m.measure, m.width, height)
		l.editor = area{0, 1 + height - lines, m.width, lines}
		height -= lines
	}
	whole := area{0, 1, m.width, height}
	switch {
	case m.large || m.focus && m.width < focusBeside || m.help || m.run != nil && m.width < besideWidth:
		l.detail = whole
	case len(m.roster.rows) == 0 && m.run == nil:
		l.list = whole
	case m.width >= besideWidth:
		l.beside = true
		l.list = area{0, 1, min(max(m.width*48/100, leastList), mostList), height}
		l.detail = area{l.list.width + 2, 1, m.width - l.list.width - 2, height}
	case m.height < leastHeight:
		l.list = whole
	default:
		most := max(height*mostListBelow/100, 3)
		l.list = area{0, 1, m.width, min(len(m.listing().listLines(m.width, most))+len(m.roster.board.Queues), most)}
		if rest := height - l.list.height; rest >= leastDetail {
			l.detail = area{0, 1 + l.list.height, m.width, rest}
		} else {
			l.list = whole
		}
	}
	if m.ask != nil && m.ask.boxed() {
		l.editor, l.detail, l.list = m.ask.box(m.measure, l.detail, l.list)
	}
	return m.withQueues(l)
}

// withQueues cuts the room for the lines about queues from the list. The queues stay visible
// however far the list is scrolled, and the list keeps most of the room.
func (m Model) withQueues(l layout) layout {
	n := min(len(m.roster.board.Queues), l.list.height/leastPerQueue)
	if n == 0 {
		return l
	}
	l.list.height -= n
	y := min(len(m.listing().listLines(l.list.width, l.list.height)), l.list.height)
	if y < l.list.height {
		y++ // a blank line, as between groups
	}
	l.queues = area{l.list.x, l.list.y + y, l.list.width, n}
	return l
}

// pageHeight returns how many lines of a page are seen.
func (m Model) pageHeight() int {
	l := m.layout()
	a, ok := m.current()
	if !ok {
		return 1
	}
	height := l.detail.height - 1
	if l.detail.height >= 8 {
		height -= len(m.frame().aboutView(a, l.detail.width)) + 1
	}
	return max(height, 1)
}

// aboutView draws the question or prompt, the pull request, and the agents whose work conflicts
// with this agent's.
func (f frame) aboutView(a Agent, width int) []string {
	var lines []string
	if a.About != "" {
		style := ""
		if a.Group == NeedsYou {
			style = bold
		}
		for _, line := range f.Wrap(a.About, width, aboutLines) {
			lines = append(lines, f.paint(line, style))
		}
	}
	if a.Prompt != "" && a.Prompt != a.About {
		lines = append(lines, f.paint(f.Cut("> "+a.Prompt, width), dim))
	}
	if a.Pull != "" {
		lines = append(lines, f.paint(f.Cut(a.Pull, width), cyan))
	}
	if o := f.m.roster.outlooks[a.Key()]; len(o.Others) > 0 {
		lines = append(lines, f.paint(f.Cut("! conflicts with the work of "+strings.Join(o.Others, ", "), width), red))
	}
	return lines
}

// aboutLines limits how many lines of the detail the agent's question or prompt takes.
const aboutLines = 3

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
	a, ok := f.m.current()
	switch {
	case f.m.help:
		return []hint{{"any key", "back"}}
	case f.m.run != nil && !f.m.run.over:
		return []hint{{"esc", "leave it running"}, {"ctrl+c", "interrupt it"}}
	case f.m.run != nil:
		return []hint{{"esc", "back"}, {"j k", "scroll"}, {"other keys", "go back and act"}}
	case f.m.focus && f.m.tab == tabDiff:
		return []hint{{"esc", "back"}, {"n N", "hunk"}, {"{ }", "file"}, {"c", "comment"}, {"C", "send comments"}, {"m", "seen"}, {"L", "land"}, {"B [ ]", "since"}, {"/", "search"}, {"b", "blame"}, {"?", "help"}}
	case f.m.focus:
		hints := []hint{{"esc", "back"}, {"j k", "move"}, {"/", "search"}, {"d", "diff"}, {"t", "turns"}, {"o", "log"}, {"s", "send"}}
		if f.m.tab == tabTurns {
			hints = slices.Insert(hints, 2, hint{"enter", "what it changed"})
		}
		return hints
	case !ok:
		return []hint{{"S", "start"}, {"A", "all sessions"}, {"/", "filter"}, {"?", "help"}, {"q", "quit"}}
	}
	var first []hint
	switch {
	case len(f.m.roster.marked()) > 0 && !f.m.large:
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
	case len(f.m.roster.outlooks[a.Key()].Files) > 0:
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
