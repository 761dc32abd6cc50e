package typing

import (
	"context"
	"errors"
	"strings"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/tmux"
)

// How long a sender waits: for the input box of a CLI that starts or is busy, for text in the box
// to go away, for a paste to appear, for the box to be cleared; and how many bytes of a paste a CLI
// reads per second at least.
const (
	readyPatience  = 60 * time.Second
	youngPatience  = 30 * time.Second // the box may disappear again after a launch
	filledPatience = 3 * time.Second
	pastePatience  = 10 * time.Second
	clearPatience  = 20 * time.Second // qwen needs more than 5 s at a load of 50
	bytesASecond   = 10_000

	// In a smaller pane a CLI may never draw its input box.
	smallPatience           = 5 * time.Second
	smallColumns, smallRows = 20, 5
)

// sender gives one prompt to an agent, by the CLI's channel if the CLI answers there. Else it
// checks that the screen shows an empty input box, pastes, checks that nothing but the prompt is in
// the box and presses Enter. Either way it waits until the prompt has arrived as it was sent. It is
// used while the agent's prompt lock is held.
type sender struct {
	app    *app.App
	s      *session.Session
	w      *session.Agent
	cli    cli.CLI
	ready  cli.Ready
	client *tmux.Client

	prompt  string // prompt that is to arrive
	text    string // text to type so that the CLI takes it for a prompt
	dropped int    // number of control characters removed from the prompt

	program  tmux.Program  // process to type to
	found    observe.Facts // last observation of the agent
	screen   cli.Screen    // last seen screen
	rows     int           // size of the pane
	columns  int
	fresh    bool // screen is up to date: the sender has not waited since
	young    bool // the CLI was launched just now
	expected expectation
	before   Arrival
	heard    bool          // the CLI's own record has the prompt, but no turn began with it yet
	filled   bool          // the box was empty before the paste and filled after it
	again    bool          // the prompt was typed a second time, after the box was cleared
	channel  cli.Channel   // channel on which the CLI answers, nil where the prompt is typed
	last     *earlier      // prompt typed before, which may still arrive; nil before lastTyped was called
	silent   bool          // the CLI does not answer on its channel
	handed   bool          // the CLI got the prompt by its channel
	long     time.Duration // additional time that the CLI may need for a long text
}

// senderFor returns a sender, or a *cli.PromptError for a prompt that cannot be typed. It looks at
// nothing else.
func senderFor(h *app.App, s *session.Session, w *session.Agent, c cli.CLI, prompt string) (*sender, error) {
	t := &sender{app: h, s: s, w: w, cli: c, ready: c.Ready(), client: h.TmuxFor(s)}
	t.prompt, t.dropped = cli.Typable(prompt)
	if strings.TrimSpace(t.prompt) == "" {
		return nil, &cli.PromptError{CLI: w.Name, Reason: "the prompt is empty"}
	}
	var err error
	t.text, err = c.Literal(t.prompt)
	return t, err
}

// expect finds out where the prompt will show up.
func (t *sender) expect(ctx context.Context) {
	t.expected = expect(ctx, t.app, t.s, t.w, t.cli, t.prompt)
}

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

// send types the prompt into the box that was seen last, calls last and presses Enter. The error is
// ErrNotTyped when nothing has reached the pane.
func (t *sender) send(ctx context.Context, last func() error) error {
	if t.channel != nil {
		return t.handOver(ctx, last)
	}
	if err := t.paste(ctx); err != nil {
		return err
	}
	t.app.Step("typed")
	if err := last(); err != nil {
		return t.removePrompt(context.WithoutCancel(ctx), err)
	}
	return t.enter(ctx)
}

// paste pastes the prompt and waits until it shows in the box. A CLI that draws its box before it
// reads, such as gemini when it resumes, loses early text: if the box stays empty the prompt is
// pasted once more, and enter notices if both arrive.
func (t *sender) paste(ctx context.Context) error {
	t.before = t.expected.now(t.app, t.s, t.w)
	t.lastTyped()
	t.leave()
	t.long = time.Duration(len(t.text)/bytesASecond) * time.Second
	wasEmpty := t.ready.Box && t.screen.Box == cli.BoxEmpty
	if err := t.pasteParts(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	filled := t.ready.Box && t.awaitFilled(ctx)
	if t.ready.Box && wasEmpty && !filled {
		if err := t.pasteParts(ctx); err != nil {
			return err
		}
		filled = t.awaitFilled(ctx)
	}
	t.filled, t.fresh = wasEmpty && filled, t.ready.Settle == 0
	poll.Sleep(ctx, t.ready.Settle)
	return nil
}

// awaitFilled reports whether an empty box gets text. A screen without a box counts as filled only
// if it lasts: the CLI may be redrawing itself, with an empty box at the end.
func (t *sender) awaitFilled(ctx context.Context) bool {
	now := t.app.Now()
	end, boxed := now.Add(pastePatience+t.long), now
	for wait := 20 * time.Millisecond; now.Before(end); wait = min(2*wait, 100*time.Millisecond) {
		poll.Sleep(ctx, wait)
		box, err := t.see(ctx)
		now = t.app.Now()
		switch {
		case err == nil && box.Box == cli.BoxEmpty:
			boxed = now
		case err == nil && box.Box == cli.BoxFilled, box.Dialog != "", now.Sub(boxed) > filledPatience:
			return true
		}
	}
	return false
}

// pasteParts pastes the prompt in the parts that the CLI takes. When ctx is cancelled between two
// parts, they are removed from the box; after the last part the prompt counts as sent.
func (t *sender) pasteParts(ctx context.Context) error {
	for i, part := range t.cli.Pastes(t.text, t.rows) {
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
			return t.removePrompt(context.WithoutCancel(ctx), errs.New(errs.Interrupted, "%s: the prompt was not sent", t.w.Name))
		default:
			if err := t.awaitOpen(ctx, func() error { return t.strike(ctx, part) }); err != nil {
				return t.stuck(err, "a part of the prompt stands in its input box")
			}
		}
	}
	return nil
}

// removePrompt clears the typed part of a prompt from the box and returns why, extended by a note
// when the text stays.
func (t *sender) removePrompt(ctx context.Context, why error) error {
	if t.ready.Clear != "" {
		if box, err := t.clear(ctx); err == nil && box.Box == cli.BoxEmpty {
			return why
		}
	}
	e := errs.New(errs.Failed, "%w; what was typed of it stands in its input box", why).Hint("paw attach %s %s", t.s.Name, t.w.Name)
	var said *errs.Error
	if errors.As(why, &said) {
		e.Kind = said.Kind
	}
	return e
}

// enter presses Enter, unless the CLI asks something by now or the box has other text. It waits for
// a pane that stopped taking keys after the prompt was typed.
func (t *sender) enter(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	return t.stuck(t.awaitOpen(ctx, func() error { return t.enterNow(ctx) }), "the prompt was typed, and not sent")
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
	case t.notAlone(box.Draft) && !t.again && t.ready.Clear != "" && t.ownWords(box.Draft):
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

// onScreen returns the text of the pane, "" where it cannot be read.
func (t *sender) onScreen(ctx context.Context) string {
	shot, err := t.client.Look(ctx, t.program)
	if err != nil {
		return ""
	}
	return shot.Text
}
