package ui

import (
	"fmt"
	"strings"
	"time"

	"paw/config/display"
)

// listLine is a line of the list. Lines that belong to no agent, such as the name of a group, have
// agent -1.
type listLine struct {
	text  string
	agent int
}

// The columns of a row.
const (
	colNumber = iota
	colName
	colCLI
	colState
	colAge
	colTurn
	colLines
	colPull
	colFlag
	columnsOfRow
)

const (
	leastAbout = 30 // least columns of About in a row; with fewer, About goes to a line below the row or is left out
	tightAbout = 16 // the same limit where no agent has a line below the row
	leastName  = 8
	mostName   = 28
	gap        = "  "
)

// headNames are the heads of the columns that do not explain themselves.
var headNames = [columnsOfRow]string{colAge: "age", colTurn: "turn", colLines: "lines", colPull: "pr"}

// leastForHeads is the least height of a terminal that shows them.
const leastForHeads = 24

// dropped lists the columns to leave out where the row is too long, the first one first.
var dropped = []int{colCLI, colPull, colLines, colNumber, colTurn}

// cells returns the texts of an agent's row, all but About.
func (f frame) cells(a Agent, several bool) [columnsOfRow]string {
	var c [columnsOfRow]string
	if n := f.roster.numberOf(a); n > 0 {
		c[colNumber] = fmt.Sprint(n)
	}
	c[colName] = a.Name
	if several {
		c[colName] = a.Key()
	}
	if a.depth > 0 {
		c[colName] = strings.Repeat("  ", a.depth-1) + "└ " + c[colName]
	}
	c[colCLI], c[colState] = a.CLI, f.stateOf(a)
	if c[colTurn] = a.Turn; a.Turn != "" && !strings.HasSuffix(a.Turn, display.Ellipsis) {
		c[colTurn] += " " // aligns the digits with a turn that has an ellipsis
	}
	switch {
	case a.Since.IsZero():
	case a.Runs:
		c[colAge] = ticking(f.now.Sub(a.Since))
	default:
		c[colAge] = Age(f.now.Sub(a.Since))
	}
	if a.Pull != "" {
		c[colPull] = "#" + a.Pull[strings.LastIndexByte(a.Pull, '/')+1:]
	}
	o := f.roster.outlooks[a.Key()]
	if c[colLines] = o.Lines; len(o.Files)+len(o.Others) > 0 {
		c[colFlag] = "!"
	}
	return c
}

// columnWidths returns the width of each column, 0 for a column that is left out, and of About,
// which comes last. In a tight list, most other columns give way to About.
func (f frame) columnWidths(rows [][columnsOfRow]string, width int, tight bool) (widths [columnsOfRow]int, about int) {
	for _, row := range rows {
		for k, text := range row {
			widths[k] = max(widths[k], f.Width(text))
		}
	}
	widths[colName] = min(widths[colName], max(mostName, width/5))
	total := func() int {
		sum := 2 - len(gap) // 2 columns of marks in front, and no gap behind the last column
		for _, w := range widths {
			if w > 0 {
				sum += w + len(gap)
			}
		}
		return sum
	}
	least := leastAbout
	if tight {
		least = tightAbout
	}
	for _, k := range dropped {
		if total() > width || tight && k != colNumber && k != colTurn && width-total()-len(gap) < least {
			widths[k] = 0
		}
	}
	if over := total() - width; over > 0 {
		widths[colName] = max(widths[colName]-over, min(leastName, widths[colName]))
	}
	if about = width - total() - len(gap); about < least {
		about = 0
	}
	return widths, about
}

