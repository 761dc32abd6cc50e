// Package selftest checks on this machine that paw and one installed CLI work together: `paw doctor
// --cli NAME`.
//
// It starts the CLI in a repository, a HOME and a tmux server of its own, with the scripted model
// of paw/orchestrator/cli/fakemodel on loopback in place of a vendor's server, and runs a series of
// plays with the use cases of package orchestrator. It does not touch the user's files, credentials
// and tmux servers, and leaves nothing behind.
package selftest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/config/display"
	"paw/config/poll"
	"paw/orchestrator"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/fakemodel"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/orchestrator/typing"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
)

// sessionName is the name of the trial's only session; its agent has the CLI's name.
const sessionName = "doctor"

type player struct {
	*place
	cli      string
	manners  fakemodel.Manners
	patience time.Duration
	session  *session.Session
}

// unseenError is the reason why paw itself reports a state or an arrival as unknown.
type unseenError string

func (e unseenError) Error() string { return string(e) }

func failf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// scripted reports whether the CLI uses the scripted model, as all but demo do.
func (p *player) scripted() bool { return p.cli != "demo" }

// await polls a condition for up to patience. what names the condition in the error, which
// describes the agent's state.
func (p *player) await(ctx context.Context, what string, holds func() bool) error {
	switch {
	case poll.Until(ctx, 5*poll.Tick, p.patience, func() bool { return holds() || p.grants(ctx) }):
		return nil
	case ctx.Err() != nil:
		return failf("%s: not before the time of the trial was over; %s", what, p.describe(ctx))
	}
	return failf("%s: not within %s; %s", what, p.patience, p.describe(ctx))
}

// grants grants what a CLI asks for each command. It returns false: what is awaited does not hold yet.
func (p *player) grants(ctx context.Context) bool {
	if p.manners.AsksEach && p.agent(ctx).State == session.StateWaitingInput {
		_, _ = typing.Answer(ctx, p.paw, p.session, p.cli, "yes", "")
	}
	return false
}

// describe returns the state of the agent and the last lines of its screen.
func (p *player) describe(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience) // called when the time is over
	defer cancel()
	a := p.agent(ctx)
	text := "status says " + string(a.State)
	if a.Reason != "" {
		text += " (" + a.Reason + ")"
	}
	var last []string
	for line := range strings.Lines(p.tail(ctx)) {
		if line = strings.Join(strings.Fields(line), " "); strings.ContainsFunc(line, cli.Alphanumeric) { // CLIs draw lines with other characters
			last = append(last, line)
		}
	}
	if n := len(last); n > 0 {
		text += "; the screen ends with: " + display.Graphemes.Tail(strings.Join(last[max(0, n-3):], " / "), 300)
	}
	return text
}

// agent returns the agent's status, the zero value where there is none.
func (p *player) agent(ctx context.Context) observe.AgentStatus {
	all, _, err := orchestrator.Status(ctx, p.paw, orchestrator.StatusOptions{Name: sessionName})
	if err != nil || len(all) != 1 || len(all[0].Agents) != 1 {
		return observe.AgentStatus{}
	}
	return all[0].Agents[0]
}

func (p *player) awaitState(ctx context.Context, state session.State) error {
	return p.await(ctx, "the state "+string(state), func() bool { return p.agent(ctx).State == state })
}

// turns returns the agent's turns, oldest first.
func (p *player) turns(ctx context.Context) []turns.Turn {
	list, _, err := orchestrator.Turns(ctx, p.paw, p.session, p.cli)
	if err != nil || len(list) != 1 {
		return nil
	}
	return list[0].Turns
}

// last returns the newest turn, with number 0 for none.
func (p *player) last(ctx context.Context) turns.Turn {
	if turns := p.turns(ctx); len(turns) > 0 {
		return turns[len(turns)-1]
	}
	return turns.Turn{}
}

