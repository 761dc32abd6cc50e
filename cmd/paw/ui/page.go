package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"paw/cmd/paw/ui/patch"
	"paw/config/display"
)

// page is the output of a command about the selected agent: the turns, the diff or the log.
type page struct {
	of     string // the request: tab, agent, scope, and the agent's Mark
	number int    // number of the request; answers to earlier requests are dropped
	asked  bool
	state  State  // the snapshot that the diff shows
	raw    string // the output without styles
	lines  []string
	patch  patch.Patch  // of the tab diff, as is the next one
	at     []patch.Line // what each of lines is
	top    int
	cursor int  // line of the cursor
	marks  bool // the lines from anchor to cursor are marked
	anchor int
	height int // number of lines seen at the last move
	search string
	notes  []Comment // comments on the diff that were not sent
}

// allLines is larger than the number of lines of any text.
const allLines = 1 << 30

// scope says which changes the diff shows; the zero scope shows all since the base.
type scope struct {
	unseen bool   // since the user last looked
	turn   int    // only the changes of this turn; 0 for no such limit
	of     string // key of the agent that is compared with another one, "" for no comparison
	with   string // name of the other one
}

func (s scope) String() string {
	switch {
	case s.with != "":
		return "against " + s.with
	case s.unseen:
		return "since you looked"
	case s.turn > 0:
		return fmt.Sprintf("turn %d", s.turn)
	}
	return "since its base"
}

// pageMsg carries the output of the command that a page asked for.
type pageMsg struct {
	number int
	text   string
	state  State
}

// notesMsg carries the comments on the page's diff.
type notesMsg struct {
	number int // number of the page
	notes  []Comment
}

// words returns the command that prints the diff.
func (s scope) words(a Agent) []string {
	switch {
	case s.with != "":
		return []string{"diff", a.Key(), s.with}
	case s.unseen:
		return []string{"diff", a.Key(), "--unseen"}
	case s.turn > 0:
		return []string{"diff", fmt.Sprintf("%s@%d", a.Key(), s.turn)}
	}
	return []string{"diff", a.Key()}
}

// move moves the cursor by lines, and scrolls so that the cursor is seen.
func (p *page) move(by, height int) {
	p.height = height
	p.cursor = min(max(p.cursor+by, 0), max(len(p.lines)-1, 0))
	p.top = min(p.top, p.cursor)
	if p.cursor >= p.top+height {
		p.top = p.cursor - height + 1
	}
	p.top = max(min(p.top, len(p.lines)-height), 0)
}

// walk moves the cursor by a line or to an end, and scrolls for any other number of lines.
func (p *page) walk(by, height int) {
	switch by {
	case 0:
	case 1, -1, allLines, -allLines:
		p.move(by, height)
	default:
		p.scroll(by, height)
	}
}

// scroll scrolls by lines, and moves the cursor along.
func (p *page) scroll(by, height int) {
	p.height = height
	p.top = max(min(p.top+by, len(p.lines)-height), 0)
	p.cursor = min(max(p.cursor+by, p.top), max(min(p.top+height, len(p.lines))-1, 0))
}

// seek moves the cursor to the next line that is wanted, forwards with step 1 and backwards with
// -1, and reports whether there is one.
func (p *page) seek(step, height int, wanted func(line int) bool) bool {
	for i := p.cursor + step; i >= 0 && i < len(p.lines); i += step {
		if wanted(i) {
			p.jump(i, height)
			return true
		}
	}
	return false
}

// turnAtCursor returns the number of the turn at the cursor in the list of turns, else of the next
// one below; 0 for none.
func (p page) turnAtCursor() int {
	for _, line := range p.lines[min(p.cursor, len(p.lines)):] {
		first, _, _ := strings.Cut(strings.TrimSpace(display.Strip(line)), " ")
		if n, _ := strconv.Atoi(first); n > 0 {
			return n
		}
	}
	return 0
}

// jump moves the cursor to a line, with a quarter of the page above that line.
func (p *page) jump(to, height int) {
	p.cursor = to
	p.top = max(min(to-height/4, len(p.lines)-height), 0)
	p.move(0, height)
}

// markedRaw returns the first and last line of the output that are marked, without those that are not shown.
func (p page) markedRaw() (first, last int) {
	if first, last = p.marked(); last < len(p.at) {
		return p.at[first].Raw, p.at[last].Raw
	}
	return first, last
}

// marked returns the first and last marked line; without marks, the line of the cursor twice.
func (p page) marked() (first, last int) {
	if !p.marks {
		return p.cursor, p.cursor
	}
	return min(p.anchor, p.cursor), max(p.anchor, p.cursor)
}

// finds reports whether a line contains the text. Upper and lower case differ only if the text has
// upper case.
func finds(line, text string) bool {
	if strings.ToLower(text) == text {
		line = strings.ToLower(line)
	}
	return strings.Contains(line, text)
}

// noteAt returns the first comment on a line.
func (p page) noteAt(line int) (Comment, bool) {
	if line >= len(p.at) {
		return Comment{}, false
	}
	next := p.at[line].Raw + 1 // a head stands for several lines
	if line+1 < len(p.at) {
		next = p.at[line+1].Raw
	}
	for _, c := range p.notes {
		if c.Line >= p.at[line].Raw && c.Line < next {
			return c, true
		}
	}
	return Comment{}, false
}

// is reports whether a line of the diff has one of the kinds.
func (p page) is(line int, kinds ...patch.Kind) bool {
	return line < len(p.at) && slices.Contains(kinds, p.at[line].Kind)
}
