package orchestrator

import (
	"context"
	"errors"
	"fmt"

	"paw/session"
	"paw/tmux"
)

// paneKeyboard is the keyboard of the real panes.
func (p *Paw) paneKeyboard() keyboard {
	return keyboard{panes: p.askTmux, ready: p.readyPane, enter: p.enter, again: p.enterAgain, patience: confirmPatience}
}

// readyPane is the pane of an agent whose CLI is past its start, else "".
func (p *Paw) readyPane(ctx context.Context, s *session.Session, w *session.Worktree) string {
	cli, known := p.CLIs.Get(w.CLI)
	f, err := p.observe(ctx, s)
	if err != nil || !known {
		return ""
	}
	a := f.agent(w.Agent)
	if a == nil || a.pane == nil || a.pane.Dead || !p.takesInput(ctx, s, a, cli) {
		return ""
	}
	return a.pane.ID
}

// enter pastes a prompt, calls last and presses Enter.
func (p *Paw) enter(ctx context.Context, s *session.Session, w *session.Worktree, pane, prompt string, last func() error) error {
	cli, known := p.CLIs.Get(w.CLI)
	if !known {
		return fmt.Errorf("%w: unknown CLI %s", errNotTyped, w.CLI)
	}
	text, err := cli.Literal(prompt)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotTyped, err)
	}
	box := p.boxOf(s, w, cli, pane)
	err = box.paste(ctx, text)
	if errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrNotFound) {
		return fmt.Errorf("%w: %w", errNotTyped, err)
	}
	if err != nil {
		return err
	}
	if err := last(); err != nil {
		return err
	}
	return box.enter(ctx)
}

// enterAgain presses Enter once more.
func (p *Paw) enterAgain(ctx context.Context, s *session.Session, w *session.Worktree, pane string) error {
	cli, known := p.CLIs.Get(w.CLI)
	if !known {
		return failf(KindUsage, "unknown CLI %s", w.CLI)
	}
	return p.boxOf(s, w, cli, pane).enter(ctx)
}
