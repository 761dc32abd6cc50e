package typing

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// How long an answer may take: to be taken by the CLI's own word, to move the selection by one key and to have it, between
// two looks at a question that must be the same, and how far hooks may be behind the CLI's own record.
const (
	answerPatience = 5 * time.Second
	movePatience   = 2 * time.Second
	moveSettle     = 400 * time.Millisecond
	answerSteady   = 300 * time.Millisecond
	hookLag        = 2 * time.Second
	drawLag        = 2 * time.Second // how long after its hook a question may come to the screen
)

// Asked is a question that an agent waits with.
type Asked struct {
	cli.Question
	Agent string
	ID    string // of this question with these options, asked this one time
	Hook  string // what the CLI's hook says that it asks, which may be longer or shorter than Text
	Turn  int
	Since time.Time

	permission string // that the CLI's channel can answer, "" where keys do
}

// Answered is what was answered.
type Answered struct {
	Asked
	Took cli.Option
}

// String says it in one line.
func (a *Answered) String() string {
	return fmt.Sprintf("%s: answered %q to %q", a.Agent, a.Took.Label, a.Text)
}

// LookAtQuestion is the question that an agent's CLI shows, with the options that can be answered. It is refused (3) where the
// CLI's hooks tell of none, and where it is not on the screen as paw knows it.
func LookAtQuestion(ctx context.Context, h *app.App, s *session.Session, agentName string) (*Asked, error) {
	t, err := answererFor(h, s, agentName)
	if err != nil {
		return nil, err
	}
	return t.drawn(ctx)
}

// Answer answers the question of an agent: "yes", "no", "always", the number of an option, or its words. With an id it
// answers the question of that Asked.ID alone, without one that which is asked when it is called. Keys are typed only while the question is on the screen with the option that
// is answered; the error is 6 when the CLI does not say that it took them.
func Answer(ctx context.Context, h *app.App, s *session.Session, agentName, answer, id string) (*Answered, error) {
	t, err := answererFor(h, s, agentName)
	if err != nil {
		return nil, err
	}
	// Whoever holds the lock may be answering that question: the next one is not what this answer is for.
	if id == "" {
		first, err := t.drawn(ctx)
		if err != nil {
			return nil, err
		}
		id = first.ID
		h.Step("answer.seen")
	}
	unlock, err := Lock(ctx, h, s, t.w)
	if err != nil {
		return nil, err
	}
	defer unlock()
	asked, err := t.drawn(ctx)
	if err != nil {
		return nil, err
	}
	if !sameQuestion(id, asked.ID) {
		return nil, t.refusal("asks something else by now: %s", asked.Text)
	}
	took, err := asked.pick(answer, sameForm(id, asked.ID))
	if err != nil {
		return nil, err
	}
	poll.Sleep(ctx, max(answerSteady, asked.Deaf-h.Now().Sub(asked.Since)))
	h.Step("answer.begun")
	if replied, err := t.reply(ctx, asked, took); err != nil {
		return nil, err
	} else if !replied {
		if err := t.take(ctx, asked, took); err != nil {
			return nil, err
		}
	}
	return &Answered{Asked: *asked, Took: asked.Options[took]}, t.taken(ctx, asked, asked.Options[took])
}

// pick is the index of the option that an answer means, if it is the only one. Numbers and words count only in the form of the
// question that they were read from.
func (a *Asked) pick(answer string, sameForm bool) (int, error) {
	means := cli.Meaning(strings.ToLower(strings.TrimSpace(answer)))
	if short := map[cli.Meaning]cli.Meaning{"y": cli.MeansYes, "n": cli.MeansNo}[means]; short != "" {
		means = short
	}
	var fitting []int
	for i, o := range a.Options {
		if means == o.Means() && means != cli.MeansText && means != cli.MeansOther {
			fitting = append(fitting, i)
		}
	}
	if len(fitting) == 0 && sameForm {
		if n, err := strconv.Atoi(string(means)); err == nil && n >= 1 && n <= len(a.Options) {
			fitting = []int{n - 1}
		}
	}
	if len(fitting) == 0 && sameForm {
		for i, o := range a.Options {
			if strings.EqualFold(strings.TrimSpace(answer), o.Label) {
				fitting = append(fitting, i)
			}
		}
	}
	refused := errs.New(errs.Refused, "%s: %q is not one of its answers: %s", a.Agent, answer, a.offers())
	switch {
	case len(fitting) > 1:
		refused = errs.New(errs.Refused, "%s: %q is more than one of its answers: %s", a.Agent, answer, a.offers())
	case len(fitting) == 1 && a.Options[fitting[0]].Means() == cli.MeansText:
		refused = errs.New(errs.Refused, "%s: this answer is a text, which can only be typed in its pane", a.Agent)
	case len(fitting) == 1:
		return fitting[0], nil
	}
	return 0, refused
}

// offers are the options in one line.
func (a *Asked) offers() string {
	var all []string
	for i, o := range a.Options {
		all = append(all, fmt.Sprintf("%d %s", i+1, o.Label))
	}
	return strings.Join(all, ", ")
}

// answerer answers one question in the pane of an agent. Whoever types holds the agent's prompt lock.
type answerer struct{ *sender }

