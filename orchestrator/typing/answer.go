package typing

import (
	"context"
	"errors"
	"fmt"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/session"
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
	return t.drawn(ctx)
}

// Answer answers the question of an agent with "yes", "no", "always", the number of an option, or
// its words. With an id it answers only the question with that Asked.ID, else the one that is open
// when Answer is called. It types keys only while the screen shows the question and the option. The
// error has exit code 6 when the CLI does not report that it took the answer.
func Answer(ctx context.Context, h *app.App, s *session.Session, agentName, answer, id string) (*Answered, error) {
	t, err := answererFor(h, s, agentName)
	if err != nil {
		return nil, err
	}
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
	open := h.Now().Sub(asked.Since)
	if asked.Outside { // nothing tells since when
		open = 0
	}
	poll.Sleep(ctx, max(answerSteady, asked.Deaf-open))
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

// reply answers a permission by its id on the CLI's channel, and reports whether it did. Answers
// that hold for longer than once, questions that are no permission, and answers that the channel
// refuses are left to the keys.
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
