package typing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// Answered is a question with the option that was taken.
type Answered struct {
	Asked
	Took cli.Option
}

// String describes the answer in one line.
func (a *Answered) String() string {
	return fmt.Sprintf("%s: answered %q to %q", a.Agent, a.Took.Label, a.Text)
}

// LookAtQuestion returns the question on an agent's screen, with the options that can be answered.
// It refuses (exit code 3) where neither the CLI's hooks report a question nor the CLI itself asks
// with a list that paw knows, or the screen shows none that paw can read.
func LookAtQuestion(ctx context.Context, h *app.App, s *session.Session, agentName string) (*Asked, error) {
	t, err := answererFor(h, s, agentName)
	if err != nil {
		return nil, err
	}
	t.answers = true
	return t.drawn(ctx)
}

// Answer answers the question of an agent with "yes", "no", "always", the number of an option, or
// its words; where options are ticked, several of them with commas between. With an id it answers only the question with that Asked.ID, else the one that is open
// when Answer is called. It types keys only while the screen shows the question and the option. The
// error has exit code 6 when the CLI does not report that it took the answer.
func Answer(ctx context.Context, h *app.App, s *session.Session, agentName, answer, id string) (*Answered, error) {
	t, err := answererFor(h, s, agentName)
	if err != nil {
		return nil, err
	}
	t.answers = true
	// Another paw that holds the lock may be answering this question: the answer must not go to the
	// next one.
	if id == "" {
		first, err := t.drawn(ctx)
		if err != nil {
			return nil, err
		}
		id = first.ID
		h.Step("answer.seen")
	}
	unlock, err := Lock(ctx, h.Agent(s, t.Record))
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
	picked, err := asked.picks(answer, sameForm(id, asked.ID))
	if err != nil {
		return nil, err
	}
	took := asked.together(picked)
	open := h.Now().Sub(asked.Since)
	if asked.Outside { // nothing tells since when
		open = 0
	}
	poll.Sleep(ctx, max(answerSteady, asked.Deaf-open))
	h.Step("answer.begun")
	replied, err := t.reply(ctx, asked, took)
	switch {
	case err != nil || replied:
	case took.Box != "":
		err = t.tick(ctx, asked, picked)
	default:
		err = t.take(ctx, asked, picked[0])
	}
	if err != nil {
		return nil, err
	}
	answered := &Answered{Asked: *asked, Took: took}
	if t.headless { // its channel says when it is taken
		return answered, nil
	}
	return answered, t.taken(ctx, asked)
}

// reply answers a permission by its id on the CLI's channel, and reports whether it did. Answers
// that the channel does not know or refuses, and questions that are no permission, are left to the
// keys, unless the channel has all answers.
func (t answerer) reply(ctx context.Context, asked *Asked, took cli.Option) (bool, error) {
	means := took.Means()
	if asked.permission == "" || !asked.offered && means != cli.MeansYes && means != cli.MeansNo {
		return false, nil
	}
	if now, err := t.asked(ctx); err != nil || now.permission != asked.permission {
		return false, nil //nolint:nilerr // take looks, too, and says why
	}
	t.App.Step("answer.key")
	err := t.channelOf().Reply(context.WithoutCancel(ctx), asked.permission, took)
	switch {
	case errors.Is(err, cli.ErrNotHandedOver) && asked.offered:
		return false, t.refusal("does not wait for this answer any more")
	case errors.Is(err, cli.ErrNotHandedOver):
		return false, nil
	case err != nil:
		return false, t.unconfirmed("the answer was handed over, and %v", err)
	}
	return true, nil
}

// Time limits of an answer: for the CLI to report that it took the answer, for the selection to
// move after a key, for the pause after that, for how long a question must stay unchanged, or a
// dialog away, and for how late a hook may be after the CLI's own record.
const (
	answerPatience = 5 * time.Second
	movePatience   = 2 * time.Second
	moveSettle     = 400 * time.Millisecond
	answerSteady   = 300 * time.Millisecond
	hookLag        = 2 * time.Second
	drawLag        = 2 * time.Second // how late after the hook a question may appear on the screen
)

// undrawnError refuses to answer because the question asked at since is not on the screen.
type undrawnError struct {
	error
	since time.Time
}

func (e *undrawnError) Unwrap() error { return e.error }

// onlyByChannel are the answers to a permission whose question is covered on the screen.
var onlyByChannel = []cli.Option{{Label: "Yes"}, {Label: "No"}}

// answerer answers one question in the pane of an agent. It types only while it holds the agent's
// prompt lock.
type answerer struct{ *sender }

func answererFor(h *app.App, s *session.Session, agentName string) (answerer, error) {
	a, err := configured(h, s, agentName)
	if err != nil {
		return answerer{}, err
	}
	t, err := senderTo(a)
	return answerer{t}, err
}

