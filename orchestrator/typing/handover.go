package typing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"paw/orchestrator/cli"
)

// handedPatience is how long a CLI may take to begin a prompt that it got by its channel or took
// out of its box.
const handedPatience = 30 * time.Second

// loginDialog is the dialog of a CLI that cannot answer any prompt yet.
const loginDialog = "asks you to log in"

// reach opens the channel of the CLI, and reports whether the CLI answers on it. A silent channel
// is not tried again. The channel leads to the last prompted conversation: where the user has begun
// another one, the prompt must be typed.
func (t *sender) reach(ctx context.Context) bool {
	if t.channel != nil {
		return true
	}
	if t.silent || t.screen.Fresh || t.ready.Event && !t.reports() {
		return false
	}
	channel := t.cli.Channel(t.app.Specs().Read(t.s, t.w, ""))
	if t.silent = !channel.Open(ctx); !t.silent {
		t.channel = channel
	}
	return !t.silent
}

// handOver calls last and gives the prompt to the CLI by its channel.
func (t *sender) handOver(ctx context.Context, last func() error) error {
	t.before = t.expected.now(t.app, t.s, t.w)
	t.lastTyped()
	if err := last(); err != nil {
		return err
	}
	t.leave()
	t.app.Step("typed")
	err := t.channel.Submit(context.WithoutCancel(ctx), t.text, t.screen)
	switch {
	case errors.Is(err, cli.ErrNotHandedOver):
		t.settled()
		e := t.refusal("did not take the prompt by its channel: %v", err)
		e.Err = fmt.Errorf("%w: %w", ErrNotTyped, err)
		return e
	case err != nil:
		return t.unconfirmed("the prompt was handed over, and %v", err)
	}
	t.handed = true
	return nil
}
