package orchestrator

import (
	"context"
	"fmt"

	"paw/orchestrator/agent"
	"paw/session"
)

// panesOf are the real panes, and the CLIs in them.
type panesOf struct{ p *Paw }

// paneKeyboard is the keyboard of the real panes.
func (p *Paw) paneKeyboard() keyboard {
	real := panesOf{p}
	return keyboard{panes: p.askTmux(), ready: real.ready, enter: real.enter, again: real.again, patience: confirmPatience}
}

// ready is the pane of an agent whose CLI takes a prompt now, else "".
func (k panesOf) ready(ctx context.Context, s *session.Session, w *session.Worktree) string {
	t, err := k.p.paneTypist(s, w, "results")
	if err != nil {
		return ""
	}
	if box, err := t.look(ctx); err != nil || box.Box != agent.BoxEmpty {
		return ""
	}
	return t.pane
}

// paneTypist is the typist of a prompt for the parent w.
func (p *Paw) paneTypist(s *session.Session, w *session.Worktree, prompt string) (*typist, error) {
	cli, known := p.CLIs.Get(w.CLI)
	if !known {
		return nil, failf(KindUsage, "unknown CLI %s", w.CLI)
	}
	return p.typistFor(s, w, cli, prompt)
}

// enter types a prompt, calls last and presses Enter.
func (k panesOf) enter(ctx context.Context, s *session.Session, w *session.Worktree, pane, prompt string, last func() error) error {
	t, err := k.p.paneTypist(s, w, prompt)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotTyped, err)
	}
	t.pane = pane
	if t.ready.Box && !t.isEmpty(ctx) {
		return fmt.Errorf("%w: its input box is not empty any more", errNotTyped)
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
	t, err := k.p.paneTypist(s, w, prompt)
	if err != nil {
		return err
	}
	t.pane, t.before.prompt = pane, t.cli.Canonical(t.prompt)
	return t.enter(ctx)
}
