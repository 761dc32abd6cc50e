package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
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
		if errors.Is(f.TmuxErr, tmux.ErrNoServer) && app.AttachElsewhere(s) != "" {
			return observe.Unanswered(s, f.TmuxErr)
		}
		silent := errs.New(errs.Failed, "%s: %s", s.Name, observe.Silence(f.TmuxErr))
		if line := app.AttachOldServer(s); errors.Is(f.TmuxErr, tmux.ErrTooOldServer) && line != "" {
			return silent.Hint("%s", line)
		}
		if errors.Is(f.TmuxErr, tmux.ErrTimeout) {
			return silent.Hint("paw doctor")
		}
		return silent.Hint("paw recover %s", s.Name)
	}
	if f.Tmux != session.TmuxAlive {
		return errs.New(errs.Failed, "%s: not running", s.Name).Hint("paw recover %s", s.Name)
	}
	shown, pane := f.TmuxID, ""
	if agentName != "" {
		a := f.Agent(agentName)
		if a.Pane == nil {
			return errs.New(errs.Failed, "%s: has no pane", agentName).Hint("paw recover %s/%s", s.Name, agentName)
		}
		shown, pane = a.Pane.SessionID, a.Pane.ID
	}
	for _, a := range f.Agents {
		if shown == "" && a.Pane != nil {
			shown = a.Pane.SessionID // the user has moved all panes to other sessions
		}
	}
	err = h.TmuxFor(s).Attach(ctx, shown, pane, os.Stdin, os.Stdout, os.Stderr)
	if refused := notAttached(h, s, strings.TrimSpace("paw attach "+s.Name+" "+agentName), err); refused != nil {
		return refused
	}
	if serverLost(ctx, h, s, err) {
		return errs.New(errs.Failed, "%s: its tmux server has died", s.Name).Hint("paw recover %s", s.Name)
	}
	return app.TmuxError(err)
}

// notAttached returns the error for a terminal on which a session is not shown as it is; line shows
// it on a usual one. It is nil for other errors.
func notAttached(h *app.App, s *session.Session, line string, err error) error {
	var why string
	hints := []string{"env -u TMUX " + line}
	var failed *tmux.AttachError
	switch {
	case errors.Is(err, tmux.ErrNotATerminal):
		return errs.New(errs.Failed, "%s: cannot attach: %w", s.Name, ErrNotATerminal).Hint("paw status %s", s.Name)
	case errors.Is(err, tmux.ErrNestedServer):
		why = "runs on another tmux server than the one you are in"
	case errors.Is(err, tmux.ErrOtherTerminal) && errors.As(err, &failed):
		why = "this terminal is not the tmux pane that it was started from: show it here, or there?"
		hints = append(hints, tmux.ClientVariable+"="+failed.Client+" "+line)
	case errors.Is(err, tmux.ErrUnseen):
		why = "no terminal shows the tmux pane that this one is"
	case unusable(err):
		why, hints[0] = "tmux knows too little of this terminal (TERM="+h.Getenv("TERM")+")", "TERM=xterm-256color "+line
	default:
		return nil
	}
	return errs.WithHints(errs.New(errs.Failed, "%s: %s", s.Name, why), hints...)
}

