package ui

import tea "charm.land/bubbletea/v2"

// clicked selects the row, the tab or the line of the page under the mouse.
func (m Model) clicked(click tea.MouseClickMsg) (tea.Model, tea.Cmd) {
	l := m.layout()
	m.roster.chosen = true
	if click.Button != tea.MouseLeft || m.ask != nil {
		return m, nil
	}
	if l.detail.has(click.X, click.Y) && !m.help && m.run == nil {
		m.clickedDetail(l.detail, click.X, click.Y)
		return m, m.freshen()
	}
	if !l.list.has(click.X, click.Y) {
		return m, nil
	}
	lines := m.listing().listLines(l.list.width, l.list.height)
	y := m.listing().topFor(lines, l.list.height) + click.Y - l.list.y
	if y < len(lines) && lines[y].agent >= 0 {
		m.roster.selectAt(lines[y].agent)
		m.top = m.topNow()
	}
	return m, m.freshen()
}

// clickedDetail shows the tab at x, or moves the cursor to the line of the page at y.
func (m *Model) clickedDetail(at area, x, y int) {
	if y == at.y {
		left := at.x + at.width
		for t := len(tabNames) - 1; t >= 0; t-- {
			left -= len(tabNames[t])
			if x >= left && x < left+len(tabNames[t]) {
				m.tab = tab(t)
				m.focus = m.focus && m.tab != tabPane
			}
			left-- // the space between two names
		}
		return
	}
	height := m.pageHeight()
	if line := y - (at.y + at.height - height); m.tab != tabPane && line >= 0 && m.page.top+line < len(m.page.lines) {
		m.page.cursor, m.focus = m.page.top+line, true
	}
}

// wheelLines is how many lines one turn of the wheel scrolls.
const wheelLines = 3

// wheeled scrolls what is under the mouse; over the list, the selection moves.
func (m Model) wheeled(wheel tea.MouseWheelMsg) (tea.Model, tea.Cmd) {
	step := wheelLines
	m.roster.chosen = true
	switch wheel.Button {
	case tea.MouseWheelUp:
		step = -wheelLines
	case tea.MouseWheelDown:
	default:
		return m, nil
	}
	l := m.layout()
	switch {
	case l.list.has(wheel.X, wheel.Y) && m.ask != nil: // the question is about the selected agent, so the selection stays
	case l.list.has(wheel.X, wheel.Y):
		m.roster.step(step / wheelLines)
		m.top = m.topNow()
		return m, m.freshen()
	case l.detail.has(wheel.X, wheel.Y) && m.run != nil:
		m.scrollRun(step)
	case l.detail.has(wheel.X, wheel.Y):
		m.page.scroll(step, m.pageHeight())
	}
	return m, nil
}
