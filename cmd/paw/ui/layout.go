package ui

import (
	"fmt"
	"strings"

	"paw/config/display"
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

// area is a rectangle of the screen.
type area struct{ x, y, width, height int }

func (a area) has(x, y int) bool {
	return x >= a.x && x < a.x+a.width && y >= a.y && y < a.y+a.height
}

// layout divides the screen: a line at the top, a line of help at the bottom, and the list and the
// detail between them. An area of height 0 is not shown.
type layout struct {
	list, detail area
	queues       area // below the last line of the list
	beside       bool
	editor       area // of the question to the user: above the line of help, or a box above the detail
}

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

// frame draws one picture of the desk.
type frame struct {
	palette
	measure
	m Model
}

// frame returns the drawer of the model's current picture.
func (m Model) frame() frame { return frame{m.palette, m.measure, m} }

// draw returns the lines of the screen.
func (f frame) draw() []string {
	if f.m.width < 1 || f.m.height < 1 {
		return nil
	}
	l := f.m.layout()
	screen := make([]string, f.m.height)
	screen[0] = f.headLine()
	if f.m.height > 1 {
		screen[f.m.height-1] = f.footLine()
	}
	list, detail := append(f.m.listing().listView(l.list), make([]string, l.queues.height)...), f.detailView(l)
	for y := range l.list.height + l.queues.height {
		screen[l.list.y+y] = f.Fill(list[y], l.list.width)
	}
	for y := range l.queues.height {
		screen[l.queues.y+y] = f.Fill(f.paint(f.Cut(f.m.roster.board.Queues[y], l.queues.width), dim), l.queues.width)
	}
	for y := range l.detail.height {
		line := f.Cut(detail[y], l.detail.width)
		if l.beside {
			line = f.paint("│", dim) + " " + line
		}
		screen[l.detail.y+y] += line
	}
	if f.m.ask != nil {
		for y, line := range f.m.ask.view(f.palette, f.measure, l.editor.width, l.editor.height) {
			if f.m.ask.boxed() && l.beside {
				line = f.paint("│", dim) + " " + line
			}
			screen[l.editor.y+y] += line
		}
	}
	return screen
}

// headLine draws the top line: whose sessions are listed, and how many agents each group has.
func (f frame) headLine() string {
	var counts []string
	count := f.m.roster.counts()
	for g, words := range [...]string{NeedsYou: "needs you", ToReview: "to review", Working: "working", Quiet: "quiet"} {
		if n := count[g]; n > 0 {
			if n > 1 && Group(g) == NeedsYou {
				words = "need you"
			}
			counts = append(counts, f.paint(fmt.Sprintf("%d %s", n, words), Group(g).style()))
		}
	}
	right := strings.Join(counts, f.paint(" · ", dim))
	left := f.paint("paw", bold) + "  " + f.m.roster.board.Place
	if n := len(f.m.roster.marked()); n > 0 {
		left += "  " + f.paint(fmt.Sprintf("%d marked", n), bold)
	}
	if f.m.roster.filter != "" {
		left += "  " + f.paint("/"+f.m.roster.filter, cyan)
	}
	room := f.m.width - f.Width(right) - 2
	if room < 3 {
		return f.Cut(right, f.m.width)
	}
	return f.Fill(left, room) + "  " + right
}

// style returns the colour of a group.
func (g Group) style() string {
	return [...]string{NeedsYou: yellow, ToReview: cyan, Working: green, Quiet: dim}[g]
}

// footLine draws the bottom line: the keys of a question, a note, the comment under the cursor, an
// error, or hints.
func (f frame) footLine() string {
	if f.m.ask != nil {
		return f.paint(f.Cut(f.m.ask.keys, f.m.width), dim)
	}
	if f.m.note.text != "" && f.m.now.Before(f.m.note.until) {
		style := green
		if f.m.note.bad {
			style = red
		}
		return f.Cut(f.paint(f.m.note.text, style), f.m.width)
	}
	if c, ok := f.m.page.noteAt(f.m.page.cursor); ok && f.m.focus && f.m.tab == tabDiff && f.m.run == nil {
		const does = " · Enter changes or deletes it"
		return f.paint("● ", yellow) + f.Cut(display.OneLine(c.Text), max(f.m.width-2-f.Width(does), leastName)) + f.paint(does, dim)
	}
	if f.m.failed != "" {
		return f.Cut(f.paint(f.m.failed, red), f.m.width)
	}
	return f.helpLine(f.m.width)
}
