package ui

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// framesPerSecond is how often the screen is drawn at most.
const framesPerSecond = 30

// Open shows the desk on a terminal until the user leaves it, or ctx ends. Nothing that it began goes on after it.
func Open(ctx context.Context, paw Paw, o Options, stdin io.Reader, stdout io.Writer, env []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &watcher{paw: paw, now: time.Now, poked: make(chan struct{}, 1)}
	first, cost := w.look(ctx)
	if first.err != nil {
		return first.err
	}
	began, _ := New(ctx, paw, o).looked(first)
	d := desk{began, w}
	program := tea.NewProgram(d, tea.WithContext(ctx), tea.WithInput(stdin), tea.WithOutput(stdout), tea.WithEnvironment(env), tea.WithFPS(framesPerSecond))
	w.send = program.Send
	for _, begin := range []func(context.Context){func(ctx context.Context) { w.lookOn(ctx, cost) }, w.screens, w.count} {
		go begin(ctx)
	}
	_, err := program.Run()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return nil
	}
	return err
}

// desk is the model with the watcher, which it tells what is shown.
type desk struct {
	tea.Model
	watcher *watcher
}

func (d desk) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	next, cmd := d.Model.Update(msg)
	if m, ok := next.(Model); ok {
		d.watcher.want(m.wanted())
	}
	if _, key := msg.(tea.KeyPressMsg); key {
		d.watcher.poke()
	}
	return desk{next, d.watcher}, cmd
}

// wanted is what the watcher has to look at.
func (m Model) wanted() wanted {
	l := m.layout()
	var w wanted
	if a, ok := m.current(); ok && m.tab == tabPane && l.detail.height > 0 && !m.help && m.run == nil {
		w.screen = a
	}
	agents := m.agents()
	if l.list.height == 0 {
		if a, ok := m.current(); ok {
			w.rows = []Agent{a}
		}
		return w
	}
	lines := m.listLines(l.list.width, l.list.height)
	top := m.topFor(lines, l.list.height)
	for y := top; y < min(top+l.list.height, len(lines)); y++ {
		if i := lines[y].agent; i >= 0 && (y == top || lines[y-1].agent != i) {
			w.rows = append(w.rows, agents[i])
		}
	}
	return w
}

// widthsAfter is how the terminal counts columns after it has said whether it knows characters that join others.
func widthsAfter(now measure, report tea.ModeReportMsg) measure {
	if report.Mode != ansi.ModeUnicodeCore {
		return now
	}
	switch report.Value {
	case ansi.ModeReset, ansi.ModeSet, ansi.ModePermanentlySet:
		return measure(ansi.GraphemeWidth)
	default:
		return now
	}
}
