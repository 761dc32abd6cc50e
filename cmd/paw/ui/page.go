package ui

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"paw/config/display"
)

// page is a text about the selected agent that a command printed: its turns, its diff or its log.
type page struct {
	of     string // what was asked for: agent, tab, scope, and what its work was then
	number int    // of the request; older answers are dropped
	asked  bool
	state  State  // that its diff shows
	raw    string // as it was printed, without styles
	lines  []string
	top    int
	cursor int  // the line that the user has walked to
	marks  bool // a range of lines goes from the anchor to the cursor
	anchor int
	height int // lines that were seen last
	search string
	notes  []Comment // that were made on its lines and not sent
}

// pageMsg is the answer to a request for a page.
type pageMsg struct {
	number int
	text   string
	state  State
}

// wantedPage says what the page is to be about, "" for nothing.
func (m Model) wantedPage() (of string, words []string) {
	a, ok := m.current()
	if !ok || m.tab == tabPane {
		return "", nil
	}
	switch m.tab {
	case tabPane:
	case tabTurns:
		words = []string{"turns", a.Key()}
	case tabDiff:
		words = m.scope.words(a)
	case tabLog:
		words = []string{"log", a.Key()}
	}
	return fmt.Sprint(m.tab, " ", a.Key(), " ", m.scope, " ", a.Mark), words
}

// words are the command that prints the diff.
func (s scope) words(a Agent) []string {
	switch {
	case s.unseen:
		return []string{"diff", a.Key(), "--unseen"}
	case s.turn > 0:
		return []string{"diff", fmt.Sprintf("%s@%d", a.Key(), s.turn)}
	}
	return []string{"diff", a.Key()}
}

// freshen asks for the page where what it is about has changed. What is shown stays until the new one is there.
func (m *Model) freshen() tea.Cmd {
	of, words := m.wantedPage()
	if of == m.page.of || of == "" {
		return nil
	}
	same := subject(of) == subject(m.page.of)
	if !same {
		m.page = page{}
	}
	m.last++
	m.page.of, m.page.number, m.page.asked = of, m.last, true
	number, paw, ctx := m.last, m.paw, m.ctx
	a, _ := m.current()
	ofNow := m.tab == tabDiff && m.scope.turn == 0 && !a.Far
	words = append([]string{"--no-pager", "--color", m.colourFlag()}, words...)
	return func() tea.Msg {
		msg := pageMsg{number: number}
		if ofNow { // what cannot be had, the command says
			if state, err := paw.State(ctx, a); err == nil {
				msg.state, words = state, append(words, stateFlag, state.Commit)
			}
		}
		var out bytes.Buffer
		paw.Run(ctx, &out, words...)
		msg.text = out.String()
		return msg
	}
}

// subject is what a page is about, without what its agent has done since.
func subject(of string) string {
	if i := strings.LastIndexByte(of, ' '); i >= 0 {
		return of[:i]
	}
	return of
}

// colourFlag is what commands are told whose output the desk shows.
func (m Model) colourFlag() string {
	if m.colour {
		return "always"
	}
	return "never"
}

// take takes an answer in, at the place where the user was. What grows at its end is followed there.
func (p *page) take(m Model, msg pageMsg) {
	if msg.number != p.number {
		return
	}
	atEnd := m.tab == tabLog && p.top+p.height >= len(p.lines)
	p.asked = false
	if m.tab == tabDiff {
		msg.text = m.withFiles(withoutIndex(msg.text))
	}
	p.raw, p.state = display.Strip(msg.text), msg.state
	p.lines, p.marks = cleaner{m.measure, m.colour}.lines(msg.text), false
	if atEnd {
		p.cursor = max(len(p.lines)-1, 0)
	}
	p.move(0, m.pageHeight())
}

// move walks by so many lines, and keeps the cursor in view.
func (p *page) move(by, height int) {
	p.height = height
	p.cursor = min(max(p.cursor+by, 0), max(len(p.lines)-1, 0))
	p.top = min(p.top, p.cursor)
	if p.cursor >= p.top+height {
		p.top = p.cursor - height + 1
	}
	p.top = max(min(p.top, len(p.lines)-height), 0)
}

// walk goes as far as a key does: by a line, or to an end, or as far as what is seen moves.
func (p *page) walk(by, height int) {
	switch by {
	case 0:
	case 1, -1, allLines, -allLines:
		p.move(by, height)
	default:
		p.scroll(by, height)
	}
}

// scroll moves what is seen, and the cursor with it.
func (p *page) scroll(by, height int) {
	p.height = height
	p.top = max(min(p.top+by, len(p.lines)-height), 0)
	p.cursor = min(max(p.cursor+by, p.top), max(min(p.top+height, len(p.lines))-1, 0))
}

// seek walks to the next line, forwards or backwards, that is wanted; it reports whether there is one.
func (p *page) seek(step, height int, wanted func(line string) bool) bool {
	for i := p.cursor + step; i >= 0 && i < len(p.lines); i += step {
		if wanted(display.Strip(p.lines[i])) {
			p.jump(i, height)
			return true
		}
	}
	return false
}

// turnUnderCursor is the number of the turn whose line in the list of turns has the cursor, 0 for none.
func (p page) turnUnderCursor() int {
	if p.cursor >= len(p.lines) {
		return 0
	}
	first, _, _ := strings.Cut(strings.TrimSpace(display.Strip(p.lines[p.cursor])), " ")
	n, _ := strconv.Atoi(first)
	return n
}

// jump goes to a line, and shows some of what is above it.
func (p *page) jump(to, height int) {
	p.cursor = to
	p.top = max(min(to-height/4, len(p.lines)-height), 0)
	p.move(0, height)
}

// view is the part of the page that is seen.
func (p page) view(m Model, width, height int) []string {
	if len(p.lines) == 0 {
		if p.asked {
			return []string{m.paint("reading …", dim)}
		}
		return []string{m.paint(m.emptyPage(), dim)}
	}
	var view []string
	top := max(min(p.top, len(p.lines)-height), 0)
	first, last := p.marked()
	margin := 0
	if p.hasNotes() {
		margin = 2
	}
	for i := top; i < min(top+height, len(p.lines)); i++ {
		line := m.Cut(p.lines[i], width-margin)
		switch {
		case m.focus && i >= first && i <= last:
			line = "\x1b[7m" + m.Fill(display.Strip(line), width-margin) + "\x1b[m"
		case p.search != "" && finds(display.Strip(line), p.search):
			line = m.paint(display.Strip(line), under)
		}
		if margin > 0 {
			mark := " "
			if _, commented := p.noteAt(i); commented {
				mark = m.paint("●", yellow)
			}
			line = mark + " " + line
		}
		view = append(view, line)
	}
	return view
}

// marked are the first and the last line of what the user has marked: the line with the cursor, without a range.
func (p page) marked() (first, last int) {
	if !p.marks {
		return p.cursor, p.cursor
	}
	return min(p.anchor, p.cursor), max(p.anchor, p.cursor)
}

// emptyPage says of a page without lines what that means.
func (m Model) emptyPage() string {
	if m.tab == tabDiff {
		return "no changes " + m.scope.String()
	}
	return "nothing yet"
}

// finds reports whether a line has the text; capitals count where the text has some.
func finds(line, text string) bool {
	if strings.ToLower(text) == text {
		line = strings.ToLower(line)
	}
	return strings.Contains(line, text)
}

// beginsFile and beginsHunk tell where a diff goes to another file or place.
func beginsFile(line string) bool { return strings.HasPrefix(line, "diff --git ") }
func beginsHunk(line string) bool { return strings.HasPrefix(line, "@@ ") || beginsFile(line) }
