package orchestrator

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/tmux"
	"paw/worktree"
)

// ErrNotATerminal is the cause when Attach is called without a terminal.
var ErrNotATerminal = tmux.ErrNotATerminal

// Attach shows a session in the user's terminal, and selects the pane of agentName, if that is not
// empty.
func Attach(ctx context.Context, h *app.App, s *session.Session, agentName string) error {
	if agentName != "" {
		if _, err := app.AgentNamed(s, agentName); err != nil {
			return err
		}
	}
	f, err := observe.Observe(ctx, h, s)
	if err != nil {
		return err
	}
	if f.Tmux == session.TmuxUnknown {
		if none := app.NoTmux(s.Name, f.TmuxErr); none != nil {
			return none
		}
		return errs.New(errs.Failed, "%s: %s", s.Name, observe.Silence(f.TmuxErr)).Hint("paw recover %s", s.Name)
	}
	if f.Tmux != session.TmuxAlive {
		return errs.New(errs.Failed, "%s: not running", s.Name).Hint("paw recover %s", s.Name)
	}
	shown, pane := f.TmuxID, ""
	if agentName != "" {
		a := f.Agent(agentName)
		if a.Pane == nil {
			return errs.New(errs.Failed, "%s: has no pane", agentName).Hint("paw recover %s", s.Name)
		}
		shown, pane = a.Pane.SessionID, a.Pane.ID
	}
	for _, a := range f.Agents {
		if shown == "" && a.Pane != nil {
			shown = a.Pane.SessionID // the user has moved all panes to other sessions
		}
	}
	err = h.TmuxFor(s).Attach(ctx, shown, pane, os.Stdin, os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, tmux.ErrNotATerminal):
		return errs.New(errs.Failed, "%s: cannot attach: %w", s.Name, ErrNotATerminal).Hint("paw status %s", s.Name)
	case errors.Is(err, tmux.ErrNestedServer):
		return errs.New(errs.Failed, "%s: runs on another tmux server than the one you are in", s.Name).
			Hint("%s", strings.TrimSpace("env -u TMUX paw attach "+s.Name+" "+agentName))
	}
	if serverLost(ctx, h, s, err) {
		return errs.New(errs.Failed, "%s: its tmux server has died", s.Name).Hint("paw recover %s", s.Name)
	}
	return app.TmuxError(err)
}

// serverLost reports whether an attached terminal ended because its server died, which tmux reports
// only on the terminal.
func serverLost(ctx context.Context, h *app.App, s *session.Session, err error) bool {
	var failed *tmux.Error
	if !errors.As(err, &failed) || failed.ExitCode != 1 || strings.TrimSpace(failed.Stderr) != "" {
		return false
	}
	f, err := observe.Observe(ctx, h, s)
	return err == nil && f.Tmux != session.TmuxAlive
}

// MessageEditor returns a function that lets the user edit a message in git's editor, on these
// streams.
func MessageEditor(h *app.App, stdin io.Reader, stdout, stderr io.Writer) func(context.Context, string) (string, error) {
	return func(ctx context.Context, draft string) (string, error) {
		text, err := worktree.Edit(ctx, h.Dir, worktree.MessageFile, draft, h.Env, stdin, stdout, stderr)
		if err != nil {
			return "", errs.New(errs.Failed, "the editor: %w", err)
		}
		return text, nil
	}
}

// EditPrompt lets the user edit a prompt in git's editor, on these streams.
func EditPrompt(ctx context.Context, h *app.App, draft string, stdin io.Reader, stdout, stderr io.Writer) (string, error) {
	text, err := MessageEditor(h, stdin, stdout, stderr)(ctx, draft)
	if err != nil {
		return "", errs.New(errs.Failed, "%w; the prompt is as it was", err)
	}
	return text, nil
}

// Terminal returns the streams on which git may ask the user something when it pushes. With quietly
// there are none, and git's output is kept for its error.
func Terminal(h *app.App, stdin io.Reader, stderr io.Writer, quietly bool) worktree.Terminal {
	t := worktree.Terminal{In: stdin, Err: stderr, Env: h.Env}
	if quietly {
		t.In, t.Err = nil, nil
	}
	return t
}
