package orchestrator

import (
	"context"
	"errors"
	"os"
	"strings"

	"paw/session"
	"paw/tmux"
)

// ErrNotATerminal is why Attach fails where there is no terminal.
var ErrNotATerminal = tmux.ErrNotATerminal

// Attach shows a session in the user's terminal, with the pane of agentName
// selected when it is not empty.
func (p *Paw) Attach(ctx context.Context, s *session.Session, agentName string) error {
	if agentName != "" {
		if _, err := agentNamed(s, agentName); err != nil {
			return err
		}
	}
	f, err := p.observe(ctx, s)
	if err != nil {
		return err
	}
	if f.tmux == session.TmuxUnknown {
		return failf(KindError, "%s: %s", s.Name, silence(f.tmuxErr)).hint("paw recover %s", s.Name)
	}
	if f.tmux != session.TmuxAlive {
		return failf(KindError, "%s: not running", s.Name).hint("paw recover %s", s.Name)
	}
	pane := ""
	if agentName != "" {
		a := f.agent(agentName)
		if a.pane == nil {
			return failf(KindError, "%s: has no pane", agentName).hint("paw recover %s", s.Name)
		}
		pane = a.pane.ID
	}
	err = p.tmuxFor(s).Attach(ctx, f.tmuxID, pane, os.Stdin, os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, tmux.ErrNotATerminal):
		return failf(KindError, "%s: cannot attach: %w", s.Name, ErrNotATerminal).hint("%s", strings.TrimSpace("paw attach "+s.Name+" "+agentName))
	case errors.Is(err, tmux.ErrNestedServer):
		return failf(KindError, "%s: runs on another tmux server than the one you are in", s.Name).hint("env -u TMUX paw attach %s", s.Name)
	}
	if p.serverLost(ctx, s, err) {
		return failf(KindError, "%s: its tmux server has died", s.Name).hint("paw recover %s", s.Name)
	}
	return tmuxError(err)
}

// serverLost reports whether an attached terminal ended with its server: tmux says that on the terminal alone.
func (p *Paw) serverLost(ctx context.Context, s *session.Session, err error) bool {
	var failed *tmux.Error
	if !errors.As(err, &failed) || failed.ExitCode != 1 || strings.TrimSpace(failed.Stderr) != "" {
		return false
	}
	f, err := p.observe(ctx, s)
	return err == nil && f.tmux != session.TmuxAlive
}
