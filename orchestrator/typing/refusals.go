package typing

import (
	"errors"
	"fmt"

	"paw/config/display"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// Why there is no process to type to: the launcher has not become the CLI yet, or nothing runs.
var (
	errStarting   = errors.New("starting")
	errNotRunning = errors.New("not running")
)

// refusal returns the error of a sender that has typed nothing.
func (t *sender) refusal(format string, args ...any) *errs.Error {
	return errs.New(errs.Refused, "%s: %s", t.w.Name, fmt.Sprintf(format, args...)).Hint("paw attach %s %s", t.s.Name, t.w.Name)
}

// small reports whether the pane is too small for the input boxes of most CLIs.
func (t *sender) small() bool { return t.rows > 0 && (t.rows < smallRows || t.columns < smallColumns) }

// tooSmall returns the refusal for a small pane without an input box.
func (t *sender) tooSmall() *errs.Error {
	e := t.refusal("its pane of %d by %d is too small for its input box", t.columns, t.rows)
	enlarge := fmt.Sprintf("tmux -S %s resize-window -x 120 -y 40 -t %s", errs.Quote(t.s.Tmux.Socket), errs.Quote(t.program.Pane))
	e.Hints = append([]string{enlarge}, e.Hints...)
	return e
}

// notRunning returns the error for an agent without a running CLI.
func (t *sender) notRunning() *errs.Error {
	e := errs.New(errs.Failed, "%s: is stopped", t.w.Name).Hint("paw recover %s", t.s.Name)
	e.Err = errNotRunning
	return e
}

// starting returns the refusal for an agent whose CLI is starting.
func (t *sender) starting() *errs.Error {
	e := t.refusal("its CLI is starting")
	e.Err = errStarting
	return e
}

// asks returns the refusal of a prompt to an agent that waits for an answer.
func (t *sender) asks(state session.AgentStatus) *errs.Error {
	e := t.refusal("%s, a prompt would be taken for it", observe.WaitsFor(state))
	if state.Cause != session.CauseDialog {
		e.Hints = append([]string{fmt.Sprintf("paw answer %s/%s", t.s.Name, t.w.Name)}, e.Hints...)
	}
	return e
}

// asksWith returns the state of an agent whose screen shows a dialog: outside of a turn only one
// with a list that paw knows can be answered by paw; in a turn it may be a question that hooks are
// about to report.
func asksWith(seen cli.Screen, last *turn.Record) session.AgentStatus {
	state := session.AgentStatus{Reason: seen.Dialog}
	if !seen.Listed && (last == nil || last.State != turn.InProgress) {
		state.Cause = session.CauseDialog
	}
	return state
}

// unconfirmed returns the error of a sender that has typed something, or cannot say whether it has.
func (t *sender) unconfirmed(format string, args ...any) *errs.Error {
	return errs.New(errs.Unconfirmed, "%s: %s", t.w.Name, fmt.Sprintf(format, args...)).Hint("paw attach %s %s", t.s.Name, t.w.Name)
}

// quoted appends a text to a message, if there is one.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(": %q", display.Graphemes.Cut(text, 200))
}
