package typing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/tmux"
)

// send types the prompt into the box that was seen last, calls last and presses Enter. The error is
// ErrNotTyped when nothing has reached the pane.
func (t *sender) send(ctx context.Context, last func() error) error {
	if t.channel != nil {
		return t.handOver(ctx, last)
	}
	if err := t.paste(ctx); err != nil {
		return err
	}
	t.App.Step("typed")
	if err := last(); err != nil {
		return t.removePrompt(context.WithoutCancel(ctx), err)
	}
	hid := t.program.Hides()
	if err := t.enter(ctx, "the prompt was typed, and not sent"); err != nil || !t.unknown() {
		return err
	}
	if read, hides := awaitRead(context.WithoutCancel(ctx), t.program, pastePatience); !read || hides && !hid {
		return t.unconfirmed("the prompt was typed, and nothing says that its program has read it") // who loads may drop what the terminal echoed
	}
	t.settled()
	return nil
}

// paste pastes the prompt and waits until it shows in the box.
func (t *sender) paste(ctx context.Context) error {
	unknown := ""
	if t.unknown() {
		err := t.refuseLongLine()
		if err != nil {
			return err
		}
		if unknown, err = t.written(ctx); err != nil {
			return fmt.Errorf("%w: %w", ErrNotTyped, err)
		}
	}
	t.before.begin(t.Agent)
	t.lastTyped() // read before the prompt takes its place
	t.leave()
	t.long = time.Duration(len(t.text)/bytesASecond) * time.Second
	wasEmpty := t.ready.Box && t.screen.Box == cli.BoxEmpty
	if err := t.pasteParts(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if t.unknown() {
		return t.awaitEcho(ctx, unknown)
	}
	filled := t.ready.Box && t.awaitFilled(ctx)
	t.filled, t.fresh = wasEmpty && filled, t.ready.Settle == 0
	poll.Sleep(ctx, t.ready.Settle)
	return nil
}

// awaitFilled reports whether an empty box gets text. A CLI that hangs has more time to read it. A
// screen without a box counts as filled only if it lasts: the CLI may be redrawing itself, with an
// empty box at the end.
func (t *sender) awaitFilled(ctx context.Context) bool {
	now := t.App.Now()
	end, last, boxed := now.Add(pastePatience+t.long), now.Add(readyPatience+t.long), now
	for wait := 20 * time.Millisecond; now.Before(end) || now.Before(last) && !t.program.HasRead(); wait = min(2*wait, 100*time.Millisecond) {
		poll.Sleep(ctx, wait)
		box, err := t.see(ctx)
		now = t.App.Now()
		switch {
		case err == nil && box.Box == cli.BoxEmpty:
			boxed = now
		case err == nil && box.Box == cli.BoxFilled, box.Dialog != "", now.Sub(boxed) > filledPatience:
			return true
		}
	}
	return false
}

// A terminal keeps what its program has not read yet, up to terminalSize bytes, and hands over the
// rest later: the mark of a paste may come in two pieces. A piece that is 50 ms late is text for claude.
const (
	terminalSize = 4095
	marksSize    = len("\x1b[200~\x1b[201~")
	readFor      = 50 * time.Millisecond // how long nothing may wait in the terminal: the kernel is late on a busy machine
)

// awaitRead waits until a program has read all that was typed, and reports whether it has, and whether its terminal
// hid then what is typed. A program that has ended has read it.
func awaitRead(ctx context.Context, p tmux.Program, patience time.Duration) (read, hides bool) {
	var since time.Time
	read = poll.Until(ctx, poll.Tick, patience, func() bool {
		switch {
		case !p.HasRead():
			since = time.Time{}
		case since.IsZero():
			since, hides = time.Now(), p.Hides()
		}
		return !since.IsZero() && time.Since(since) > readFor
	})
	return read, hides
}

// pasteParts pastes the prompt in the parts that the CLI takes, and no more at once than a terminal
// keeps. When ctx is cancelled between two parts, they are removed from the box; after the last part
// the prompt counts as sent.
func (t *sender) pasteParts(ctx context.Context) error {
	unread, reads := 0, true
	for i, part := range t.cli.Pastes(t.text, t.rows) {
		if unread += len(part) + marksSize; i > 0 && reads && unread > terminalSize {
			reads, _ = awaitRead(ctx, t.program, pastePatience+t.long)
			unread = len(part) + marksSize
		}
		switch {
		case i == 0:
			err := t.strike(ctx, part)
			if errors.Is(err, tmux.ErrTimeout) {
				return t.unconfirmed("tmux did not answer in time, and the prompt may have been typed")
			}
			if err != nil {
				return t.shut(err)
			}
		case ctx.Err() != nil:
			return t.removePrompt(context.WithoutCancel(ctx), errs.New(errs.Interrupted, "%s: the prompt was not sent", t.Record.Name))
		default:
			if err := t.awaitOpen(ctx, func() error { return t.strike(ctx, part) }); err != nil {
				return t.stuck(ctx, err, "a part of the prompt was typed, and not sent")
			}
		}
	}
	return nil
}

// removePrompt clears the typed part of a prompt from the box and returns why, extended by a note
// when the text stays.
func (t *sender) removePrompt(ctx context.Context, why error) error {
	if len(t.ready.Clear) > 0 {
		if box, err := t.clear(ctx); err == nil && box.Box == cli.BoxEmpty {
			return why
		}
	}
	e := errs.New(errs.Failed, "%w; what was typed of it stands in its input box", why).Hint("paw attach %s %s", t.Session.Name, t.Record.Name)
	if said, ok := errors.AsType[*errs.Error](why); ok {
		e.Kind = said.Kind
	}
	return e
}

// enter presses Enter, unless the CLI asks something by now or the box has other text. It waits for
// a pane that stopped taking keys after the prompt was typed. so says how far the prompt has come,
// for errors.
func (t *sender) enter(ctx context.Context, so string) error {
	ctx = context.WithoutCancel(ctx)
	return t.stuck(ctx, t.awaitOpen(ctx, func() error { return t.enterNow(ctx) }), so)
}

// enterNow tries once to press Enter.
func (t *sender) enterNow(ctx context.Context) error {
	state, err := t.recall(ctx)
	if err != nil {
		return err
	}
	if !t.fresh {
		if _, err = t.see(ctx); err != nil {
			return err
		}
	}
	t.fresh = false
	switch box := t.screen; {
	case state.State == session.StateWaitingInput || box.Dialog != "":
		return t.unconfirmed("asks you something since the prompt was typed, which was not sent")
	case box.Box == cli.BoxEmpty && t.ready.Box:
		return t.unconfirmed("the prompt was typed, and its input box stays empty")
	case t.notAlone(box.Draft) && !t.again && len(t.ready.Clear) > 0 && t.ownWords(box.Draft):
		return t.typeAgain(ctx)
	case t.notAlone(box.Draft):
		return t.unconfirmed("the prompt was typed, and not sent: there is other text in its input box%s", quoted(box.Draft))
	}
	return t.strike(ctx, "", "Enter")
}

// typeAgain clears all that paw has typed from the box, and types the prompt alone.
func (t *sender) typeAgain(ctx context.Context) error {
	t.again = true
	if box, err := t.clear(ctx); err == nil && box.Box == cli.BoxEmpty {
		t.leave()
		if err := t.pasteParts(ctx); err != nil {
			return err
		}
		t.filled = t.awaitFilled(ctx)
		poll.Sleep(ctx, t.ready.Settle)
	}
	return t.enterNow(ctx)
}

// taken reports whether the CLI has emptied its box, for a CLI that shows in no other way that it
// took a prompt.
func (t *sender) taken(ctx context.Context) bool {
	return t.handed || t.ready.Silent && t.filled && t.isEmpty(ctx)
}

// NewPaneWriter returns a PaneWriter for the real panes.
func NewPaneWriter(h *app.App) PaneWriter {
	return PaneWriter{Panes: observe.AskTmux(h), Give: give, Ready: func(ctx context.Context, s *session.Session, w *session.Agent) (tmux.Program, error) {
		return ready(ctx, h.Agent(s, w))
	}}
}

// ready returns the agent's program, and an error if it takes no prompt now.
func ready(ctx context.Context, a app.Agent) (tmux.Program, error) {
	t, err := senderTo(a)
	if err != nil {
		return tmux.Program{}, err
	}
	t.silent = true // the channel is opened only when there is a prompt to send
	box, err := t.look(ctx)
	switch {
	case err != nil:
		return t.program, err
	case box.Box == cli.BoxFilled:
		return t.program, t.refusal("there is other text in its input box")
	case box.Box != cli.BoxEmpty:
		return t.program, t.refusal("does not show its input box")
	}
	return t.program, nil
}

// give types a prompt at once or not at all. Where nothing says after a while that it has arrived, it presses Enter once more, unless
// no input box is on the screen: the first Enter may have been lost.
func give(ctx context.Context, a app.Agent, to tmux.Program, prompt, step string) (arrived bool, err error) {
	t, err := senderFor(a, prompt)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrNotTyped, err)
	}
	t.before = expect(ctx, t.Agent, t.cli, t.prompt)
	box, err := t.look(ctx)
	switch {
	case err != nil:
		return false, fmt.Errorf("%w: %w", ErrNotTyped, err)
	case box.Box != cli.BoxEmpty || t.program != to:
		return false, fmt.Errorf("%w: its input box is not empty any more", ErrNotTyped)
	}
	if err := t.send(ctx, func() error { return turns.BeginIfOwn(ctx, a, t.prompt) }); err != nil {
		return false, err
	}
	a.App.Step(step)
	for try := 0; ; try++ {
		arrived, _ := t.awaitArrival(ctx, &Sent{}, confirmPatience, nil) // also with a text of the user before it
		if again := try == 0 && ctx.Err() == nil; arrived || !again {
			return arrived, nil
		}
		if _, err := t.see(ctx); err != nil || t.handed || t.isGone() || len(t.newTurns()) > 0 {
			continue
		}
		if err := t.enter(ctx, unheard); err != nil {
			return false, nil //nolint:nilerr // the prompt was typed, and has not arrived
		}
	}
}

// PaneWriter types prompts into the panes of agents, at a time when paw decides to.
type PaneWriter struct {
	// Panes lists the panes of the session's server.
	Panes observe.AskPanes
	// Ready returns the program of an agent, and an error if it takes no typed input now.
	Ready func(ctx context.Context, s *session.Session, w *session.Agent) (tmux.Program, error)
	// Give types a prompt to that program, and reports whether it has arrived. step is the name of the App.Step that it calls once the
	// prompt is typed. The error is ErrNotTyped if nothing has reached the pane. The caller holds the agent's prompt lock.
	Give func(ctx context.Context, a app.Agent, to tmux.Program, prompt, step string) (arrived bool, err error)
}
