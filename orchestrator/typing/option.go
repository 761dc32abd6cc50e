package typing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"paw/config/poll"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/tmux"
)

// press types the keys of an answer. It looks at the question before each key, and asks next for the
// key that brings the answer nearer: moved tells by what the screen shows later that the key has
// worked, nil after the last key. did says for errors what paw has done before the last key.
func (t answerer) press(ctx context.Context, asked *Asked, did string,
	next func(now *Asked, typed bool) (key string, moved func(later *Asked) bool, err error),
) error {
	for typed := false; ; typed = true {
		now, err := t.asked(ctx)
		switch gone := err != nil || !sameQuestion(asked.ID, now.ID); {
		case errors.As(err, new(*tmux.ClosedError)) && typed:
			return t.stuck(ctx, err, did)
		case gone && typed:
			return t.unconfirmed("its question went away before the answer was taken; %s", did)
		case err != nil:
			return err
		case gone:
			return t.refusal("asks something else by now: %s", now.Text)
		}
		key, moved, err := next(now, typed)
		if err != nil {
			return err
		}
		t.App.Step("answer.key")
		if err := t.strike(ctx, "", key); err != nil && typed {
			return t.stuck(ctx, err, did)
		} else if err != nil {
			return t.shut(err)
		}
		if moved == nil {
			return nil
		}
		if !poll.Until(ctx, 2*poll.Tick, movePatience, func() bool {
			later, err := t.asked(ctx)
			return err != nil || !sameForm(now.ID, later.ID) || moved(later)
		}) {
			return t.unconfirmed("its question does not follow the keys; %s", did)
		}
	}
}

// take selects an option and presses Enter.
func (t answerer) take(ctx context.Context, asked *Asked, option int) error {
	isSelected := func(o cli.Option) bool { return o.Selected }
	return t.press(ctx, asked, "paw has only moved the selection, and did not press Enter", func(now *Asked, typed bool) (string, func(*Asked) bool, error) {
		if !sameForm(asked.ID, now.ID) {
			// It was about to be drawn when it was looked at first: yes and no are the same on its
			// screen.
			drawn, err := now.pick(string(asked.Options[option].Means()), false)
			if err != nil || typed || !slices.ContainsFunc(now.Options, func(o cli.Option) bool { return o.Key != "" || o.Selected }) {
				return "", nil, t.refusal("something else covers its question by now: %s", now.Text)
			}
			asked, option = now, drawn
		}
		want, at := now.Options[option], slices.IndexFunc(now.Options, isSelected)
		moved := func(later *Asked) bool {
			if later.Options[at].Selected {
				return false
			}
			poll.Sleep(ctx, moveSettle) // copilot draws the new selection before Enter would take it
			return true
		}
		switch {
		case want.Key != "":
			return want.Key, nil, nil
		case at < 0:
			return "", nil, t.refusal("which answer is selected cannot be seen")
		case want.Selected:
			return "Enter", nil, nil
		case at < option:
			return "Down", moved, nil
		}
		return "Up", moved, nil
	})
}

// tick ticks the picked options, takes the tick from the others, and goes on.
func (t answerer) tick(ctx context.Context, asked *Asked, picked []int) error {
	return t.press(ctx, asked, "paw has ticked answers, and did not go on", func(now *Asked, _ bool) (string, func(*Asked) bool, error) {
		for i, o := range now.Options {
			if o.Box != "" && o.Means() != cli.MeansText && (o.Box != cli.EmptyBox) != slices.Contains(picked, i) {
				return o.Key, func(later *Asked) bool { return later.Options[i].Box != o.Box }, nil
			}
		}
		return now.Submit, nil, nil
	})
}

