package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// blame runs paw blame for the marked lines of the diff.
func (o onAgent) blame() (tea.Model, tea.Cmd) {
	m, a := o.m, o.a
	first, last := m.page.marked()
	place, err := m.paw.Place(m.page.raw, first, last)
	if err != nil {
		m.say(true, "%v", err)
		return m, nil
	}
	m.page.marks = false
	if m.scope.turn > 0 {
		return m.openly(nil, "blame", fmt.Sprintf("%s@%d", a.Key(), m.scope.turn), place)
	}
	return m.openly(nil, m.page.state.ofState("blame", a.Key(), place)...)
}