// unusable reports whether tmux refused a terminal whose TERM it does not know, or cannot use.
func unusable(err error) bool {
	var failed *tmux.Error
	if !errors.As(err, &failed) {
		return false
	}
	said := strings.Join(strings.Fields(failed.Stderr), " ")
	return strings.Contains(said, "missing or unsuitable terminal") || strings.Contains(said, "terminal does not support")
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

// borderPatience bounds how long a hook waits for tmux to change a border, and how long a job of
// tmux takes.
const borderPatience = time.Second

// showOnBorder returns a function that writes the agent's present state on the border of its pane.
// A hook runs in that pane, so that tmux's variables name it. Failures are ignored: a border is
// only a hint.
func showOnBorder(ctx context.Context, a app.Agent) (write func()) {
	socket, _, inside := strings.Cut(a.App.Getenv("TMUX"), ",")
	pane := a.App.Getenv("TMUX_PANE")
	last, err := a.TurnDir().Last()
	if !inside || pane == "" || err != nil {
		return func() {}
	}
	label := labelOf(a.Record.Name, live.State(live.SeenByHook(a.Record, last, a.App.Getenv("PAW_LAUNCH"), a.App.Now())))
	return func() {
		ctx, cancel := context.WithTimeout(ctx, borderPatience)
		defer cancel()
		_ = tmux.New(socket).SetLabels(ctx, map[string]tmux.Label{pane: label})
	}
}

// labelOf returns the text on the border of an agent's pane.
func labelOf(agentName string, st session.AgentStatus) tmux.Label {
	return tmux.Label{Text: agentName + ": " + st.InWords(), State: string(st.State)}
}

// showStates is ShowStates for a loaded session. Failures are ignored: a border is only a hint.
func showStates(ctx context.Context, h *app.App, s *session.Session) {
	ctx, cancel := context.WithTimeout(ctx, borderPatience)
	defer cancel()
	f, err := observe.With(ctx, h, s, askWithLabels(h), observe.WhereUnknown)
	if err != nil {
		return
	}
	labels := map[string]tmux.Label{}
	for i, st := range observe.States(h, f) {
		a := f.Agents[i]
		if a.Pane == nil {
			continue
		}
		label := labelOf(a.Record.Name, st)
		if label != a.Pane.Label {
			labels[a.Pane.ID] = label
		}
	}
	if len(labels) > 0 {
		_ = h.TmuxFor(s).SetLabels(ctx, labels)
	}
}

// askWithLabels is like observe.AskTmux, but also reads the labels on the borders.
func askWithLabels(h *app.App) observe.AskPanes {
	return func(ctx context.Context, s *session.Session) observe.Panes {
		client := h.TmuxFor(s)
		client.WithLabels = true
		server, panes, err := client.Panes(ctx)
		return observe.Panes{Server: server, Panes: panes, Err: err}
	}
}

// TmuxBindings returns lines for a tmux.conf that call paw, by the name it was called by if that is
// on PATH, else by its path.
func TmuxBindings(h *app.App, called string) string {
	program := filepath.Base(called)
	if found, err := cli.LookPath(program, h.Env); err != nil || !sameFile(found, h.Executable) {
		program = h.Executable
	}
	quoted := strings.ReplaceAll(errs.Quote(program), "'", `'\''`) // quoted for tmux, within single quotes
	expanded := strings.ReplaceAll(quoted, "#", "##")              // escaped for tmux, where it expands formats
	return fmt.Sprintf(`# P: who needs you, in a popup that goes away when you leave it
bind-key P display-popup -E -w 90%% -h 85%% -d '#{pane_current_path}' '%[1]s ui'
# N: to the agent that needs you most; again: to the next one
bind-key N run-shell 'PAW_CLIENT=#{client_name} TMUX_PANE=#{pane_id} %[2]s next'
# W: all panes of agents that wait for you, to choose from
bind-key W choose-tree -Zf '#{==:#{@paw_state},waiting_input}'
`, quoted, expanded)
}

// TellInTmux shows a line in the user's tmux client for a moment, and reports whether there is one.
func TellInTmux(ctx context.Context, h *app.App, text string) bool {
	socket, _, inside := strings.Cut(h.Getenv("TMUX"), ",")
	return inside && tmux.New(socket).Tell(ctx, text) == nil
}

// Screen returns the present content of a pane, with colours as escape sequences.
func Screen(ctx context.Context, h *app.App, s *session.Session, pane string) (string, error) {
	shot, err := h.TmuxFor(s).Screenshot(ctx, pane)
	return shot.Text, app.TmuxError(err)
}
