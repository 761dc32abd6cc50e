package ui

import (
	"fmt"
	"strings"

	"paw/config/display"
)

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

// cursor returns where the terminal's cursor stands; shown is false where the user writes nothing.
func (f frame) cursor() (x, y int, shown bool) {
	if f.m.ask == nil || f.m.ask.choose != nil {
		return 0, 0, false
	}
	at := f.m.layout().editor
	rows, row, column := f.m.ask.text.rows(f.measure, max(at.width-2, 1))
	top := f.m.ask.top(row, len(rows), at.height-1)
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
	case f.m.help:
		lines = f.helpView(at.width, at.height)
	case f.m.run != nil:
		lines = f.m.run.view(f.m, at.width, at.height)
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
	a, ok := f.m.current()
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
	if f.m.tab == tabPane {
		return append(lines, f.paneView(a, at.width, rest)...)
	}
	return append(lines, f.m.page.view(f.m, at.width, rest)...)
}

// detailHead draws a line with the agent's name and state on the left and the tabs on the right.
func (f frame) detailHead(a Agent, width int, l layout) string {
	var tabs []string
	for t, name := range tabNames {
		if tab(t) == f.m.tab {
			tabs = append(tabs, f.paint(name, under))
		} else {
			tabs = append(tabs, f.paint(name, dim))
		}
	}
	right := strings.Join(tabs, " ")
	if f.m.tab == tabDiff {
		right = f.paint(f.m.scope.String(), cyan) + "  " + right
	}
	left := f.paint(a.Name, bold) + "  " + f.paint(a.State, a.Colour)
	if !l.beside && l.list.height == 0 { // the list, which names the session too, is not shown
		left = f.paint(a.Key(), bold) + "  " + f.paint(a.State, a.Colour)
	}
	cli := a.CLI
	if a.Parent != "" {
		cli += " of " + a.Parent
	}
	left += "  " + f.paint(strings.TrimRight(cli+"  "+a.Branch+"  "+f.m.lines[a.Key()].Usage, " "), dim)
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
	case f.m.screen.key != a.Key():
		return nil // the watcher sends the pane of a newly selected agent at once
	case f.m.screen.why != "":
		return []string{f.paint(f.Cut(f.m.screen.why, width), red)}
	}
	lines := f.m.screen.lines
	for len(lines) > 0 && strings.TrimSpace(display.Strip(lines[len(lines)-1])) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines[max(len(lines)-height, 0):]
}
