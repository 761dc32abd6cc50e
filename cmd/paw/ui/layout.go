package ui

import (
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
	events       area // at the bottom of the list, or of the detail below the list
	beside       bool
	editor       area // of the question to the user: above the line of help, or a box above the detail
}

// frame draws one picture of the desk.
type frame struct{ *Model }

// frame returns the drawer of the model's current picture.
func (m *Model) frame() frame { return frame{m} }

func (m *Model) layout() layout {
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
		l.list = area{0, 1, m.width, min(len(m.frame().listLines(m.width, most))+len(m.roster.board.Queues), most)}
		if rest := height - l.list.height; rest >= leastDetail {
			l.detail = area{0, 1 + l.list.height, m.width, rest}
		} else {
			l.list = whole
		}
	}
	if m.ask != nil && m.ask.boxed() {
		l.editor, l.detail, l.list = m.ask.box(m.measure, l.detail, l.list)
	}
	return withEvents(m, m.withQueues(l))
}

// withQueues cuts the room for the lines about queues from the list. The queues stay visible
// however far the list is scrolled, and the list keeps most of the room.
func (m *Model) withQueues(l layout) layout {
	n := min(len(m.roster.board.Queues), l.list.height/leastPerQueue)
	if n == 0 {
		return l
	}
	l.list.height -= n
	y := min(len(m.frame().listLines(l.list.width, l.list.height)), l.list.height)
	if y < l.list.height {
		y++ // a blank line, as between groups
	}
	l.queues = area{l.list.x, l.list.y + y, l.list.width, n}
	return l
}

// withEvents cuts the room for the last events from what the list leaves, or from a tall pane below it.
func withEvents(m *Model, l layout) layout {
	n := len(m.events) + 1
	below := l.list.y + l.list.height + l.queues.height
	switch used := min(len(m.frame().listLines(l.list.width, l.list.height)), l.list.height); {
	case n == 1 || l.list.height == 0 || m.ask != nil && m.ask.boxed() && !l.beside:
	case l.list.height-used > leastForEvents:
		n = min(n, l.list.height-used-1)
		l.list.height -= n
		l.events = area{0, below - n, l.list.width, n}
	case !l.beside && m.tab == tabPane && m.run == nil && l.detail.height > leastPane+leastForEvents:
		n = min(n, eventsBelow+1)
		l.detail.height -= n
		l.events = area{0, l.detail.y + l.detail.height, l.detail.width, n}
	}
	return l
}

// pageHeight returns how many lines of a page are seen.
func (m *Model) pageHeight() int {
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
	if o := f.roster.outlooks[a.Key()]; len(o.Others) > 0 {
		lines = append(lines, f.paint(f.Cut("! conflicts with the work of "+strings.Join(o.Others, ", "), width), red))
	}
	return lines
}

// aboutLines limits how many lines of the detail the agent's question or prompt takes.
const aboutLines = 3
