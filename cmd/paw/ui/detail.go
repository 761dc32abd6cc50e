package ui

import (
	"strings"

	"paw/config/display"
)

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