// taken waits until the CLI's hooks or its own record report that the question was answered, and it
// is off the screen. On a busy machine the record is some seconds behind the screen.
func (t answerer) taken(ctx context.Context, asked *Asked) error {
	ctx = context.WithoutCancel(ctx)
	begun := t.App.Now()
	if asked.Outside {
		return t.left(ctx, asked)
	}
	over := func() bool {
		waited := t.App.Now().Sub(begun)
		return waited > handedPatience || waited > answerPatience && t.shows(ctx, asked)
	}
	reported := false
	for ; !over(); poll.Sleep(ctx, 2*poll.Tick) {
		a, state, err := t.find(ctx)
		switch {
		case err != nil && reported:
			return nil
		case errors.Is(err, errNotRunning):
			return errs.New(errs.Unconfirmed, "%s: its CLI has ended since the answer was typed", t.Record.Name).Hint("paw recover %s/%s", t.Session.Name, t.Record.Name)
		case err != nil:
			return t.unconfirmed("the answer was typed, and nothing says that it was taken (%v)", err)
		}
		last := a.Turns.Last
		switch {
		case last == nil || last.Number != asked.Turn:
			return nil
		case state.State != session.StateWaitingInput && state.State != session.StateUnknown:
			if reported = true; !t.shows(ctx, asked) {
				return nil
			}
		case last.Waiting && !last.WaitingSince.Equal(asked.Since) && (asked.offered || last.Question == asked.Hook || !t.shows(ctx, asked)):
			return nil // the next question is open; the same question is asked again only after an answer
		case asked.Paged:
			if t.other(ctx, asked) != nil || t.turned(ctx, asked) {
				return nil // the next page of the question is open, which only the screen shows
			}
		}
	}
	switch {
	case reported:
		return nil
	case t.shows(ctx, asked):
		return t.unconfirmed("the answer was typed, and its question is still there")
	}
	return t.unconfirmed("the answer was typed and its question is gone, and its own record does not say yet that it took it")
}

// left waits until a dialog outside of a turn is gone and stays away, of which nothing but the screen
// tells: a CLI that draws its screen anew shows no dialog for a moment. The CLI may end with the
// answer.
func (t answerer) left(ctx context.Context, asked *Asked) error {
	var away time.Time
	for end := t.App.Now().Add(answerPatience); t.App.Now().Before(end); poll.Sleep(ctx, 2*poll.Tick) {
		_, _, err := t.find(ctx)
		switch {
		case errors.Is(err, errNotRunning):
			return nil
		case err != nil || t.shows(ctx, asked):
			away = time.Time{}
		case away.IsZero():
			away = t.App.Now()
			t.App.Step("answer.away")
		case t.App.Now().Sub(away) >= answerSteady:
			return nil
		}
	}
	return t.unconfirmed("the answer was typed, and its question is still there")
}

// other returns the question that replaced than without the turn having gone on, nil for none.
func (t answerer) other(ctx context.Context, than *Asked) *Asked {
	now, err := t.asked(ctx)
	if err != nil || now.Turn != than.Turn || !now.Since.Equal(than.Since) || now.Text == than.Text {
		return nil
	}
	return now
}

// turned reports whether the screen names another question than this one, which only the user can answer.
func (t answerer) turned(ctx context.Context, than *Asked) bool {
	shot, err := t.client.Screenshot(ctx, t.program.Pane)
	dialog := t.cli.Screen(cli.Screenshot(shot)).Dialog
	return err == nil && dialog != "" && dialog != than.Text
}

// shows reports whether a question is still on the screen; true where the screen cannot be read, and
// for a dialog of which it shows a part.
func (t answerer) shows(ctx context.Context, asked *Asked) bool {
	shot, err := t.client.Screenshot(ctx, t.program.Pane)
	if err != nil {
		return true
	}
	seen := t.cli.Screen(cli.Screenshot(shot))
	if now := seen.Question; now != nil {
		return now.Text == asked.Text && slices.EqualFunc(now.Options, asked.Options, func(a, b cli.Option) bool { return a.Label == b.Label })
	}
	return (asked.Outside || asked.offered) && seen.Dialog != "" && strings.HasPrefix(asked.Text, seen.Dialog)
}
