package typing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
)

// Interrupted is a turn that Interrupt was to end.
type Interrupted struct {
	Agent string
	Turn  int
	Late  bool // the turn finished all the same
}

// String says in one line how the turn ended.
func (i *Interrupted) String() string {
	if i.Late {
		return fmt.Sprintf("%s: turn %d finished before Esc could end it", i.Agent, i.Turn)
	}
	return fmt.Sprintf("%s: turn %d interrupted", i.Agent, i.Turn)
}

// How long a CLI may take to end a turn after Escape before the key is pressed once more: less where its screen shows that it works,
// which it may do as long after the end, until it has put the prompt back into its box.
const (
	interruptPatience = 5 * time.Second
	workPatience      = 2 * time.Second
)

// Interrupt presses Escape in the pane of an agent and waits until the turn that runs there has ended. Where a turn waits with
// a question, the question goes with it. The error has exit code 3 when no turn runs, and 6 when the turn goes on after
// all presses.
func Interrupt(ctx context.Context, h *app.App, s *session.Session, agentName string) (*Interrupted, error) {
	t, err := answererFor(h, s, agentName)
	if err != nil {
		return nil, err
	}
	if t.cli.Facts().Unseen {
		return nil, t.refusal("nothing shows whether a turn of %s runs, nothing was typed", t.Record.CLI)
	}
	unlock, err := Lock(ctx, t.Agent)
	if err != nil {
		return nil, err
	}
	defer unlock()
	number, open, err := t.open(ctx)
	if err == nil && number == 0 {
		err = errs.New(errs.Refused, "%s: no turn runs, nothing was typed", agentName).Hint("paw turns %s/%s", s.Name, agentName)
	}
	if err != nil {
		return nil, err
	}
	asked, question := false, open.Waiting // whether the key that comes now was asked for on the screen, and whether it closes a question
	for range 6 {                          // a list, a question and half-typed text take one or two each
		if err := t.strike(ctx, "", "Escape"); err != nil {
			return nil, t.shut(err)
		}
		h.Step("interrupt.pressed")
		again := t.cli.Facts().EscapeAgain
		if asked {
			again = nil // it may still be there
		}
		var last *turn.Record
		last, asked, err = t.ends(ctx, number, again, question)
		if question = false; err != nil || last != nil {
			return &Interrupted{Agent: agentName, Turn: number, Late: last != nil && last.Number == number && last.State == turn.Finished}, err
		}
	}
	return nil, t.unconfirmed("Escape was pressed, and nothing says that turn %d has ended", number)
}

// open returns the number of the turn that runs or waits with a question, 0 for none, and the agent's last turn.
func (t answerer) open(ctx context.Context) (number int, last *turn.Record, err error) {
	a, state, err := t.find(ctx)
	if err != nil {
		return 0, nil, err
	}
	if last = a.Turns.Last; last == nil || last.State != turn.InProgress || state.State.Rests() {
		return 0, last, nil
	}
	return last.Number, last, nil
}

// ends waits after Escape until the turn has ended and the screen shows no work, and returns the agent's last turn then. It returns
// nil where Escape has to be pressed once more: the CLI asks for that on its screen (asked is true), Escape has closed the question
// alone and the CLI goes on, or the turn still runs for too long. In some CLIs an Escape too many opens a menu.
func (t answerer) ends(ctx context.Context, number int, again []string, question bool) (last *turn.Record, asked bool, err error) {
	pressed := t.App.Now()
	for ; t.App.Now().Sub(pressed) < interruptPatience; poll.Sleep(ctx, 2*poll.Tick) {
		if ctx.Err() != nil {
			return nil, false, errs.New(errs.Interrupted, "%s: Escape was pressed; whether turn %d has ended is not known", t.Record.Name, number)
		}
		now, last, err := t.open(ctx)
		if err != nil || now != number {
			poll.Until(ctx, 2*poll.Tick, workPatience, func() bool {
				shot, _ := t.client.Look(ctx, t.program)
				return !t.cli.Screen(cli.Screenshot(shot)).Works
			})
			return last, false, err
		}
		shot, _ := t.client.Look(ctx, t.program)
		switch closed := question && !last.Waiting; {
		case slices.ContainsFunc(again, func(text string) bool { return strings.Contains(shot.Text, text) }):
			return nil, true, nil
		case (closed || t.App.Now().Sub(pressed) > workPatience) && t.cli.Screen(cli.Screenshot(shot)).Works:
			return nil, false, nil
		}
	}
	return nil, false, nil
}