// send types a prompt, which must arrive.
func (p *player) send(ctx context.Context, prompt string) error {
	within, cancel := context.WithTimeout(ctx, 2*p.patience)
	defer cancel()
	_, err := orchestrator.Send(within, p.paw, p.session, p.cli, prompt, true)
	switch {
	case err != nil && ctx.Err() != nil: // the error of Send is then only about the end of the time
		return failf("the prompt did not get through before the time of the trial was over; %s", p.describe(ctx))
	case err != nil && within.Err() != nil:
		return failf("the prompt did not get through within %s; %s", 2*p.patience, p.describe(ctx))
	case err != nil:
		return failf("send: %w; %s", err, p.describe(ctx))
	}
	return nil
}

// finished waits for the end of a turn after turn n, and returns that turn.
func (p *player) finished(ctx context.Context, n int) (turns.Turn, error) {
	var last turns.Turn
	err := p.await(ctx, "a finished turn with a tag", func() bool {
		last = p.last(ctx)
		return last.Number > n && last.State == turn.Finished && last.Tag != ""
	})
	if err == nil {
		err = p.awaitState(ctx, session.StateIdle)
	}
	return last, err
}

// work sends a prompt and waits for the end of its turn, which must have the next number and that
// prompt.
func (p *player) work(ctx context.Context, prompt string) (turns.Turn, error) {
	before := p.last(ctx).Number
	if err := p.send(ctx, prompt); err != nil {
		return turns.Turn{}, err
	}
	one, err := p.finished(ctx, before)
	_, asked := p.model.Asked(prompt, 0)
	switch {
	case err != nil:
		return one, err
	case one.Number != before+1:
		return one, failf("it is turn %d and not %d", one.Number, before+1)
	case strings.TrimSpace(string(one.Prompt)) != prompt:
		return one, failf("the prompt of turn %d is recorded as %.100q", one.Number, one.Prompt)
	case p.scripted() && !asked:
		return one, errors.New("the model got another prompt than the one that was sent")
	}
	return one, nil
}

// hang begins a turn that writes a file and then hangs, because the model stops in the middle of
// its answer.
func (p *player) hang(ctx context.Context, file string) error {
	prompt := "do: write " + file + " unfinished\ndo: hang"
	if err := p.send(ctx, prompt); err != nil {
		return err
	}
	return p.await(ctx, "a turn that runs", func() bool {
		_, hangs := p.model.Asked(prompt, 1)
		return p.has(file) && (hangs || !p.scripted()) && p.agent(ctx).State == session.StateRunning
	})
}

// has reports whether the agent's worktree contains a file.
func (p *player) has(name string) bool {
	_, err := os.Stat(filepath.Join(p.session.Agent(p.cli).WorktreePath, name))
	return err == nil
}

func (p *player) tmux() *tmux.Client { return tmux.New(p.socket) }

func (p *player) screen(ctx context.Context) string {
	text, err := p.tmux().Capture(ctx, p.agent(ctx).PaneID)
	if err != nil {
		return ""
	}
	return text
}

// screenshot returns the content of the agent's pane, with the cursor's position.
func (p *player) screenshot(ctx context.Context) cli.Screenshot {
	shot, err := p.tmux().Screenshot(ctx, p.agent(ctx).PaneID)
	if err != nil {
		return cli.Screenshot{}
	}
	return cli.Screenshot(shot)
}

// tail returns the end of the agent's pane, history included: a dead pane has the program's last
// lines only there.
func (p *player) tail(ctx context.Context) string {
	text, err := p.tmux().CaptureTail(ctx, p.agent(ctx).PaneID, 20)
	if err != nil {
		return ""
	}
	return text
}

// press presses keys in the agent's pane.
func (p *player) press(ctx context.Context, keys ...string) {
	a := p.agent(ctx)
	_ = p.tmux().Type(ctx, tmux.Program{Pane: a.PaneID, PID: a.PID}, "", keys...) // the caller waits for the effect
}

