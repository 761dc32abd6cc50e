package selftest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/config/poll"
	"paw/orchestrator"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/orchestrator/teardown"
	"paw/orchestrator/turns"
	"paw/orchestrator/typing"
	"paw/session"
	"paw/session/turn"
)

// play is one part of a trial. do returns a description of what was seen.
type play struct {
	name   string
	do     func(*player, context.Context) (string, error)
	vital  bool // later plays depend on this one
	always bool // run even after failures
}

// plays lists the plays in their order.
var plays = []play{
	{name: "start", do: (*player).start, vital: true},
	{name: "before a prompt", do: (*player).beforePrompt},
	{name: "turn", do: (*player).turn, vital: true},
	{name: "question", do: (*player).question},
	{name: "Esc", do: (*player).interrupt},
	{name: "pane", do: (*player).staysInPane},
	{name: "queued prompt", do: (*player).queued},
	{name: "crash", do: (*player).crash},
	{name: "conversation", do: (*player).conversation},
	{name: "stop", do: (*player).stop, always: true},
}

func (p *player) start(ctx context.Context) (string, error) {
	began := time.Now()
	started, err := orchestrator.Start(ctx, p.paw, orchestrator.StartOptions{CLIs: []string{p.cli}, Name: sessionName})
	if err != nil {
		return "", err
	}
	p.session = started.Session
	if r := started.Results[0]; r.Kind != launch.ResultFresh {
		return "", failf("%s: %s", r.Kind, r.Reason)
	}
	if err := p.await(ctx, "a running CLI", func() bool { return p.agent(ctx).PID > 0 }); err != nil {
		return "", err
	}
	return fmt.Sprintf("runs after %.1f s", time.Since(began).Seconds()), nil
}

// beforePrompt checks the state of a CLI that has just started. Some CLIs report nothing before the
// first prompt: of these it awaits a screen that stays the same.
func (p *player) beforePrompt(ctx context.Context) (string, error) {
	c, known := p.paw.CLIs.Get(p.cli)
	reports := known && c.Facts().Ready.Event
	err := p.await(ctx, "the state idle", func() bool {
		state := p.agent(ctx).State
		return state != session.StateUnknown && state != session.StateRunning && state != "" || !reports && p.quiet(ctx)
	})
	a := p.agent(ctx)
	switch {
	case a.State == session.StateIdle:
		return "idle", nil
	case a.State == session.StateUnknown && a.PaneAlive != nil && *a.PaneAlive && a.PID > 0:
		return "", unseenError(a.Reason)
	case err != nil:
		return "", err
	}
	return "", failf("not idle; %s", p.describe(ctx))
}

// quietScreen is the time without a change after which a screen counts as quiet.
const quietScreen = 2 * time.Second

// quiet reports whether the screen shows something and does not change for a while.
func (p *player) quiet(ctx context.Context) bool {
	before := p.screen(ctx)
	poll.Sleep(ctx, quietScreen)
	return strings.TrimSpace(before) != "" && p.screen(ctx) == before
}

// turn runs a turn with a file and a commit.
func (p *player) turn(ctx context.Context) (string, error) {
	one, err := p.work(ctx, "do: write one.txt 1\ndo: commit Add one\ndo: say Done.")
	switch {
	case err != nil:
		return "", err
	case !p.has("one.txt") || one.Files == nil || *one.Files != 1:
		return "", failf("turn %d did not record the file that it made", one.Number)
	case one.CommitHash == one.StartCommit || one.Message != "Add one":
		return "", failf("turn %d has the message %.100q and the commit %.10s", one.Number, one.Message, one.CommitHash)
	}
	return fmt.Sprintf("the prompt arrived whole; turn %d, 1 file, tag %s", one.Number, one.Tag), nil
}

// hookLag is how much later than the CLI's record or screen a hook may report on a busy machine.
const hookLag = 5 * time.Second

// question makes the CLI ask for a permission. paw must report the question and refuse to type a
// prompt meanwhile.
func (p *player) question(ctx context.Context) (string, error) {
	before, each := p.last(ctx).Number, p.manners.AsksEach
	p.manners.AsksEach = false // here the question is looked at
	defer func() { p.manners.AsksEach = each }()
	if err := p.send(ctx, "do: ask touch granted.txt\ndo: say Granted."); err != nil {
		return "", err
	}
	if err := p.awaitState(ctx, session.StateWaitingInput); err != nil {
		return "", err
	}
	const question = "touch granted.txt"
	var asked string // the state may be known before the hook reports the question
	poll.Until(ctx, 10*poll.Tick, hookLag, func() bool {
		asked = p.agent(ctx).Reason
		return strings.Contains(asked, question)
	})
	_, err := orchestrator.Send(ctx, p.paw, p.session, p.cli, "never into a question", true)
	var refused *errs.Error
	if !errors.As(err, &refused) || refused.Kind != errs.Refused {
		return "", failf("a prompt was not refused while it asks: %v", err)
	}
	if err := p.allow(ctx); err != nil {
		return "", err
	}
	if _, err := p.finished(ctx, before); err != nil {
		return "", err
	}
	if !strings.Contains(asked, question) {
		return "", failf("it waits, but what it asks is shown as %.100q", asked)
	}
	return fmt.Sprintf("waits for you: %.60s; a prompt is refused meanwhile", asked), nil
}

