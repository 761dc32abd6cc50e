// Package typing is the only package that types into the panes of agents. A sender checks that the
// CLI takes a prompt, pastes the prompt, presses Enter and waits until the prompt has arrived as it
// was sent.
//
// It may import orchestrator/app, observe and turns. Begin with Send, then sender.go, ready.go and
// paste.go, draft.go for text in the input box, and arrival.go.
package typing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
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

// earlier is the prompt that paw typed last, if nothing has reported its arrival.
type earlier struct {
	Prompt string    `json:"prompt"` // prompt in the CLI's canonical form, "" for none
	Turn   int       `json:"turn"`   // last turn before the prompt was typed
	At     time.Time `json:"at"`
}

// begun reports whether the prompt began one of the turns.
func (e earlier) begun(turns []turn.Record, canonical func(string) string) bool {
	return e.Prompt != "" && slices.ContainsFunc(turns, func(one turn.Record) bool { return canonical(string(one.Prompt)) == e.Prompt })
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
func (t *sender) reports() bool { return !t.found.Agent(t.w.Name).Turns.HooksSeen.IsZero() }

// handedPatience is how long a CLI may take to begin a prompt that it got by its channel or took
// out of its box.
const handedPatience = 30 * time.Second

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
	channel := t.cli.Channel(t.app.Specs().Read(t.s, t.w, ""))
	if t.silent = !channel.Open(ctx); !t.silent {
		t.channel = channel
	}
	return !t.silent
}

// handOver calls last and gives the prompt to the CLI by its channel.
func (t *sender) handOver(ctx context.Context, last func() error) error {
	t.before = t.expected.now(t.app, t.s, t.w)
	t.lastTyped()
	if err := last(); err != nil {
		return err
	}
	t.leave()
	t.app.Step("typed")
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