// recovers reports whether the CLI takes prompts after a failed play. It presses Esc to end an open
// dialog or turn.
func (p *player) recovers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	var pressed time.Time
	for ctx.Err() == nil {
		switch a := p.agent(ctx); {
		case a.PID == 0:
			return false
		case a.State == session.StateIdle, a.State == session.StateError:
			return true
		case time.Since(pressed) > 2*time.Second:
			p.press(ctx, "Escape")
			pressed = time.Now()
		}
		poll.Sleep(ctx, 10*poll.Tick)
	}
	return false
}

// Limit bounds a trial, without its clean-up of a few seconds. It is six times the time of the
// slowest CLI on an idle machine.
const Limit = 6 * time.Minute

// Patience bounds the wait for each condition: on a busy machine the first answer of a CLI can take
// 95 seconds.
const Patience = 2 * time.Minute

// Options says what to try, and how.
type Options struct {
	CLI       string   // one of fakemodel.CLIs, or demo
	Command   []string // configured program of the CLI, nil for the usual one
	Env       []string // environment of the user
	Patience  time.Duration
	Introduce func(orchestrator.CLIInfo) // called once, with the CLI that is tried
	Begin     func(play string)          // called before each play
	End       func(Line)                 // called after each play
	Emergency func(end func())           // called with a function that ends all processes of the trial at once, for a program that is about to exit
}

// Line is the result of one play.
type Line struct {
	Name    string  `json:"name"`
	Result  Result  `json:"result"`
	Text    string  `json:"text"` // description of what was seen
	Seconds float64 `json:"seconds"`
}

// Result is the outcome of a play.
type Result string

// The results of a play.
const (
	OK       Result = "ok"
	Fail     Result = "FAIL"
	Unknown  Result = "unknown"   // paw itself reports the state as unknown
	NotTried Result = "not tried" // an earlier play failed
)

// CLIs returns the names of the CLIs that can be tried.
func CLIs() []string { return append([]string{"demo"}, fakemodel.CLIs...) }

// Run runs all plays and returns a line for each. The error says why there could be no trial, or
// that ctx was done. Run replaces the environment of this process, which must do nothing else.
func Run(ctx context.Context, o Options) (lines []Line, err error) {
	place, err := newPlace(ctx, o.CLI, o.Command, o.Env)
	if err != nil {
		return nil, err
	}
	defer place.remove()
	if o.Emergency != nil {
		o.Emergency(place.remove)
	}
	info, err := orchestrator.CLI(ctx, place.paw, o.CLI) // runs in the scratch environment, since a CLI writes into its HOME even to print its version
	if err != nil {
		return nil, err
	}
	o.Introduce(info)
	within, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	p := &player{place: place, cli: o.CLI, manners: fakemodel.MannersOf[o.CLI], patience: cmp.Or(o.Patience, Patience)}
	lines = p.playAll(within, o)
	return lines, ctx.Err()
}

// playAll runs the plays in order. After a failure later plays may be impossible; stop is always
// run.
func (p *player) playAll(ctx context.Context, o Options) []Line {
	var lines []Line
	usable := true
	for _, one := range plays {
		if ctx.Err() != nil && len(lines) > 0 {
			usable = false
		}
		line := Line{Name: one.name, Result: NotTried, Text: "a play before it failed"}
		if usable || one.always {
			o.Begin(one.name)
			line = p.play(ctx, one)
			if line.Result == Fail {
				usable = !one.vital && p.recovers(ctx)
			}
		}
		o.End(line)
		lines = append(lines, line)
	}
	return lines
}

func (p *player) play(ctx context.Context, one play) Line {
	began := time.Now()
	text, err := one.do(p, ctx)
	line := Line{Name: one.name, Result: OK, Text: text, Seconds: time.Since(began).Round(100 * time.Millisecond).Seconds()}
	if err == nil {
		return line
	}
	line.Result, line.Text = Fail, err.Error()
	var unseen unseenError
	if errors.As(err, &unseen) {
		line.Result = Unknown // paw itself reports the state as unknown
	}
	return line
}
