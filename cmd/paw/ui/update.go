package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"paw/config/display"
)

// Init starts nothing, since the watcher makes the first Look.
func (m Model) Init() tea.Cmd { return nil }

// Update returns the model after a message.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.ModeReportMsg:
		m.measure = widthsAfter(m.measure, msg)
	case boardMsg:
		return m.looked(msg)
	case screenMsg:
		m.screen = screen{key: msg.key, why: msg.why, lines: cleaner{m.measure, m.colour}.lines(msg.text)}
	case linesMsg:
		m.lines = with(m.lines, msg.key, msg.Lines)
	case outlookMsg:
		for name, o := range msg.outlooks {
			m.roster.outlooks = with(m.roster.outlooks, msg.session+"/"+name, o)
		}
		m.roster.arrange("")
	case clockMsg:
		m.now = time.Time(msg)
	case pageMsg:
		m.page.take(m, msg)
		return m, m.readNotes()
	case notesMsg:
		if msg.number == m.page.number {
			m.page.notes = msg.notes
		}
	case outputMsg:
		var wait tea.Cmd
		m.run, wait = m.run.take(m, msg)
		return m, wait
	case doneMsg:
		return m.ran(msg)
	case laterMsg:
		return msg(m)
	case tea.PasteMsg:
		if m.ask != nil {
			m.ask = m.ask.with(m.ask.text.insert(msg.Content))
		}
	case tea.MouseClickMsg:
		return m.clicked(msg)
	case tea.MouseWheelMsg:
		return m.wheeled(msg)
	case tea.KeyPressMsg:
		return m.pressed(msg)
	}
	return m, nil
}

// looked returns the model after a Look.
func (m Model) looked(msg boardMsg) (tea.Model, tea.Cmd) {
	m.now = msg.now
	if msg.err != nil {
		m.failed = display.FirstLine(msg.err.Error())
		return m, nil
	}
	next := m.roster.neighbour()
	m.roster.board, m.failed, m.begun = msg.board, "", true
	m.roster.number()
	m.roster.arrange(next)
	m.dropQuestion()
	return m, m.freshen()
}

// View draws the desk.
func (m Model) View() tea.View {
	var v tea.View
	if m.begun {
		v.Content = strings.Join(m.frame().draw(), "\n")
	}
	v.AltScreen, v.MouseMode, v.WindowTitle = true, tea.MouseModeCellMotion, m.roster.title()
	if x, y, shown := m.frame().cursor(); shown {
		v.Cursor = tea.NewCursor(x, y)
	}
	return v
}
