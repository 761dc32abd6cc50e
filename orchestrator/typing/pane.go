package typing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/tmux"
)

// passPatience is how long a sender that has typed something waits for its pane to take keys again: the user may read back
// in it, or choose in a tree.
const passPatience = 10 * time.Second

// Why there is nobody to type to: the launcher of the CLI is on its way, or nothing is.
var (
	errStarting   = errors.New("starting")
	errNotRunning = errors.New("not running")
)

// ErrNotTyped says for certain that nothing was typed.
var ErrNotTyped = errors.New("nothing was typed")

// find looks the agent up, as it is now, with its state, and notes the process that is typed to: the one that took the
// agent's lock. What else lives in its pane is nobody to type to. A server that lost its socket is asked for a new one.
func (t *sender) find(ctx context.Context) (*observe.Agent, session.AgentStatus, error) {
	only := *t.s
	only.Agents = []session.Agent{*t.w}
	f, err := observe.Revived(ctx, t.app, &only)
	if err != nil {
		return nil, session.AgentStatus{}, err
	}
	t.found = f
	return t.runs(f)
}

// recall is the agent as files and locks tell of it now, in the pane that find found.
func (t *sender) recall(ctx context.Context) (session.AgentStatus, error) {
	panes := observe.Panes{Server: t.found.Server, Err: t.found.TmuxErr}
	if a := t.found.Agent(t.w.Name); a != nil && a.Pane != nil {
		panes.Panes = []tmux.Pane{*a.Pane}
	}
	same := func(context.Context, *session.Session) observe.Panes { return panes }
	f, err := observe.With(ctx, t.app, t.found.Session, same, observe.NotAtScreens)
	if err != nil {
		return session.AgentStatus{}, err
	}
	_, state, err := t.runs(f)
	return state, err
}

// runs is the agent of an observation, if it runs in a pane.
func (t *sender) runs(f observe.Facts) (*observe.Agent, session.AgentStatus, error) {
	a := f.Agent(t.w.Name)
	switch f.Running(*a) {
	case live.InPane:
	case live.Starting:
		return nil, session.AgentStatus{}, t.starting()
	case live.NothingRuns:
		return nil, session.AgentStatus{}, t.notRunning()
	default:
		return nil, session.AgentStatus{}, cmp.Or(observe.RefuseSilent(f, []string{t.w.Name}), observe.RefuseRunning(t.app, t.s, f, *a), error(t.notRunning()))
	}
	t.program = tmux.Program{Pane: a.Pane.ID, PID: cmp.Or(a.Lock.Holder.PID, a.Lock.PID())}
	return a, f.State(*a), nil
}

// see is what the pane shows, as far as it is known of the CLI. The error is a *tmux.ClosedError, beside the screen, when the
// pane takes no keys.
func (t *sender) see(ctx context.Context) (cli.Screen, error) {
	shot, err := t.client.Look(ctx, t.program)
	if shot.Height == 0 {
		return cli.Screen{}, app.TmuxError(err)
	}
	t.rows, t.columns, t.screen = shot.Height, shot.Width, cli.Screen{}
	if t.ready.Box {
		t.screen = t.cli.Screen(cli.Screenshot(shot))
	}
	return t.screen, app.TmuxError(err)
}

// strike types; everything that is typed to an agent comes by here. The error of one who has typed nothing before, and
// now, is ErrNotTyped.
func (t *sender) strike(ctx context.Context, text string, keys ...string) error {
	err := t.client.Type(context.WithoutCancel(ctx), t.program, text, keys...)
	if errors.Is(err, tmux.ErrNoServer) {
		return fmt.Errorf("%w: %w", ErrNotTyped, err)
	}
	return app.TmuxError(err)
}

// awaitOpen calls do until the pane takes keys, for some time. It is for what has to follow what was typed already.
func (t *sender) awaitOpen(ctx context.Context, do func() error) error {
	for end := t.app.Now().Add(passPatience); ; poll.Sleep(ctx, 100*time.Millisecond) {
		err := do()
		var closed *tmux.ClosedError
		if !errors.As(err, &closed) || !closed.Passing() || t.app.Now().After(end) {
			return err
		}
	}
}

// closed is why the pane of the agent takes no keys, in words, and the command that changes that.
func (t *sender) closed(e *tmux.ClosedError) (why, hint string) {
	pane := "-t " + errs.Quote(e.Program.Pane)
	ask := func(command string) string {
		return fmt.Sprintf("tmux -S %s %s", errs.Quote(t.s.Tmux.Socket), command)
	}
	switch e.Cause {
	case tmux.InMode:
		return fmt.Sprintf("its pane is in %s, which takes the keys", strings.ReplaceAll(e.Mode, "-", " ")), ask("copy-mode -q " + pane) // ends all modes
	case tmux.Synchronized:
		return "its pane is synchronized with others of its window, which would get the keys too", ask("set-option -p " + pane + " synchronize-panes off")
	case tmux.InputOff:
		return "the input of its pane is switched off", ask("select-pane -e " + pane)
	case tmux.OtherProgram:
		return fmt.Sprintf("its pane runs pid %d, which is not its CLI", e.PID), ""
	case tmux.ProgramEnded:
		return "its CLI has ended", "paw recover " + t.s.Name
	default:
		return "its pane is gone", "paw recover " + t.s.Name
	}
}

// shut refuses to type into a pane that takes no keys: nothing was typed so far.
func (t *sender) shut(err error) error {
	var closed *tmux.ClosedError
	if !errors.As(err, &closed) {
		return err
	}
	why, hint := t.closed(closed)
	e := t.refusal("%s", why)
	switch {
	case closed.Passing():
		e.Hints = append([]string{hint}, e.Hints...)
	case closed.Cause == tmux.OtherProgram:
		e.Kind = errs.Locked
	default:
		e = t.notRunning()
	}
	e.Err = fmt.Errorf("%w: %w", ErrNotTyped, err)
	return e
}

// stuck is the error of a sender that has typed what the message says, in a pane that takes no keys since.
func (t *sender) stuck(err error, typed string) error {
	var closed *tmux.ClosedError
	if !errors.As(err, &closed) {
		return err
	}
	why, hint := t.closed(closed)
	e := t.unconfirmed("%s: %s", typed, why)
	if hint != "" {
		e.Hints = append([]string{hint}, e.Hints...)
	}
	return e
}
