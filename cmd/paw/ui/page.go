package ui

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

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
	top    int
	cursor int  // line of the cursor
	marks  bool // the lines from anchor to cursor are marked
	anchor int
	height int // number of lines seen at the last move
	search string
	notes  []Comment // comments on the diff that were not sent
}

// pageMsg carries the output of the command that a page asked for.
type pageMsg struct {
	number int
	text   string
	state  State
}

// wantedPage returns what the page is to show, and the command for it; of is "" where no page is
// shown.
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

// words returns the command that prints the diff.
func (s scope) words(a Agent) []string {
	switch {
	case s.unseen:
		return []string{"diff", a.Key(), "--unseen"}
	case s.turn > 0:
		return []string{"diff", fmt.Sprintf("%s@%d", a.Key(), s.turn)}
	}
	return []string{"diff", a.Key()}
}

// freshen requests the page again if what it shows may have changed. The old page stays until the
// answer comes.
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
		if ofNow { // if no snapshot can be taken, the command reports the error
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

// subject returns a request without the agent's Mark.
func subject(of string) string {
	if i := strings.LastIndexByte(of, ' '); i >= 0 {
		return of[:i]
	}
	return of
}

// colourFlag returns the value of --color for commands whose output the desk shows.
func (m Model) colourFlag() string {
	if m.colour {
		return "always"
	}
	return "never"
}

// take replaces the text of the page and keeps the cursor's line. A log whose end was seen scrolls
// to the new end.
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
func (p *page) seek(step, height int, wanted func(line string) bool) bool {
	for i := p.cursor + step; i >= 0 && i < len(p.lines); i += step {
		if wanted(display.Strip(p.lines[i])) {
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

// view draws the part of the page that is seen.
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

// marked returns the first and last marked line; without marks, the line of the cursor twice.
func (p page) marked() (first, last int) {
	if !p.marks {
		return p.cursor, p.cursor
	}
	return min(p.anchor, p.cursor), max(p.anchor, p.cursor)
}

// emptyPage says what a page without lines means.
func (m Model) emptyPage() string {
	if m.tab == tabDiff {
		return "no changes " + m.scope.String()
	}
	return "nothing yet"
}

// finds reports whether a line contains the text. Upper and lower case differ only if the text has
// upper case.
func finds(line, text string) bool {
	if strings.ToLower(text) == text {
		line = strings.ToLower(line)
	}
	return strings.Contains(line, text)
}

// beginsFile and beginsHunk report whether a line of a diff begins a file, or a hunk or file.
func beginsFile(line string) bool { return strings.HasPrefix(line, "diff --git ") }
func beginsHunk(line string) bool { return strings.HasPrefix(line, "@@ ") || beginsFile(line) }