func answererFor(h *app.App, s *session.Session, agentName string) (answerer, error) {
	w, err := app.AgentNamed(s, agentName)
	if err != nil {
		return answerer{}, err
	}
	if h, err = h.ConfiguredFor(s); err != nil {
		return answerer{}, err
	}
	cli, err := h.CLIOf(w)
	return answerer{&sender{app: h, s: s, w: w, cli: cli, ready: cli.Ready(), client: h.TmuxFor(s)}}, err
}

// undrawnError is a refusal because a question is not on the screen that was asked at that time.
type undrawnError struct {
	error
	since time.Time
}

func (e *undrawnError) Unwrap() error { return e.error }

// drawn is asked, where the question may be on its way to the screen: some CLIs draw it when their hooks have ended.
func (t answerer) drawn(ctx context.Context) (*Asked, error) {
	for {
		asked, err := t.asked(ctx)
		var undrawn *undrawnError
		if !errors.As(err, &undrawn) || t.app.Now().Sub(undrawn.since) > drawLag || ctx.Err() != nil {
			return asked, err
		}
		poll.Sleep(ctx, 50*time.Millisecond)
	}
}

// asked is the question of now: what the CLI's hooks have told of, as it is on the screen.
func (t answerer) asked(ctx context.Context) (*Asked, error) {
	last, err := t.waiting(ctx)
	if err != nil {
		return nil, err
	}
	shot, err := t.client.Look(ctx, t.program)
	if err != nil {
		return nil, t.shut(app.TmuxError(err))
	}
	question, ok := t.cli.Question(cli.Screenshot(shot))
	permission, waits := t.channelOf().Permission(ctx)
	waits = waits && permission.Question == last.Question
	if !ok && waits && t.app.Now().Sub(*last.WaitingSince) > drawLag { // something covers it
		question, ok = cli.Question{Text: "asks for permission: " + permission.Question, Options: onlyByChannel}, true
	}
	if !ok {
		refused := t.refusal("%s, and its screen shows no question that paw can answer", observe.WaitsFor(session.AgentStatus{Reason: last.Question}))
		return nil, &undrawnError{refused, *last.WaitingSince}
	}
	asked := &Asked{Question: question, Agent: t.w.Name, Hook: last.Question, Turn: last.Number, Since: *last.WaitingSince}
	if waits && !question.Confirms {
		asked.permission = permission.ID
	}
	asked.ID = asked.identity()
	return asked, nil
}

// waiting is the turn in which the CLI waits for an answer, as its hooks and its own record say. A dialog that only the
// screen shows is not a turn's: a menu that the user has opened, or one of a start. The record and the screen may be a moment
// ahead of the hooks.
func (t answerer) waiting(ctx context.Context) (*turn.Record, error) {
	for end := t.app.Now().Add(hookLag); ; poll.Sleep(ctx, 20*time.Millisecond) {
		a, state, err := t.find(ctx)
		if err != nil {
			return nil, err
		}
		waits, last := state.State == session.StateWaitingInput, a.Turns.Last
		if waits && last != nil && last.Waiting && last.WaitingSince != nil {
			return last, nil
		}
		dialog := t.dialog(ctx)
		if !waits && dialog == "" || t.app.Now().After(end) || ctx.Err() != nil {
			return nil, t.nothingAsked(dialog)
		}
	}
}

// nothingAsked is the refusal of an answer to a CLI that asks nothing in a turn. A menu, or a dialog of its start, is for its user.
func (t answerer) nothingAsked(dialog string) error {
	if dialog != "" {
		return t.refusal("%s; this dialog is yours", observe.WaitsFor(session.AgentStatus{Reason: dialog}))
	}
	return t.refusal("is not asking anything")
}

// dialog is what the screen asks, "" for nothing.
func (t answerer) dialog(ctx context.Context) string {
	shot, err := t.client.Look(ctx, t.program)
	if err != nil {
		return ""
	}
	return t.cli.Screen(cli.Screenshot(shot)).Dialog
}

// onlyByChannel are the answers to a permission that something else covers on the screen.
var onlyByChannel = []cli.Option{{Label: "Yes"}, {Label: "No"}}

// channelOf is the channel of the agent's CLI, which may be silent.
func (t answerer) channelOf() cli.Channel { return t.cli.Channel(t.app.SpecFor(t.s, t.w, "")) }

// reply answers a permission by its id on the CLI's channel, and reports whether it was so. What is to hold for longer than this
// once, what is no permission, and what the channel does not take is answered with keys, as long as the screen asks it.
func (t answerer) reply(ctx context.Context, asked *Asked, took int) (bool, error) {
	means := asked.Options[took].Means()
	if asked.permission == "" || means != cli.MeansYes && means != cli.MeansNo {
		return false, nil
	}
	t.app.Step("answer.key")
	err := t.channelOf().Reply(context.WithoutCancel(ctx), asked.permission, means == cli.MeansYes)
	switch {
	case errors.Is(err, cli.ErrNotHandedOver):
		return false, nil
	case err != nil:
		return false, t.unconfirmed("the answer was handed over, and %v", err)
	}
	return true, nil
}
