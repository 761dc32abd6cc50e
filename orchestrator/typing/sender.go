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

// How long a sender waits: for a CLI that starts or is busy to show its input box, for text that stands in it to turn
// out to be the CLI's own, for a paste to be shown, and how many bytes of one a CLI takes in a second at least.
const (
	readyPatience  = 60 * time.Second
	youngPatience  = 30 * time.Second // after its launch a CLI's box may go away again
	filledPatience = 3 * time.Second
	pastePatience  = 10 * time.Second
	clearPatience  = 5 * time.Second
	bytesASecond   = 10_000

	// In a pane smaller than this a CLI may not draw its input box at all, however long one waits.
	smallPatience           = 5 * time.Second
	smallColumns, smallRows = 20, 5
)

// sender gives one prompt to an agent; nothing else does. Where the CLI answers on its channel, the prompt takes the channel.
// Elsewhere the sender looks that the CLI shows its input box and that this is empty, pastes, looks that nothing else stands
// there and presses Enter. Either way it sees that the prompt arrives as it was sent. Whoever has one holds the agent's
// prompt lock.
type sender struct {
	app    *app.App
	s      *session.Session
	w      *session.Agent
	cli    cli.CLI
	ready  cli.Ready
	client *tmux.Client

	prompt  string // that is to arrive
	text    string // that is typed, so that the CLI takes it for a prompt
	dropped int    // how many characters the prompt had that no terminal takes

	program  tmux.Program  // that is typed to
	found    observe.Facts // what was found when it was looked for
	screen   cli.Screen    // that was seen last
	rows     int           // of its pane
	columns  int
	fresh    bool // nothing was waited for since then
	young    bool // the CLI was launched just now
	expected expectation
	before   Arrival
	heard    bool          // the CLI's own record has the prompt, and no turn began with it yet
	filled   bool          // the box was seen empty before the paste, and filled after it
	again    bool          // the prompt was typed a second time, after the box had been cleared
	channel  cli.Channel   // that the CLI answers on, nil where the prompt is typed
	last     *earlier      // what was typed before this, and may still arrive; nil before it was looked for
	silent   bool          // nothing has come back on its channel
	handed   bool          // the CLI has the prompt, by its channel
	long     time.Duration // what the CLI may need more than usual, for a long text
}

// senderFor says, before anything else is looked at, whether a prompt can be typed: the error is a cli.PromptError.
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

// expect asks the CLI where the prompt will arrive.
func (t *sender) expect(ctx context.Context) {
	t.expected = expect(ctx, t.app, t.s, t.w, t.cli, t.prompt)
}

// await waits until the CLI takes a prompt. It refuses what would not be taken for one.
func (t *sender) await(ctx context.Context) error {
	began := t.app.Now()
	deadline := began.Add(readyPatience)
	var empty, filled time.Time // since when
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

// look says whether the CLI takes a prompt now: then the box is empty, also that of a CLI whose box nobody knows. It takes
// out of the box what the CLI put back there itself.
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
		return cli.Screen{Box: cli.BoxEmpty}, nil // whatever the screen shows: nothing is typed
	}
	switch {
	case err != nil:
		return box, t.shut(err)
	case box.Dialog != "":
		return box, t.asks(asksWith(box.Dialog, a.Turns.Last))
	case t.ready.Event && a.Turns.HooksSeen.IsZero():
		return cli.Screen{}, nil // the box is drawn before it takes anything
	case !t.ready.Box: // nothing tells
		return cli.Screen{Box: cli.BoxEmpty}, nil
	case box.Box == cli.BoxFilled && t.putBack(a, box.Draft):
		return t.clear(ctx)
	}
	return box, nil
}

// send types the prompt into the box that was seen last, calls last and presses Enter. The error is ErrNotTyped when nothing
// has reached the pane.
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

// paste puts the prompt into the box and waits until it is shown there. A CLI that draws its box before it reads, as
// gemini does when it takes up a conversation, loses what comes too early: where the box stays empty the prompt is typed
// once more, and enter sees it if both come in the end.
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

// awaitFilled reports whether an empty box comes to show text. A screen without a box counts only when it stays: a CLI may
// be drawing itself anew, with an empty box in the end.
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

// pasteParts pastes the prompt in the parts that the CLI takes. When ctx ends between two parts, the pasted ones are removed from the
// box; after the last part the prompt counts as sent.
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

// removePrompt clears what was typed of a prompt from the input box, and returns why. Where the text stays the error says so.
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

// enter presses Enter, unless the CLI has begun to ask something, or something else than the prompt stands in its box. A
// pane that takes no keys since the prompt was typed is waited for.
func (t *sender) enter(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	return t.stuck(t.awaitOpen(ctx, func() error { return t.enterNow(ctx) }), "the prompt was typed, and not sent")
}

// enterNow is one try to press Enter.
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

// typeAgain takes all that paw has typed out of the box, and types the prompt alone.
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

// taken reports whether a CLI that tells it in no other way took what was in the box.
func (t *sender) taken(ctx context.Context) bool {
	return t.handed || t.ready.Silent && t.filled && t.isEmpty(ctx)
}

// onScreen is what the pane shows, "" where it cannot be seen.
func (t *sender) onScreen(ctx context.Context) string {
	shot, err := t.client.Look(ctx, t.program)
	if err != nil {
		return ""
	}
	return shot.Text
}