// listLines returns all lines of the list. Where rows have no room for About, About has a line
// below the row if the height allows; the agents that need the user have this line as long as the
// whole list still fits.
func (f frame) listLines(width, height int) []listLine {
	agents := f.roster.rows
	rows := make([][columnsOfRow]string, len(agents))
	several := f.roster.severalSessions()
	for i, a := range agents {
		rows[i] = f.cells(a, several)
	}
	roomy := f.roomyHeight(agents, true) <= height
	tight := f.roomyHeight(agents, false) > height
	widths, about := f.columnWidths(rows, width, tight)
	var lines []listLine
	for i, a := range agents {
		if i == 0 || agents[i-1].Group != a.Group {
			if i > 0 && (roomy || about > 0 && !tight) {
				lines = append(lines, listLine{agent: -1})
			}
			heading := f.heading(agents, a.Group)
			if i == 0 && f.height >= leastForHeads {
				heading = f.withHeads(heading, widths)
			}
			lines = append(lines, listLine{heading, -1})
		}
		now := f.working(a)
		beside := briefly(a)
		if now != "" && !roomy {
			beside = now
		}
		lines = append(lines, listLine{f.row(a, rows[i], widths, f.Cut(beside, about), width), i})
		if about == 0 && a.About != "" && (roomy || a.Group == NeedsYou && !tight) {
			lines = append(lines, listLine{f.below(a, width), i})
		}
		if roomy && now != "" {
			lines = append(lines, listLine{belowIndent + f.Cut(now, width-len(belowIndent)), i})
		}
	}
	return lines
}

// roomyHeight returns how many lines the list needs: with all, a blank line between groups and a
// line below each row; else only the lines below the rows of agents that need the user.
func (f frame) roomyHeight(agents []Agent, all bool) int {
	lines := 0
	for i, a := range agents {
		if i == 0 || agents[i-1].Group != a.Group {
			if lines++; all && i > 0 {
				lines++
			}
		}
		if lines++; a.About != "" && (all || a.Group == NeedsYou) {
			lines++
		}
		if all && f.working(a) != "" {
			lines++
		}
	}
	return lines
}

// heading draws the name of a group and the number of its agents.
func (f frame) heading(agents []Agent, g Group) string {
	n, dead := 0, 0
	for _, a := range agents {
		if a.Group == g {
			n++
		}
		if a.Dead && a.Group == g && a.Session == agents[0].Session {
			dead++
		}
	}
	heading := f.paint(groupNames[g], bold) + " " + f.paint(fmt.Sprint(n), g.style())
	if g == NeedsYou && dead == n && n > 1 {
		heading += "  " + f.paint("their tmux session is gone: R brings them back", g.style())
	}
	return heading
}

// withHeads adds the heads of the columns to the first heading. Each ends where its column ends.
func (f frame) withHeads(line string, widths [columnsOfRow]int) string {
	at := 2 // columns of marks in front
	for k, w := range widths {
		if w == 0 {
			continue
		}
		if begin := at + w - f.Width(headNames[k]); headNames[k] != "" && begin > f.Width(line) {
			line = f.Fill(line, begin) + f.paint(headNames[k], dim)
		}
		at += w + len(gap)
	}
	return line
}

// row draws an agent's row. The selected row is a bar: in the colours of the other rows or, without
// colours, inverse.
func (f frame) row(a Agent, cells [columnsOfRow]string, widths [columnsOfRow]int, about string, width int) string {
	selected := a.Key() == f.roster.selected
	paint := f.paint
	if a.Away {
		paint = func(text, _ string) string { return f.paint(text, dim) }
	}
	if selected && !f.colour { // the end of a style would end the inverse bar
		paint, about = func(text, _ string) string { return text }, display.Strip(about)
	}
	var line strings.Builder
	chosen := " "
	if f.roster.marks[a.Key()] {
		chosen = "●"
	}
	line.WriteString(paint(f.markOf(a), a.Colour) + paint(chosen, bold))
	for k, text := range cells {
		w := widths[k]
		if w == 0 {
			continue
		}
		switch k {
		case colNumber, colAge, colTurn, colLines:
			text = f.Right(text, w)
		default:
			text = f.Fill(text, w)
		}
		switch k {
		case colNumber, colCLI, colAge:
			text = paint(text, dim)
		case colName:
			if a.Group == NeedsYou && !a.Dead {
				text = paint(text, bold)
			}
		case colState:
			if f.stalled(a) {
				a.Colour = yellow
			}
			text = paint(text, a.Colour)
		case colLines:
			if added, deleted, ok := strings.Cut(text, " -"); ok && strings.HasSuffix(a.Turn, display.Ellipsis) {
				text = paint(text, dim) // as they were before this turn
			} else if ok {
				text = paint(added, green) + " " + paint("-"+deleted, red)
			}
		case colPull:
			text = paint(text, cyan)
		case colFlag:
			text = paint(text, red)
		}
		line.WriteString(text + gap)
	}
	text := f.Cut(strings.TrimRight(line.String()+about, " "), width)
	switch {
	case selected && f.colour:
		return display.OnBar(f.Fill(text, width))
	case selected:
		return "\x1b[7m" + f.Fill(text, width) + "\x1b[m"
	}
	return text
}

