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

// panesOf implements a PaneWriter with the real panes and CLIs.
type panesOf struct{ home *app.App }

// NewPaneWriter returns a PaneWriter for the real panes.
func NewPaneWriter(h *app.App) PaneWriter {
	real := panesOf{h}
	return PaneWriter{Panes: observe.AskTmux(h), Ready: real.ready, Enter: real.enter, Again: real.again, Patience: confirmPatience}
}

// ready returns the agent's program, and whether it takes a prompt now.
func (k panesOf) ready(ctx context.Context, s *session.Session, w *session.Agent) (tmux.Program, bool) {
	t, err := paneSender(k.home, s, w, "results")
	if err != nil {
		return tmux.Program{}, false
	}
	t.silent = true // the channel is opened only when there is a prompt to send
	box, err := t.look(ctx)
	return t.program, err == nil && box.Box == cli.BoxEmpty
}

// paneSender returns a sender of a prompt to the agent w.
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

// again presses Enter once more, unless the prompt has left the box.
func (k panesOf) again(ctx context.Context, s *session.Session, w *session.Agent, prompt string) error {
	t, err := paneSender(k.home, s, w, prompt)
	if err != nil {
		return err
	}
	if _, _, err := t.find(ctx); err != nil {
		return err
	}
	_, _ = t.see(ctx) // enter waits for a pane that takes no keys
	if t.reach(ctx) {
		return nil // the prompt went by the channel: nothing was typed
	}
	t.before.prompt = t.cli.Canonical(t.prompt)
	return t.enter(ctx)
}

// Confirm waits until a typed prompt has arrived. After Patience it presses Enter once more, unless
// a turn has begun: the first Enter may have been lost.
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

// PaneWriter types prompts into the panes of agents, at a time when paw decides to.
type PaneWriter struct {
	// Panes lists the panes of the session's server.
	Panes observe.AskPanes
	// Ready returns the program of an agent, and whether it takes typed input now.
	Ready func(ctx context.Context, s *session.Session, w *session.Agent) (tmux.Program, bool)
	// Enter types a prompt to that program, calls last and, unless the CLI asks something by then,
	// presses Enter. The error is ErrNotTyped when nothing has reached the pane.
	Enter func(ctx context.Context, s *session.Session, w *session.Agent, to tmux.Program, prompt string, last func() error) error
	// Again presses Enter once more, unless the CLI asks something.
	Again func(ctx context.Context, s *session.Session, w *session.Agent, prompt string) error
	// Patience is how long a prompt may take to arrive, both before and after the second Enter.
	Patience time.Duration
}
