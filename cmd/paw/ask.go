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

	"paw/config/poll"
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
	mu   sync.Mutex
	line lineBelow
}

// busy shows on a terminal that a long step is under way. The caller calls done before it prints
// anything.
func (p *printer) busy(h *app.App, doing string) (done func()) {
	if p.json || !isTerminal(p.stderr) {
		return func() {}
	}
	l, began := &busyLine{line: lineBelow{out: p}}, time.Now()
	note, progress := h.Note, h.Progress
	h.Note = func(text string) {
		l.clear()
		note(text)
	}
	h.Progress = clearing{l, progress}
	ctx, stop := context.WithCancel(context.Background())
	var gone sync.WaitGroup
	gone.Go(func() {
		for poll.Sleep(ctx, busyTick); ctx.Err() == nil; poll.Sleep(ctx, busyTick) {
			if worked := time.Since(began); worked >= busyDelay {
				l.mu.Lock()
				l.line.show(fmt.Sprintf("%s (%s)", doing, worked.Truncate(time.Second)))
				l.mu.Unlock()
			}
		}
	})
	return sync.OnceFunc(func() {
		stop()
		gone.Wait()
		l.clear()
		h.Note, h.Progress = note, progress
	})
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
