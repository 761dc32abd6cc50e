package typing

import (
	"fmt"

	"paw/config/display"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// refusal is an error of a sender that has typed nothing.
func (t *sender) refusal(format string, args ...any) *errs.Error {
	return errs.New(errs.Refused, "%s: %s", t.w.Name, fmt.Sprintf(format, args...)).Hint("paw attach %s %s", t.s.Name, t.w.Name)
}

// small reports whether the pane is too small for the input boxes of most CLIs.
func (t *sender) small() bool { return t.rows > 0 && (t.rows < smallRows || t.columns < smallColumns) }

// tooSmall is the error of a sender that sees no input box in a small pane.
func (t *sender) tooSmall() *errs.Error {
	e := t.refusal("its pane of %d by %d is too small for its input box", t.columns, t.rows)
	enlarge := fmt.Sprintf("tmux -S %s resize-window -x 120 -y 40 -t %s", errs.Quote(t.s.Tmux.Socket), errs.Quote(t.program.Pane))
	e.Hints = append([]string{enlarge}, e.Hints...)
	return e
}

// notRunning is the error of a sender that finds no CLI to type to.
func (t *sender) notRunning() *errs.Error {
	e := errs.New(errs.Failed, "%s: is stopped", t.w.Name).Hint("paw recover %s", t.s.Name)
	e.Err = errNotRunning
	return e
}

// starting is the error of a sender that is too early.
func (t *sender) starting() *errs.Error {
	e := t.refusal("its CLI is starting")
	e.Err = errStarting
	return e
}

// asks is the refusal of a prompt to an agent that waits for an answer.
func (t *sender) asks(state session.AgentStatus) *errs.Error {
	e := t.refusal("%s, a prompt would be taken for it", observe.WaitsFor(state))
	if state.Cause != session.CauseDialog {
		e.Hints = append([]string{fmt.Sprintf("paw answer %s/%s", t.s.Name, t.w.Name)}, e.Hints...)
	}
	return e
}

// asksWith says of a dialog that the screen alone has for whom it is: outside of a turn that is for its user, in one it may be a question
// that is about to be reported.
func asksWith(dialog string, last *turn.Record) session.AgentStatus {
	state := session.AgentStatus{Reason: dialog}
	if last == nil || last.State != turn.InProgress {
		state.Cause = session.CauseDialog
	}
	return state
}

// unconfirmed is an error of one who has typed, or who cannot say.
func (t *sender) unconfirmed(format string, args ...any) *errs.Error {
	return errs.New(errs.Unconfirmed, "%s: %s", t.w.Name, fmt.Sprintf(format, args...)).Hint("paw attach %s %s", t.s.Name, t.w.Name)
}

// quoted is a text for the end of a message, none for none.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(": %q", display.Graphemes.Cut(text, 200))
}
