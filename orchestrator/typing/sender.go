// Package typing is the only package that types into the panes of agents. A sender checks that the
// CLI takes a prompt, pastes the prompt, presses Enter and waits until the prompt has arrived as it
// was sent.
//
// It may import orchestrator/app, live, observe and turns. Begin with Send, then sender.go, paste.go,
// pane.go for text in the input box, and arrival.go.
package typing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"paw/config/display"
	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
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
	app.Agent
	cli    cli.CLI
	ready  cli.Ready
	client *tmux.Client

	answers  bool // a question of a headless turn can be answered, too
	headless bool // it is one

	prompt  string // prompt that is to arrive
	text    string // text to type so that the CLI takes it for a prompt
	dropped int    // number of control characters removed from the prompt

	program tmux.Program  // process to type to
	found   observe.Facts // last observation of the agent
	screen  cli.Screen    // last seen screen
	rows    int           // size of the pane
	columns int
	fresh   bool // screen is up to date: the sender has not waited since
	young   bool // the CLI was launched just now
	before  Arrival
	heard   bool          // the CLI's own record has the prompt, but no turn began with it yet
	filled  bool          // the box was empty before the paste and filled after it
	again   bool          // the prompt was typed a second time, after the box was cleared
	channel cli.Channel   // channel on which the CLI answers, nil where the prompt is typed
	last    *earlier      // prompt typed before, which may still arrive; nil before lastTyped was called
	silent  bool          // the CLI does not answer on its channel
	handed  bool          // the CLI got the prompt by its channel
	long    time.Duration // additional time that the CLI may need for a long text
}

// earlier is the prompt that paw typed last, if nothing has reported its arrival.
type earlier struct {
	Prompt string    `json:"prompt"` // prompt in the CLI's canonical form, "" for none
	Turn   int       `json:"turn"`   // last turn before the prompt was typed
	At     time.Time `json:"at"`
	Unread bool      `json:"unread,omitempty"` // the terminal may hold it until its program reads a line, and show it only then
}

// begun reports whether the prompt began one of the turns.
func (e earlier) begun(turns []turn.Record, canonical func(string) string) bool {
	return e.Prompt != "" && slices.ContainsFunc(turns, func(one turn.Record) bool { return canonical(string(one.Prompt)) == e.Prompt })
}

// configured returns an agent as its project configures it.
func configured(h *app.App, s *session.Session, agentName string) (app.Agent, error) {
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return app.Agent{}, err
	}
	if h, err = h.ConfiguredFor(s); err != nil {
		return app.Agent{}, err
	}
	return h.Agent(s, w), nil
}

// senderTo returns a sender without a prompt.
func senderTo(a app.Agent) (*sender, error) {
	c, err := a.App.CLIOf(a.Record)
	if err != nil {
		return nil, err
	}
	return &sender{Agent: a, cli: c, ready: c.Facts().Ready, client: a.App.TmuxFor(a.Session)}, nil
}

// senderFor returns a sender, or the error of a prompt that cannot be typed. It looks at nothing
// else.
func senderFor(a app.Agent, prompt string) (*sender, error) {
	t, err := senderTo(a)
	if err != nil {
		return nil, err
	}
	if t.prompt, t.dropped = cli.Typable(prompt); strings.TrimSpace(t.prompt) == "" {
		err = &cli.PromptError{CLI: a.Record.Name, Reason: "the prompt is empty"}
	} else {
		t.text, err = t.cli.Literal(t.prompt)
	}
	if refused, ok := errors.AsType[*cli.PromptError](err); ok {
		refused.CLI = a.Record.Name
	}
	if err != nil {
		return nil, errs.New(errs.Usage, "%w", err)
	}
	return t, nil
}

// onScreen returns the text of the pane, "" where it cannot be read.
func (t *sender) onScreen(ctx context.Context) string {
	shot, err := t.client.Look(ctx, t.program)
	if err != nil {
		return ""
	}
	return shot.Text
}

