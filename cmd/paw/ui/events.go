package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"paw/config/display"
)

const (
	mostEvents     = 50 // events that the desk remembers
	mostPast       = 30 // commands whose output the desk remembers
	eventsShown    = 9  // events that are shown at most
	leastForEvents = 10 // the lines of the list, or of a pane, that must be left over for events
	leastPane      = 20 // the lines of a pane below the list that events leave
)

// happened adds events. An event that is known already, such as from the last board, counts once.
func (m *Model) happened(more ...Event) {
	for _, e := range more {
		if !slices.Contains(m.events, e) {
			m.events = append(m.events, e)
		}
	}
	slices.SortStableFunc(m.events, func(a, b Event) int { return a.At.Compare(b.At) })
	m.events = m.events[max(len(m.events)-mostEvents, 0):]
}

// remember keeps the output of a command that has ended. A failure is an event, too.
func (m *Model) remember(r *run) {
	m.past = append(m.past, r)
	m.past = m.past[max(len(m.past)-mostPast, 0):]
	if r.code != 0 {
		m.happened(Event{At: m.now, Text: fmt.Sprintf("%s: exit code %d", title(r.words), r.code), Bad: true})
	}
}

// showPast shows the output of the last command or, where that is shown, of the one before.
func (m *Model) showPast() tea.Cmd {
	if len(m.past) == 0 {
		return m.say(false, "no command has run yet")
	}
	i := slices.Index(m.past, m.run)
	if i < 0 {
		i = len(m.past)
	}
	m.run = m.past[(i-1+len(m.past))%len(m.past)]
	return nil
}

// withEvents cuts the room for the last events from what the list leaves, or from a tall pane below it.
func (m *Model) withEvents(l layout) layout {
	n := min(len(m.events), eventsShown) + 1
	below := l.list.y + l.list.height + l.queues.height
	switch used := min(len(m.frame().listLines(l.list.width, l.list.height)), l.list.height); {
	case n == 1 || l.list.height == 0 || m.ask != nil && m.ask.boxed() && !l.beside:
	case l.list.height-used > leastForEvents:
		n = min(n, l.list.height-used-1)
		l.list.height -= n
		l.events = area{0, below - n, l.list.width, n}
	case !l.beside && m.tab == tabPane && m.run == nil && l.detail.height > leastPane+leastForEvents:
		l.detail.height -= n
		l.events = area{0, l.detail.y + l.detail.height, l.detail.width, n}
	}
	return l
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
