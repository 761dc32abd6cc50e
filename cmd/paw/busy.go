package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
)

// busyDelay is how long a command works in silence: what is over at once needs no line.
const busyDelay = time.Second

// busyTick is how often the line is drawn again.
const busyTick = 250 * time.Millisecond

// busyLine is a line on a terminal that says what paw does, and for how long. It goes before anything else is said.
type busyLine struct {
	began time.Time
	quit  chan struct{}
	gone  sync.WaitGroup

	mu     sync.Mutex
	line   lineBelow
	doing  string
	part   string
	filled int
}

// busy shows on a terminal that a command is at something which takes its time. Whoever is done calls what it returns,
// before anything is printed.
func (a *invocation) busy(h *app.App, doing string) (done func()) {
	if a.json || !isTerminal(a.stderr) {
		return func() {}
	}
	l := &busyLine{line: lineBelow{a: a}, began: time.Now(), quit: make(chan struct{}), doing: doing}
	step, note, progress := h.Step, h.Note, h.Progress
	h.Step = func(name string) {
		l.step(name)
		step(name)
	}
	h.Note = func(text string) {
		l.clear()
		note(text)
	}
	h.Progress = clearing{l, progress}
	l.gone.Go(l.run)
	return sync.OnceFunc(func() {
		close(l.quit)
		l.gone.Wait()
		l.clear()
		h.Step, h.Note, h.Progress = step, note, progress
	})
}

// run draws the line until it is told to stop.
func (l *busyLine) run() {
	tick := time.NewTicker(busyTick)
	defer tick.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-tick.C:
			l.draw(time.Since(l.began))
		}
	}
}

// step takes in how far the command is.
func (l *busyLine) step(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch name {
	case "worktree.filled":
		l.filled++
		l.part = fmt.Sprintf(", %s checked out", errs.Counted(l.filled, "worktree"))
	case "panes.opened":
		l.part = ", waiting for the CLIs"
	}
}

func (l *busyLine) draw(worked time.Duration) {
	if worked < busyDelay {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line.show(fmt.Sprintf("%s%s (%s)", l.doing, l.part, worked.Truncate(time.Second)))
}

// clear takes the line away.
func (l *busyLine) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line.clear()
}

// clearing writes where the line stands.
type clearing struct {
	line *busyLine
	to   io.Writer
}

func (c clearing) Write(text []byte) (int, error) {
	c.line.clear()
	if c.to == nil {
		return len(text), nil
	}
	return c.to.Write(text)
}