// reports reports whether hooks have reported in this launch: they will report a prompt that the
// CLI took.
func (t *sender) reports() bool { return !t.found.Agent(t.Record.Name).Turns.HooksSeen.IsZero() }

// handedPatience is how long a CLI may take to begin a prompt that it got by its channel or took
// out of its box.
const handedPatience = 30 * time.Second

// pagePatience is how long a CLI may show nothing between two pages: opencode needed over 30 s at a
// load of 25.
const pagePatience = 2 * time.Minute

// loginDialog is the dialog of a CLI that cannot answer any prompt yet.
const loginDialog = "asks you to log in"

// reach opens the channel of the CLI, and reports whether the CLI answers on it. A silent channel
// is not tried again. The channel leads to the last prompted conversation: where the user has begun
// another one, the prompt must be typed.
func (t *sender) reach(ctx context.Context) bool {
	if t.channel != nil {
		return true
	}
	if t.silent || t.screen.Fresh || t.ready.Event && !t.reports() {
		return false
	}
	channel := t.cli.Channel(t.App.Specs().Read(t.Session, t.Record, ""))
	if t.silent = !channel.Open(ctx); !t.silent {
		t.channel = channel
	}
	return !t.silent
}

// handOver calls last and gives the prompt to the CLI by its channel.
func (t *sender) handOver(ctx context.Context, last func() error) error {
	t.before.begin(t.Agent)
	t.lastTyped()
	if err := last(); err != nil {
		return err
	}
	t.leave()
	t.App.Step("typed")
	err := t.channel.Submit(context.WithoutCancel(ctx), t.text, t.screen)
	switch {
	case errors.Is(err, cli.ErrNotHandedOver):
		t.settled()
		e := t.refusal("did not take the prompt by its channel: %v", err)
		e.Err = fmt.Errorf("%w: %w", ErrNotTyped, err)
		return e
	case err != nil:
		return t.unconfirmed("the prompt was handed over, and %v", err)
	}
	t.handed = true
	return nil
}

// await waits until the CLI takes a prompt. It refuses when the CLI would not take the text for a
// prompt.
func (t *sender) await(ctx context.Context) error {
	began := t.App.Now()
	deadline := began.Add(readyPatience)
	var filled time.Time // since when the box has been filled
	for {
		box, err := t.look(ctx)
		if err != nil {
			return err
		}
		now := t.App.Now()
		if box.Box == cli.BoxEmpty {
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
		small := t.rows > 0 && (t.rows < smallRows || t.columns < smallColumns)
		if t.ready.Box && box.Box == cli.BoxUnseen && small && now.Sub(began) > smallPatience {
			return t.tooSmall()
		}
		if now.After(deadline) || ctx.Err() != nil {
			if t.ready.Box {
				return t.refusal("does not show its input box")
			}
			return t.unconfirmed("did not get ready for input")
		}
		poll.Sleep(ctx, 5*poll.Tick)
	}
}

// refuse returns the error for a CLI that has to be started again before it gets a prompt.
func (t *sender) refuse(why string) error {
	return errs.New(errs.Refused, "%s: %s", t.Record.Name, why).Hint("paw stop %s %s --only && paw recover %s", t.Session.Name, t.Record.Name, t.Session.Name)
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
	case a.Turns.Elsewhere != "":
		return cli.Screen{}, t.elsewhere(ctx, a.Turns.Elsewhere)
	case a.Worktree.Gone:
		return cli.Screen{}, t.refuse(session.ReasonWorktreeGone)
	case a.HookLost != "":
		return cli.Screen{}, t.refuse(a.HookLost)
	case app.Gone(t.Session):
		return cli.Screen{}, errs.New(errs.Refused, "%s: its repository is not there any more, so no turn is recorded", t.Record.Name).Hint("paw status %s", t.Session.Name)
	}
	t.young = t.App.Now().Sub(a.Lock.Holder.At) < youngPatience
	box, err := t.see(ctx)
	if box.Stopped && err == nil {
		return t.goOn()
	}
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
	case t.ready.Event && a.Turns.HooksSeen.IsZero() && t.young:
		return cli.Screen{}, nil // the box is drawn before the CLI takes input; later its hooks do not work, and the box tells
	case t.unknown(): // nothing shows whether the CLI takes input
		return t.lookAtUnknown(ctx)
	case box.Box == cli.BoxFilled && t.putBack(a, box.Draft):
		return t.clear(ctx)
	}
	return box, nil
}

