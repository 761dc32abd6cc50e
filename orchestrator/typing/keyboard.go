package typing

import (
	"context"
	"fmt"
	"time"

	"paw/orchestrator/agent"
	"paw/orchestrator/fault"
	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/session"
)

// panesOf are the real panes, and the CLIs in them.
type panesOf struct{ home *home.Home }

// NewKeyboard is the keyboard of the real panes.
func NewKeyboard(h *home.Home) Keyboard {
	real := panesOf{h}
	return Keyboard{Panes: fleet.AskTmux(h), Ready: real.ready, Enter: real.enter, Again: real.again, Patience: confirmPatience}
}

// ready is the pane of an agent whose CLI takes a prompt now, else "".
func (k panesOf) ready(ctx context.Context, s *session.Session, w *session.Worktree) string {
	t, err := paneTypist(k.home, s, w, "results")
	if err != nil {
		return ""
	}
	if box, err := t.look(ctx); err != nil || box.Box != agent.BoxEmpty {
		return ""
	}
	return t.pane
}

// paneTypist is the typist of a prompt for the parent w.
func paneTypist(h *home.Home, s *session.Session, w *session.Worktree, prompt string) (*typist, error) {
	cli, known := h.CLIs.Get(w.CLI)
	if !known {
		return nil, fault.New(fault.Usage, "unknown CLI %s", w.CLI)
	}
	return typistFor(h, s, w, cli, prompt)
}

// enter types a prompt, calls last and presses Enter.
func (k panesOf) enter(ctx context.Context, s *session.Session, w *session.Worktree, pane, prompt string, last func() error) error {
	t, err := paneTypist(k.home, s, w, prompt)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotTyped, err)
	}
	t.pane = pane
	if t.ready.Box && !t.isEmpty(ctx) {
		return fmt.Errorf("%w: its input box is not empty any more", ErrNotTyped)
	}
	if err := t.paste(ctx); err != nil {
		return err
	}
	if err := last(); err != nil {
		return err
	}
	return t.enter(ctx)
}

// again presses Enter once more, unless the prompt is not in the box any more.
func (k panesOf) again(ctx context.Context, s *session.Session, w *session.Worktree, pane, prompt string) error {
	t, err := paneTypist(k.home, s, w, prompt)
	if err != nil {
		return err
	}
	t.pane, t.before.prompt = pane, t.cli.Canonical(t.prompt)
	return t.enter(ctx)
}

// Keyboard is how a deliverer reaches the pane of a parent.
type Keyboard struct {
	// Panes lists the panes of the session's server.
	Panes fleet.AskPanes
	// Ready returns the pane of an agent, "" when its CLI takes no typed input now.
	Ready func(ctx context.Context, s *session.Session, w *session.Worktree) (pane string)
	// Enter types a prompt and, after last and unless the CLI asks something by then, Enter. The error is ErrNotTyped when nothing has reached the pane.
	Enter func(ctx context.Context, s *session.Session, w *session.Worktree, pane, prompt string, last func() error) error
	// Again presses Enter once more, unless the CLI asks something.
	Again func(ctx context.Context, s *session.Session, w *session.Worktree, pane, prompt string) error
	// Patience is how long a prompt may take to arrive, before and after Enter is pressed again.
	Patience time.Duration
}
