package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"paw/orchestrator/errs"
)

// interactive reports whether there is a person at both ends.
func (a *invocation) interactive() bool {
	return isTerminal(a.stdin) && isTerminal(a.stderr)
}

// ask asks on the terminal and returns the line that is typed. Ctrl-C ends paw, Ctrl-D is no answer.
func (a *invocation) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(a.stderr, question+" ")
	line, err := typedBy(ctx, a, func() (string, error) { return bufio.NewReader(a.stdin).ReadString('\n') })
	if errors.Is(err, io.EOF) {
		fmt.Fprintln(a.stderr)
		return "", errs.New(errs.Failed, "no answer, nothing was done")
	}
	return strings.TrimSpace(line), err
}

// readPrompt reads a prompt from standard input; on a terminal it says how to end it.
func (a *invocation) readPrompt(ctx context.Context) (string, error) {
	if a.interactive() {
		fmt.Fprintln(a.stderr, "Type the prompt, then Ctrl-D on a line of its own:")
	}
	data, err := typedBy(ctx, a, func() ([]byte, error) { return io.ReadAll(a.stdin) })
	return strings.TrimSuffix(string(data), "\n"), err
}

// typedBy reads what a person types. A read of a terminal cannot be interrupted: after Ctrl-C it is left behind, and paw
// ends.
func typedBy[T any](ctx context.Context, a *invocation, read func() (T, error)) (T, error) {
	type answer struct {
		text T
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
		var none T
		return none, exitStatus(exitInterrupted)
	}
}
