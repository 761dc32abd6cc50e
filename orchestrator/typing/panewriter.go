package typing

import (
	"context"
	"fmt"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/tmux"
)

// panesOf are the real panes, and the CLIs in them.
type panesOf struct{ home *app.App }

// NewPaneWriter writes to the real panes.
func NewPaneWriter(h *app.App) PaneWriter {
	real := panesOf{h}
	return PaneWriter{Panes: observe.AskTmux(h), Ready: real.ready, Enter: real.enter, Again: real.again, Patience: confirmPatience}
}

// ready is the CLI of an agent, if it takes a prompt now.
func (k panesOf) ready(ctx context.Context, s *session.Session, w *session.Agent) (tmux.Program, bool) {
	t, err := paneSender(k.home, s, w, "results")
	if err != nil {
		return tmux.Program{}, false
	}
	t.silent = true // it is asked when something is to be said
	box, err := t.look(ctx)
	return t.program, err == nil && box.Box == cli.BoxEmpty
}

// paneSender is the sender of a prompt for the parent w.
func paneSender(h *app.App, s *session.Session, w *session.Agent, prompt string) (*sender, error) {
	cli, known := h.CLIs.Get(w.CLI)
	if !known {
		return nil, errs.New(errs.Usage, "unknown CLI %s", w.CLI)
	}
	return senderFor(h, s, w, cli, prompt)
}

// enter types a prompt, calls last and presses Enter.
func (k panesOf) enter(ctx context.Context, s *session.Session, w *session.Agent, to tmux.Program, prompt string, last func() error) error {
	t, err := paneSender(k.home, s, w, prompt)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotTyped, err)
	}
	t.expect(ctx)
	box, err := t.look(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotTyped, err)
	case box.Box != cli.BoxEmpty || t.program != to:
		return fmt.Errorf("%w: its input box is not empty any more", ErrNotTyped)
	}
	return t.send(ctx, last)
}

// again presses Enter once more, unless the prompt is not in the box any more.
func (k panesOf) again(ctx context.Context, s *session.Session, w *session.Agent, prompt string) error {
	t, err := paneSender(k.home, s, w, prompt)
	if err != nil {
		return err
	}
	if _, _, err := t.find(ctx); err != nil {
		return err
	}
	_, _ = t.see(ctx) // what enter says of a pane that takes no keys is waited for
	if t.reach(ctx) {
		return nil // nothing was typed
	}
	t.before.prompt = t.cli.Canonical(t.prompt)
	return t.enter(ctx)
}

// Confirm waits until a prompt that was typed has arrived; when that does not come to pass, Enter may have been lost and is
// pressed once more, unless a turn has begun since.
func (k PaneWriter) Confirm(ctx context.Context, s *session.Session, w *session.Agent, prompt string, arrived, begun func() bool) bool {
	for try := range 2 {
		if poll.Until(ctx, min(k.Patience, 20*time.Millisecond), k.Patience, arrived) {
			return true
		}
		if try == 0 && ctx.Err() == nil && !begun() {
			if err := k.Again(ctx, s, w, prompt); err != nil {
				return false
			}
		}
	}
	return false
}

// PaneWriter types what paw was asked to type later into the pane of an agent.
type PaneWriter struct {
	// Panes lists the panes of the session's server.
	Panes observe.AskPanes
	// Ready returns the CLI of an agent, and whether it takes typed input now.
	Ready func(ctx context.Context, s *session.Session, w *session.Agent) (tmux.Program, bool)
	// Enter types a prompt to that CLI and, after last and unless it asks something by then, Enter. The error is ErrNotTyped
	// when nothing has reached its pane.
	Enter func(ctx context.Context, s *session.Session, w *session.Agent, to tmux.Program, prompt string, last func() error) error
	// Again presses Enter once more, unless the CLI asks something.
	Again func(ctx context.Context, s *session.Session, w *session.Agent, prompt string) error
	// Patience is how long a prompt may take to arrive, before and after Enter is pressed again.
	Patience time.Duration
}