// Why there is no process to type to: the launcher sets the worktree up or has not become the CLI yet, or nothing runs.
var (
	errSettingUp  = errors.New("being set up")
	errStarting   = errors.New("starting")
	errNotRunning = errors.New("not running")
)

// refusal returns the error of a sender that has typed nothing.
func (t *sender) refusal(format string, args ...any) *errs.Error {
	return errs.New(errs.Refused, "%s: %s", t.Record.Name, fmt.Sprintf(format, args...)).Hint("paw attach %s %s", t.Session.Name, t.Record.Name)
}

// elsewhere returns the refusal for a CLI whose work would be in no turn.
func (t *sender) elsewhere(ctx context.Context, folder string) error {
	refused := errs.New(errs.Refused, "%s: "+session.ReasonElsewhere, t.Record.Name, folder)
	refused.Hints = turns.OutsideLines(ctx, t.Agent)
	return refused
}

// tooSmall returns the refusal for a small pane without an input box.
func (t *sender) tooSmall() *errs.Error {
	e := t.refusal("its pane of %d by %d is too small for its input box", t.columns, t.rows)
	enlarge := fmt.Sprintf("tmux -S %s resize-window -x 120 -y 40 -t %s", errs.Quote(t.Session.Tmux.Socket), errs.Quote(t.program.Pane))
	e.Hints = append([]string{enlarge}, e.Hints...)
	return e
}

// notRunning returns the error for an agent without a running CLI.
func (t *sender) notRunning() *errs.Error {
	e := errs.New(errs.Failed, "%s: is stopped", t.Record.Name).Hint("paw recover %s/%s", t.Session.Name, t.Record.Name)
	if failed := t.Record.SetUpFailed; failed != "" && t.Record.Phase == session.PhaseLive { // paw setup sends the first prompt, too
		e = errs.New(errs.Failed, "%s: its set-up failed (%s)", t.Record.Name, failed).Hint("paw setup %s/%s", t.Session.Name, t.Record.Name)
	}
	e.Err = errNotRunning
	return e
}

// refusalFor is like refusal, and says by an error of its own why there is no process to type to.
func (t *sender) refusalFor(err error, format string, args ...any) *errs.Error {
	e := t.refusal(format, args...)
	e.Err = err
	return e
}

// asks returns the refusal of a prompt to an agent that waits for an answer.
func (t *sender) asks(state session.AgentStatus) *errs.Error {
	e := t.refusal("%s, a prompt would be taken for it", observe.WaitsFor(state))
	if state.Cause != session.CauseDialog {
		e.Hints = append([]string{fmt.Sprintf("paw answer %s/%s", t.Session.Name, t.Record.Name)}, e.Hints...)
	}
	return e
}

// asksWith returns the state of an agent whose screen shows a dialog: outside of a turn only one
// with a list that paw knows can be answered by paw; in a turn it may be a question that hooks are
// about to report.
func asksWith(seen cli.Screen, last *turn.Record) session.AgentStatus {
	state := session.AgentStatus{Reason: seen.Dialog}
	if !seen.Listed() && (last == nil || last.State != turn.InProgress) {
		state.Cause = session.CauseDialog
	}
	return state
}

// unconfirmed returns the error of a sender that has typed something, or cannot say whether it has.
func (t *sender) unconfirmed(format string, args ...any) *errs.Error {
	return errs.New(errs.Unconfirmed, "%s: %s", t.Record.Name, fmt.Sprintf(format, args...)).Hint("paw attach %s %s", t.Session.Name, t.Record.Name)
}

// quoted appends a text to a message, if there is one.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(": %q", display.Graphemes.Cut(text, 200))
}