// allow grants the permission. A CLI may ignore the first keys; a key pressed before the question
// shows would go into the next prompt.
func (p *player) allow(ctx context.Context) error {
	if err := p.await(ctx, "the question on the screen", func() bool { return strings.Contains(p.screen(ctx), p.manners.Asks) }); err != nil {
		return err
	}
	var pressed time.Time
	return p.await(ctx, "an answered question", func() bool {
		asks := strings.Contains(p.screen(ctx), p.manners.Asks) && p.agent(ctx).State == session.StateWaitingInput
		if asks && time.Since(pressed) > 2*time.Second {
			p.press(ctx, p.manners.Allow...)
			pressed = time.Now()
		}
		return !asks
	})
}

// interrupt stops a turn by Esc. The next prompt must become a turn of its own.
func (p *player) interrupt(ctx context.Context) (string, error) {
	if err := p.hang(ctx, "half.txt"); err != nil {
		return "", err
	}
	cut := p.last(ctx).Number
	if err := p.escape(ctx); err != nil {
		return "", err
	}
	next, err := p.work(ctx, "do: say Once more.")
	if err != nil {
		return "", err
	}
	one, err := p.numbered(ctx, cut)
	if err != nil {
		return "", err
	}
	if one.State != turn.Aborted || one.Reason != turn.ReasonInterrupted {
		return "", failf("turn %d is %s %s", cut, one.State, one.Reason)
	}
	return fmt.Sprintf("idle at once; turn %d is interrupted, turn %d is the next", cut, next.Number), nil
}

// staysInPane presses, in an empty input box, the key that moves a conversation of claude out of
// its pane: the conversation would go on when the pane ends. claude ignores that key if another
// follows at once, so the next key, which proves that the box takes keys, is pressed when the
// screen has settled.
func (p *player) staysInPane(ctx context.Context) (string, error) {
	c, known := p.paw.CLIs.Get(p.cli)
	if !known || !c.Facts().Moves {
		return "its CLI cannot take the conversation out of it", nil
	}
	box := func() cli.Screen { return c.Screen(p.screenshot(ctx)) }
	isEmpty := func() bool { return box().Box == cli.BoxEmpty }
	if err := p.await(ctx, "an empty input box", isEmpty); err != nil {
		return "", err
	}
	p.press(ctx, "Left")
	left := func() bool { return p.agent(ctx).Away }
	if err := p.await(ctx, "a screen that stands still", func() bool { return left() || p.quiet(ctx) }); err != nil {
		return "", err
	}
	if left() || !isEmpty() {
		if err := p.await(ctx, "the conversation in its pane, or outside of it", left); err != nil {
			return "", err
		}
		return "", failf("%s", p.agent(ctx).Reason)
	}
	const behind = "x"
	p.press(ctx, behind)
	if err := p.await(ctx, "the key behind Left in the input box", func() bool { return box().Draft == behind }); err != nil {
		return "", err
	}
	p.press(ctx, "BSpace")
	if err := p.await(ctx, "an empty input box", isEmpty); err != nil {
		return "", err
	}
	return "the conversation stays in its pane", nil
}

// escape interrupts the turn.
func (p *player) escape(ctx context.Context) error {
	if _, err := typing.Interrupt(ctx, p.paw, p.session, p.cli); err != nil {
		return failf("interrupt: %w; %s", err, p.describe(ctx))
	}
	return p.await(ctx, "the state idle after Esc", func() bool { return p.agent(ctx).State == session.StateIdle })
}

func (p *player) numbered(ctx context.Context, n int) (turns.Turn, error) {
	for _, one := range p.turns(ctx) {
		if one.Number == n {
			return one, nil
		}
	}
	return turns.Turn{}, failf("there is no turn %d", n)
}

