package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
)

// interactive reports whether standard input and standard error are terminals, so that a person can
// answer.
func (a *invocation) interactive() bool {
	return isTerminal(a.stdin) && isTerminal(a.stderr)
}

// ask asks a question on the terminal and returns the line that was typed. Ctrl-C ends paw; Ctrl-D
// is an error.
func (a *invocation) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(a.stderr, question+" ")
	line, err := typedBy(ctx, a, func() ([]byte, error) { return bufio.NewReader(a.stdin).ReadBytes('\n') })
	if errors.Is(err, io.EOF) {
		fmt.Fprintln(a.stderr)
		return "", errs.New(errs.Failed, "no answer, nothing was done")
	}
	return strings.TrimSpace(string(line)), err
}

// typedPrompt reads a prompt from standard input. On a terminal the user is told how to end the
// prompt.
func (a *invocation) typedPrompt(ctx context.Context) (string, error) {
	if a.interactive() {
		fmt.Fprintln(a.stderr, "Type the prompt, then Ctrl-D on a line of its own:")
	}
	data, err := typedBy(ctx, a, func() ([]byte, error) { return io.ReadAll(a.stdin) })
	return strings.TrimSuffix(string(data), "\n"), err
}

// typedBy calls read, which waits for a person. A read of a terminal cannot be interrupted: on
// Ctrl-C typedBy leaves the read behind, and paw ends.
func typedBy(ctx context.Context, a *invocation, read func() ([]byte, error)) ([]byte, error) {
	type answer struct {
		text []byte
		err  error
	}
	typed := make(chan answer, 1)
	go func() {
		text, err := read()
		typed <- answer{text, err}
	}()
	select {
	case got := <-typed:
		return got.text, got.err
	case <-ctx.Done():
		fmt.Fprintln(a.stderr)
		return nil, exitStatus(exitInterrupted)
	}
}

// busyDelay is the time a command works before a line says so.
const busyDelay = time.Second

// busyTick is the interval at which the line is drawn again.
const busyTick = 250 * time.Millisecond

// busyLine is a line on the terminal that says what paw does, and since when. The line is removed
// before anything else is printed.
type busyLine struct {
	began time.Time
	quit  chan struct{}
	gone  sync.WaitGroup

	mu     sync.Mutex
	line   lineBelow
	doing  string
	part   string
	filled int
	all    int // worktrees to make, 0 if unknown
}

// busy shows on a terminal that a long step is under way. The caller calls done before it prints
// anything.
func (p *printer) busy(h *app.App, doing string) (done func()) {
	if p.json || !isTerminal(p.stderr) {
		return func() {}
	}
	l := &busyLine{line: lineBelow{out: p}, began: time.Now(), quit: make(chan struct{}), doing: doing}
	step, expect, note, progress := h.Step, h.Expect, h.Note, h.Progress
	h.Expect = l.expect
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
		h.Step, h.Expect, h.Note, h.Progress = step, expect, note, progress
	})
}

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

// step updates the line when the orchestrator reports a step by its name.
func (l *busyLine) step(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch name {
	case "worktree.filled":
		l.filled++
		l.part = l.checkedOut()
	case "panes.opened":
		l.part = ", waiting for the CLIs"
	}
}

func (l *busyLine) expect(worktrees int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = worktrees
	l.part = l.checkedOut()
}

// checkedOut returns the part of the line that counts the worktrees made so far.
func (l *busyLine) checkedOut() string {
	if l.all == 0 {
		return fmt.Sprintf(", %s checked out", errs.Counted(l.filled, "worktree"))
	}
	return fmt.Sprintf(", %d of %s checked out", l.filled, errs.Counted(l.all, "worktree"))
}

func (l *busyLine) draw(worked time.Duration) {
	if worked < busyDelay {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line.show(fmt.Sprintf("%s%s (%s)", l.doing, l.part, worked.Truncate(time.Second)))
}

func (l *busyLine) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line.clear()
}

// clearing removes a busyLine before each write, because both use the same row of the terminal.
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
