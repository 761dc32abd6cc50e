package ui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// TestEvents shows what has happened where the list leaves room, and nowhere else.
func TestEvents(t *testing.T) {
	board := fiveAgents()
	board.Events = []Event{{noon.Add(-time.Hour), "i18n landed in main: Add texts", false}, {noon.Add(-time.Minute), "billing turn 1 failed: overloaded", true}}
	for size, want := range map[[2]int]bool{{120, 35}: true, {200, 50}: true, {80, 50}: true, {80, 24}: false, {120, 22}: false, {40, 10}: false} {
		m := opened(&played{}, board, Options{}, size[0], size[1])
		m = after(m, boardMsg{board: board, now: noon}) // counts once
		got := screenOf(m)
		if strings.Contains(got, "11:59   billing turn 1 failed: overloaded") != want || strings.Contains(got, "11:00   i18n landed in main: Add texts") != want || strings.Count(got, "billing turn") > 1 {
			t.Errorf("%v, wanted %v:\n%s", size, want, got)
		}
		for _, a := range board.Agents {
			if want && !strings.Contains(got, a.Name) {
				t.Errorf("%v: the events cover %s", size, a.Name)
			}
		}
	}
}

// TestConflictsOfAForecast: what a forecast finds is no failure of it.
func TestConflictsOfAForecast(t *testing.T) {
	paw := &played{pages: map[string]string{"forecast --session shop": "web  docs: a.txt\n"}, codes: map[string]int{"forecast --session shop": 8}}
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "l")
	if got := screenOf(m); !strings.Contains(got, "conflicts\n") || !strings.Contains(got, "12:00   paw forecast --session shop: conflicts") || strings.Contains(got, "exit code") {
		t.Error(got)
	}
}

// TestManyEvents fills with events what the list leaves of a tall screen.
func TestManyEvents(t *testing.T) {
	board := fiveAgents()
	for i := range 40 {
		board.Events = append(board.Events, Event{noon.Add(time.Duration(i-60) * time.Minute), fmt.Sprintf("web turn %d done", i), false})
	}
	m := opened(&played{}, board, Options{}, 200, 50)
	l := m.layout()
	if used := len(m.frame().listLines(l.list.width, l.list.height)); l.events.height < 25 || l.list.height != used+1 {
		t.Errorf("%d lines of events below %d of %d\n%s", l.events.height, used, l.list.height, screenOf(m))
	}
	if m = opened(&played{}, board, Options{}, 80, 60); m.layout().events.height > eventsBelow+1 {
		t.Errorf("the pane loses %d lines", m.layout().events.height)
	}
}

// TestPastOutput: the key @ shows the output of the last command after the user has left it; @ again, that of the one before.
func TestPastOutput(t *testing.T) {
	paw := &played{codes: map[string]int{"land shop/tests": 9}}
	paw.pages = map[string]string{"forecast --session shop": "web fits\napi fits\n"}
	paw.run = func(_ context.Context, out io.Writer) { fmt.Fprint(out, "land turn 12\nthe check failed: make test\n") }
	m := typed(opened(paw, fiveAgents(), Options{}, 120, 35), "@")
	if got := screenOf(m); !strings.Contains(got, "no command has run yet") {
		t.Errorf("at first:\n%s", got)
	}
	m = typed(m, "l", "esc", "3", "L", "y", "esc")
	if got := screenOf(m); !strings.Contains(got, "12:00   paw land shop/tests: exit code 9") {
		t.Errorf("no event:\n%s", got)
	}
	m = typed(m, "@")
	if got := screenOf(m); !strings.Contains(got, "the check failed: make test") || !strings.Contains(got, "exit code 9") {
		t.Errorf("not the last one:\n%s", got)
	}
	for range 3 {
		m = typed(m, "@")
		if strings.Contains(screenOf(m), "web fits") {
			return
		}
	}
	t.Errorf("the forecast is not found again:\n%s", screenOf(m))
}