// drawn is like asked, but waits up to drawLag for the question to appear on the screen: some CLIs
// draw it only after their hooks have ended.
func (t answerer) drawn(ctx context.Context) (*Asked, error) {
	for {
		asked, err := t.asked(ctx)
		var undrawn *undrawnError
		if !errors.As(err, &undrawn) || t.App.Now().Sub(undrawn.since) > drawLag || ctx.Err() != nil {
			return asked, err
		}
		poll.Sleep(ctx, 5*poll.Tick)
	}
}

// asked returns the question that the agent's CLI waits on, from the CLI's hooks or from a list on
// its screen, with the options that the screen shows.
func (t answerer) asked(ctx context.Context) (*Asked, error) {
	last, listed, err := t.waiting(ctx)
	if err != nil {
		return nil, err
	}
	if last == nil {
		asked := &Asked{Question: listed, Agent: t.Record.Name}
		asked.ID = asked.identity()
		return asked, nil
	}
	permission, waits := t.channelOf().Permission(ctx) // first: of a question that is drawn meanwhile its id is not known
	waits = waits && permission.Question == last.Question
	if waits && permission.Options != nil {
		question := cli.Question{Text: "asks for permission: " + permission.Question, Details: permission.Details, Options: permission.Options}
		return t.askedBy(last, &Asked{Question: question, offered: true, permission: permission.ID}), nil
	}
	if t.headless {
		return nil, t.nothingAsked("")
	}
	seen, err := t.see(ctx)
	if err != nil {
		return nil, t.shut(err)
	}
	question := seen.Question
	switch covered := question == nil || question.Outside; {
	case !covered:
	case waits && t.App.Now().Sub(*last.WaitingSince) > drawLag: // something covers the question
		question = &cli.Question{Text: "asks for permission: " + permission.Question, Options: onlyByChannel}
	case seen.Dialog != "": // as one whose answers can be ticked
		return nil, &undrawnError{t.nothingAsked(seen.Dialog), *last.WaitingSince}
	default:
		refused := t.refusal("%s, and its screen shows no question that paw can answer", observe.WaitsFor(session.AgentStatus{Reason: last.Question}))
		return nil, &undrawnError{refused, *last.WaitingSince}
	}
	asked := &Asked{Question: *question}
	if waits {
		asked.permission = permission.ID
	}
	return t.askedBy(last, asked), nil
}

// askedBy completes the question of a turn.
func (t answerer) askedBy(last *turn.Record, asked *Asked) *Asked {
	asked.Agent, asked.Hook, asked.Turn, asked.Since = t.Record.Name, last.Question, last.Number, *last.WaitingSince
	asked.ID = asked.identity()
	return asked
}

// waiting returns the turn whose question is open. A question that only the screen shows is
// returned, without a turn, if paw knows its list of options; any other dialog, such as a menu that
// the user opened, is refused. Hooks lag behind the CLI's record and screen, and a CLI that redraws
// its screen shows neither input box nor dialog for a moment, so waiting looks again until hookLag
// is over.
func (t answerer) waiting(ctx context.Context) (*turn.Record, cli.Question, error) {
	for end := t.App.Now().Add(hookLag); ; poll.Sleep(ctx, 2*poll.Tick) {
		a, state, err := t.find(ctx)
		if err != nil {
			return nil, cli.Question{}, err
		}
		waits, last := state.State == session.StateWaitingInput, a.Turns.Last
		if waits && last != nil && last.Waiting && last.WaitingSince != nil {
			return last, cli.Question{}, nil
		}
		seen, err := t.see(ctx)
		if seen.Listed() && err != nil {
			return nil, cli.Question{}, t.shut(err)
		}
		if seen.Listed() {
			return nil, *seen.Question, nil
		}
		rests := !waits && seen.Dialog == "" && (seen.Box != cli.BoxUnseen || !t.ready.Box)
		if rests || t.App.Now().After(end) || ctx.Err() != nil {
			if waits && seen.Dialog == "" { // the CLI's own record says so, and its screen not what
				seen.Dialog = state.Reason
			}
			return nil, cli.Question{}, t.nothingAsked(seen.Dialog)
		}
	}
}

// nothingAsked returns the refusal for a CLI that asks nothing that paw can answer. A menu or a
// dialog at the start is left to the user.
func (t answerer) nothingAsked(dialog string) error {
	if dialog != "" {
		return t.refusal("%s; this dialog is yours", observe.WaitsFor(session.AgentStatus{Reason: dialog}))
	}
	return t.refusal("is not asking anything")
}

// channelOf returns the channel of the agent's CLI, which may not answer.
func (t answerer) channelOf() cli.Channel {
	of := t.cli.Channel
	if t.headless {
		of = t.cli.HeadlessChannel
	}
	return of(t.App.Specs().Read(t.Session, t.Record, ""))
}
