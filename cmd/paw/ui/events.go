package ui

import (
	"slices"
	"strings"
	"time"

	"paw/config/display"
)

const (
	mostEvents     = 50 // events that the desk remembers
	mostPast       = 30 // commands whose output the desk remembers
	eventsBelow    = 9  // events that are shown at most below a pane
	leastForEvents = 10 // the lines of the list, or of a pane, that must be left over for events
	leastPane      = 20 // the lines of a pane below the list that events leave
)

// happened adds events. An event that is known already, such as from the last board, counts once.
func happened(m *Model, more ...Event) {
	for _, e := range more {
		if !slices.Contains(m.events, e) {
			m.events = append(m.events, e)
		}
	}
	slices.SortStableFunc(m.events, func(a, b Event) int { return a.At.Compare(b.At) })
	m.events = m.events[max(len(m.events)-mostEvents, 0):]
}

// eventsView draws the last events, the newest first.
func (f frame) eventsView(at area) []string {
	view := []string{f.paint("EVENTS", bold) + f.paint("  @ output of commands", dim)}
	for _, e := range slices.Backward(f.events) {
		if len(view) == at.height {
			break
		}
		when := e.At.In(f.now.Location()).Format("15:04")
		if f.now.Sub(e.At) > 20*time.Hour {
			when = e.At.In(f.now.Location()).Format("Jan _2")
		}
		text := strings.TrimRight(display.OneLine(e.Text), ": ")
		if e.Bad {
			text = f.paint(text, red)
		}
		view = append(view, f.Cut(f.paint(f.Fill(when, len("Jan 22")), dim)+"  "+text, at.width))
	}
	return view
}