// queued sends a prompt while a command of the turn before is running.
func (p *player) queued(ctx context.Context) (string, error) {
	before, gate := p.last(ctx).Number, filepath.Join(p.root, "gate")
	running := fmt.Sprintf("printf 1 > first.txt && while test -d '%s' && ! test -e '%s'; do sleep 0.1; done", p.root, gate)
	if err := p.send(ctx, "do: run "+running+"\ndo: say First done."); err != nil {
		return "", err
	}
	if err := p.await(ctx, "a command that runs", func() bool { return p.has("first.txt") }); err != nil {
		return "", err
	}
	unconfirmed := p.send(ctx, "do: write second.txt 2\ndo: say Second done.")
	var e *errs.Error
	if unconfirmed != nil && (!errors.As(unconfirmed, &e) || e.Kind != errs.Unconfirmed) {
		return "", unconfirmed
	}
	last, err := p.queuedWork(ctx, before, gate)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("it was done in turn %d", last)
	if last > before+1 {
		text = fmt.Sprintf("it was done in turns %d to %d", before+1, last)
	}
	if unconfirmed != nil {
		return "", unseenError(fmt.Sprintf("%s, but nothing said so when it was sent: %v", text, unconfirmed))
	}
	return "it arrived, and " + text, nil
}

// queuedWork lets the command end, and waits until both prompts are done. It returns the number of
// the last turn.
func (p *player) queuedWork(ctx context.Context, before int, gate string) (last int, err error) {
	open := func() error { return os.WriteFile(gate, nil, 0o600) }
	if !p.manners.Background {
		if err := open(); err != nil {
			return 0, err
		}
	}
	if err := p.await(ctx, "the work of the queued prompt", func() bool { return p.has("second.txt") }); err != nil {
		return 0, err
	}
	one, err := p.finished(ctx, before)
	if err == nil && p.manners.Background { // the end of the command is a turn of its own
		if err = open(); err == nil {
			one, err = p.finished(ctx, one.Number)
		}
	}
	return one.Number, err
}

// crash kills the tmux server in the middle of a turn, and recovers the agent.
func (p *player) crash(ctx context.Context) (string, error) {
	if err := p.hang(ctx, "cut.txt"); err != nil {
		return "", err
	}
	cut, conversation := p.last(ctx).Number, p.agent(ctx).Record.Conversation()
	if _, err := p.killServer(); err != nil {
		return "", err
	}
	if err := p.await(ctx, "the death of the CLI", func() bool { a := p.agent(ctx); return a.PID == 0 && a.State == session.StateSuspended }); err != nil {
		return "", err
	}
	all, _, err := orchestrator.Recover(ctx, p.paw, orchestrator.RecoverOptions{Name: sessionName})
	if err != nil {
		return "", err
	}
	result := all[0].Results[0]
	if result.Kind != launch.ResultResumed {
		return "", failf("recover: %s: %s", result.Kind, result.Reason)
	}
	p.session = all[0].Session
	if err := p.await(ctx, "a running CLI", func() bool { return p.agent(ctx).PID > 0 }); err != nil {
		return "", err
	}
	prompt := "do: say After all."
	next, err := p.work(ctx, prompt)
	if err != nil {
		return "", err
	}
	one, err := p.numbered(ctx, cut)
	if err != nil {
		return "", err
	}
	request, _ := p.model.Asked(prompt, 0)
	now := p.agent(ctx).Record.Conversation()
	switch {
	case one.State != turn.Aborted:
		return "", failf("turn %d, which was cut, is %s", cut, one.State)
	case now != conversation:
		return "", failf("another conversation goes on: %s and not %s", now, conversation)
	case p.scripted() && request.Prompts < 2:
		return "", errors.New("the CLI has forgotten what was said before")
	}
	return fmt.Sprintf("resumed; the same conversation goes on with turn %d, turn %d is %s", next.Number, cut, one.Reason), nil
}

// conversation reads the conversation from the CLI's own record.
func (p *player) conversation(ctx context.Context) (string, error) {
	log, err := orchestrator.Log(ctx, p.paw, p.session, p.cli, nil)
	if err != nil {
		return "", err
	}
	for _, m := range log.Messages {
		if strings.Contains(m.Content, "do: commit Add one") {
			if log.Skipped > 0 {
				return "", failf("%d records were not understood, of %d messages", log.Skipped, len(log.Messages))
			}
			return fmt.Sprintf("%d messages, all understood", len(log.Messages)), nil
		}
	}
	return "", failf("of %d messages none is the first prompt", len(log.Messages))
}

// stop stops the session, after which nothing may run.
func (p *player) stop(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.patience) // stops also after the time of the trial is over
	defer cancel()
	if p.session == nil {
		return "", errors.New("there is nothing to stop")
	}
	began := time.Now()
	if _, err := orchestrator.Stop(ctx, p.paw, p.session, teardown.StopOptions{}); err != nil {
		return "", err
	}
	if a := p.agent(ctx); a.PID != 0 || a.State != session.StateSuspended && a.State != session.StateCompleted {
		return "", failf("after it: %s", p.describe(ctx))
	}
	return fmt.Sprintf("ended after %.1f s", time.Since(began).Seconds()), nil
}