// briefly returns About without "turn N was cut", which the state says already.
func briefly(a Agent) string {
	if what, is := strings.CutPrefix(a.About, "turn "+a.Turn+" "); is && a.Cut {
		return strings.TrimPrefix(what, "was cut: ")
	}
	return a.About
}

// below draws About in the line below the agent's row.
func (f frame) below(a Agent, width int) string {
	style := dim
	if a.Group == NeedsYou && !a.Dead {
		style = bold
	}
	return belowIndent + f.paint(f.Cut(briefly(a), width-len(belowIndent)), style)
}

// belowIndent stands in front of the lines below a row.
const belowIndent = "     "

// listView draws the part of the list that is seen.
func (f frame) listView(at area) []string {
	lines := f.listLines(at.width, at.height)
	view := make([]string, at.height)
	if len(lines) == 0 && at.height > 0 {
		text := f.emptyList()
		for _, problem := range f.roster.board.Problems {
			text = append(text, "", f.paint(problem, red))
		}
		copy(view, text)
		return view
	}
	seen := lines[f.topFor(lines, at.height):]
	for y := range min(len(seen), at.height) {
		view[y] = seen[y].text
	}
	if more := begunFrom(seen, at.height); more > 0 && at.height > 0 {
		sign := fmt.Sprintf("  %d more", more)
		view[at.height-1] = f.Cut(f.Fill(view[at.height-1], at.width-len(sign))+f.paint(sign, dim), at.width)
	}
	return view
}

// begunFrom counts the agents whose row is the line at index first or below.
func begunFrom(lines []listLine, first int) int {
	agents := 0
	for y := max(first, 1); y < len(lines); y++ {
		if lines[y].agent >= 0 && lines[y].agent != lines[y-1].agent {
			agents++
		}
	}
	return agents
}

// emptyList stands for a list without agents: it says what there could be, and the keys that lead there.
func (f frame) emptyList() []string {
	if f.roster.filter != "" {
		return []string{f.paint("no agent matches; Esc shows all", dim)}
	}
	return []string{
		"no agents here", "",
		"S  start some: claude,codex gives two branches, two worktrees, two panes;",
		"   api=demo tries it without an account",
		"A  all sessions of this machine",
		"?  all keys",
	}
}

// topFor returns the first line to show, so that the selected agent is seen, with the name of the
// group above the group's first agent. The list scrolls as little as possible.
func (f frame) topFor(lines []listLine, height int) int {
	selected := f.roster.index()
	first, last := 0, 0
	for y, line := range lines {
		if line.agent != selected || selected < 0 {
			continue
		}
		if last = y; lines[first].agent != selected {
			first = y
		}
	}
	if first > 0 && lines[first-1].agent < 0 {
		first--
	}
	top := min(f.top, max(len(lines)-height, 0))
	if last >= top+height {
		top = last - height + 1
	}
	return max(min(top, first), 0)
}

// Age returns a duration in its largest unit, such as 5m.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(max(d, 0).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
