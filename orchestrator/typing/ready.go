package typing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"paw/config/display"
	"paw/config/poll"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// await waits until the CLI takes a prompt. It refuses when the CLI would not take the text for a
// prompt.
func (t *sender) await(ctx context.Context) error {
	began := t.app.Now()
	deadline := began.Add(readyPatience)
	var empty, filled time.Time // since when the box has been empty, and since when filled
	for {
		box, err := t.look(ctx)
		if err != nil {
			return err
		}
		now := t.app.Now()
		if box.Box != cli.BoxEmpty {
			empty = time.Time{}
		} else if empty.IsZero() {
			empty = now
		}
		if !empty.IsZero() && (!t.young || now.Sub(empty) >= t.ready.Steady) {
			return nil
		}
		switch {
		case box.Box != cli.BoxFilled:
			filled = time.Time{}
		case filled.IsZero():
			filled = now
		case now.Sub(filled) > filledPatience && t.ofPaw(box.Draft):
			return t.refusal("its input box has the prompt that paw typed before, which was not sent%s", quoted(box.Draft))
		case now.Sub(filled) > filledPatience && box.Draft == "" && t.lastTyped().Prompt != "":
			return t.refusal("its input box has text, which may be the prompt that paw typed before")
		case now.Sub(filled) > filledPatience:
			return t.refusal("its input box has text that is not paw's%s", quoted(box.Draft))
		}
		if t.ready.Box && box.Box == cli.BoxUnseen && t.small() && now.Sub(began) > smallPatience {
			return t.tooSmall()
		}
		if now.After(deadline) || ctx.Err() != nil {
			if t.ready.Box {
				return t.refusal("does not show its input box")
			}
			return t.unconfirmed("did not get ready for input")
		}
		poll.Sleep(ctx, 50*time.Millisecond)
	}
}

// look returns an empty box when the CLI takes a prompt now, also for a CLI whose box paw cannot
// read. It clears text that the CLI itself has put back into the box.
func (t *sender) look(ctx context.Context) (cli.Screen, error) {
	a, state, err := t.find(ctx)
	switch {
	case errors.Is(err, errStarting):
		return cli.Screen{}, nil
	case err != nil:
		return cli.Screen{}, err
	case state.State == session.StateWaitingInput:
		return cli.Screen{}, t.asks(state)
	case a.Worktree.Gone:
		return cli.Screen{}, errs.New(errs.Refused, "%s: %s", t.w.Name, session.ReasonWorktreeGone).Hint("paw stop %s %s --only && paw recover %s", t.s.Name, t.w.Name, t.s.Name)
	}
	t.young = t.app.Now().Sub(a.Lock.Holder.At) < youngPatience
	box, err := t.see(ctx)
	drawn := !t.young || box.Box != cli.BoxUnseen || box.Dialog != ""
	if drawn && box.Dialog != loginDialog && t.reach(ctx) {
		t.young = false
		return cli.Screen{Box: cli.BoxEmpty}, nil // the screen does not matter: nothing is typed
	}
	switch {
	case err != nil:
		return box, t.shut(err)
	case box.Dialog != "":
		return box, t.asks(asksWith(box, a.Turns.Last))
	case t.ready.Event && a.Turns.HooksSeen.IsZero():
		return cli.Screen{}, nil // the box is drawn before the CLI takes input
	case !t.ready.Box: // nothing shows whether the CLI takes input
		return cli.Screen{Box: cli.BoxEmpty}, nil
	case box.Box == cli.BoxFilled && t.putBack(a, box.Draft):
		return t.clear(ctx)
	}
	return box, nil
}

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
