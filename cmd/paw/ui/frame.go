package ui

import (
	"fmt"
	"strings"

	"paw/config/display"
)

func (f frame) draw() []string {
	if f.width < 1 || f.height < 1 {
		return nil
	}
	l := f.layout()
	screen := make([]string, f.height)
	screen[0] = f.headLine()
	if f.height > 1 {
		screen[f.height-1] = f.footLine()
	}
	list, detail := append(f.listView(l.list), make([]string, l.queues.height)...), f.detailView(l)
	if l.events.height > 0 {
		for y, line := range f.eventsView(l.events) {
			screen[l.events.y+y] = f.Fill(line, l.events.width)
		}
	}
	for y := range l.list.height + l.queues.height {
		screen[l.list.y+y] = f.Fill(list[y], l.list.width)
	}
	for y := range l.queues.height {
		screen[l.queues.y+y] = f.Fill(f.paint(f.Cut(f.roster.board.Queues[y], l.queues.width), dim), l.queues.width)
	}
	for y := range l.detail.height {
		line := f.Cut(detail[y], l.detail.width)
		if l.beside {
			line = f.paint("│", dim) + " " + line
		}
		screen[l.detail.y+y] += line
	}
	if f.ask != nil {
		for y, line := range f.ask.view(f.palette, f.measure, l.editor.width, l.editor.height) {
			if f.ask.boxed() && l.beside {
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
	count := f.roster.counts()
	for g, words := range [...]string{NeedsYou: "needs you", ToReview: "to review", Working: "working", Quiet: "quiet"} {
		if n := count[g]; n > 0 {
			if n > 1 && Group(g) == NeedsYou {
				words = "need you"
			}
			counts = append(counts, f.paint(fmt.Sprintf("%d %s", n, words), Group(g).style()))
		}
	}
	right := strings.Join(counts, f.paint(" · ", dim))
	left := f.paint("paw", bold)
	if n := len(f.roster.marked()); n > 0 {
		left += "  " + f.paint(fmt.Sprintf("%d marked", n), bold)
	}
	for _, r := range f.behind {
		left += "  " + f.paint(title(r.words)+" "+Age(f.now.Sub(r.begun)), green)
	}
	if f.roster.filter != "" {
		left += "  " + f.paint("/"+f.roster.filter, cyan)
	}
	left += "  " + f.roster.board.Place
	room := f.width - f.Width(right) - 2
	if room < 3 {
		return f.Cut(right, f.width)
	}
	return f.Fill(left, room) + "  " + right
}

// footLine draws the bottom line: the keys of a question, a note, the comment under the cursor, an
// error, or hints.
func (f frame) footLine() string {
	if f.ask != nil {
		return f.paint(f.Cut(f.ask.keys, f.width), dim)
	}
	if f.note.text != "" && f.now.Before(f.note.until) {
		style := green
		if f.note.bad {
			style = red
		}
		return f.Cut(f.paint(f.note.text, style), f.width)
	}
	if c, ok := f.page.noteAt(f.page.cursor); ok && f.focus && f.tab == tabDiff && f.run == nil {
		const does = " · Enter changes or deletes it"
		return f.paint("● ", yellow) + f.Cut(display.OneLine(c.Text), max(f.width-2-f.Width(does), leastName)) + f.paint(does, dim)
	}
	if f.failed != "" {
		return f.Cut(f.paint(f.failed, red), f.width)
	}
	return f.helpLine(f.width)
}

// cursor returns where the terminal's cursor stands; shown is false where the user writes nothing.
func (f frame) cursor() (x, y int, shown bool) {
	if f.ask == nil || f.ask.choose != nil {
		return 0, 0, false
	}
	at := f.layout().editor
	rows, row, column := f.ask.text.Rows(f.measure, max(at.width-2, 1))
	top := f.ask.top(row, len(rows), at.height-1)
	return column + 2, at.y + 1 + row - top, at.height > 1
}

// detailView draws the detail: the help, the output of a command, or the selected agent.
func (f frame) detailView(l layout) []string {
	at := l.detail
	if at.height <= 0 {
		return nil
	}
	var lines []string
	switch {
	case f.help:
		lines = f.helpView(at.width)
		lines = lines[min(f.helpTop, max(len(lines)-at.height, 0)):]
	case f.run != nil:
		lines = f.run.view(f.Model, at.width, at.height)
	default:
		lines = f.agentView(l)
	}
	view := make([]string, at.height)
	copy(view, lines)
	return view
}

// agentView draws the selected agent: a head with the tabs, the question or prompt, and the chosen
// tab.
func (f frame) agentView(l layout) []string {
	a, ok := f.current()
	if !ok {
		return nil
	}
	at := l.detail
	lines := []string{f.detailHead(a, at.width, l)}
	if at.height >= 8 {
		lines = append(lines, f.aboutView(a, at.width)...)
		lines = append(lines, f.paint(strings.Repeat("─", at.width), dim))
	}
	rest := at.height - len(lines)
	if f.tab == tabPane {
		return append(lines, f.paneView(a, at.width, rest)...)
	}
	return append(lines, f.page.view(f.Model, at.width, rest)...)
}

// detailHead draws a line with the agent's name and state on the left and the tabs on the right.
func (f frame) detailHead(a Agent, width int, l layout) string {
	var tabs []string
	for t, name := range tabNames {
		if tab(t) == f.tab {
			tabs = append(tabs, f.paint(name, under))
		} else {
			tabs = append(tabs, f.paint(name, dim))
		}
	}
	right := strings.Join(tabs, " ")
	if f.tab == tabDiff {
		right = f.paint(f.scope.String(), cyan) + "  " + right
	}
	name := a.Name
	if !l.beside && l.list.height == 0 { // the list, which names the session too, is not shown
		name = a.Key()
	}
	left := f.paint(name, bold) + "  " + f.paint(f.stateOf(a), a.Colour)
	cli := a.CLI
	if a.Parent != "" {
		cli += " of " + a.Parent
	}
	left += "  " + f.paint(strings.TrimRight(cli+"  "+a.Branch, " "), dim)
	room := width - f.Width(right) - 2
	if room < leastName {
		return f.Cut(left, width)
	}
	return f.Fill(left, room) + "  " + right
}

// paneView draws the lower part of the agent's pane, where CLIs show what they do and ask.
func (f frame) paneView(a Agent, width, height int) []string {
	switch {
	case a.Far:
		return []string{f.paint(f.Cut(a.Name+" runs on another machine: Enter shows its pane, t its turns, d its diff", width), dim)}
	case a.Pane == "":
		return []string{f.paint(f.Cut(a.Name+" is "+a.State+" and has no pane: Enter brings it back, R its session", width), dim)}
	case f.screen.key != a.Key():
		return nil // the watcher sends the pane of a newly selected agent at once
	case f.screen.why != "":
		return []string{f.paint(f.Cut(f.screen.why, width), red)}
	}
	lines := f.screen.lines
	for len(lines) > 0 && strings.TrimSpace(display.Strip(lines[len(lines)-1])) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines[max(len(lines)-height, 0):]
}
