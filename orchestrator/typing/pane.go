package typing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/tmux"
)

// passPatience is how long a sender that has typed something waits for its pane to take keys again:
// the user may be in copy mode or choose-tree.
const passPatience = 10 * time.Second

// ErrNotTyped means that certainly nothing was typed.
var ErrNotTyped = errors.New("nothing was typed")

// find observes the agent and notes the process to type to: the one in the pane, which is of the launch
// that holds the agent's lock. A tmux server that lost its socket is asked to make a new one.
func (t *sender) find(ctx context.Context) (*observe.Agent, session.AgentStatus, error) {
	only := *t.Session
	only.Agents = []session.Agent{*t.Record}
	f, err := observe.Revived(ctx, t.App, &only)
	if err != nil {
		return nil, session.AgentStatus{}, err
	}
	t.found = f
	return t.runs(ctx, f)
}

// recall observes the agent again from files and locks, in the pane that find found.
func (t *sender) recall(ctx context.Context) (session.AgentStatus, error) {
	panes := observe.Panes{Server: t.found.Server, Err: t.found.TmuxErr}
	if a := t.found.Agent(t.Record.Name); a != nil && a.Pane != nil {
		panes.Panes = []tmux.Pane{*a.Pane}
	}
	same := func(context.Context, *session.Session) observe.Panes { return panes }
	f, err := observe.With(ctx, t.App, t.found.Session, same, observe.NotAtScreens)
	if err != nil {
		return session.AgentStatus{}, err
	}
	_, state, err := t.runs(ctx, f)
	return state, err
}

// runs returns the observed agent and its state, or an error if it does not run in a pane. Whether a
// question was answered is read from the screen where only the screen tells.
func (t *sender) runs(ctx context.Context, f observe.Facts) (*observe.Agent, session.AgentStatus, error) {
	a := f.Agent(t.Record.Name)
	switch f.Running(*a) {
	case live.InPane:
		if a.Turns.SetUp != "" {
			// What is typed would go to the set-up command.
			return nil, session.AgentStatus{}, t.refusalFor(errSettingUp, "its worktree is being set up: %s", a.Turns.SetUp)
		}
	case live.Headless:
		if state := f.State(*a); t.answers && state.State == session.StateWaitingInput {
			t.headless = true
			return a, state, nil
		}
		return nil, session.AgentStatus{}, observe.RefuseRunning(t.App, t.Session, f, *a)
	case live.Starting:
		return nil, session.AgentStatus{}, t.refusalFor(errStarting, "its CLI is starting")
	case live.NothingRuns:
		return nil, session.AgentStatus{}, t.notRunning()
	default:
		return nil, session.AgentStatus{}, cmp.Or(observe.RefuseSilent(f, []string{t.Record.Name}), observe.RefuseRunning(t.App, t.Session, f, *a), error(t.notRunning()))
	}
	t.program = tmux.Program{Pane: a.Pane.ID, PID: a.Pane.PID}
	if f.Observation(*a).AnswerUnseen() {
		observe.LookAtScreens(ctx, t.App, []*observe.Facts{&f}, observe.WhereUnknown)
	}
	return a, f.State(*a), nil
}

// see reads the CLI's screen. Beside the screen it returns a *tmux.ClosedError when the pane takes
// no keys.
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

// strike types into the pane; every text and key for an agent passes here. The error is ErrNotTyped
// where no tmux server was reached.
func (t *sender) strike(ctx context.Context, text string, keys ...string) error {
	err := t.client.Type(context.WithoutCancel(ctx), t.program, text, keys...)
	if errors.Is(err, tmux.ErrNoServer) {
		return fmt.Errorf("%w: %w", ErrNotTyped, err)
	}
	return app.TmuxError(err)
}

// awaitOpen repeats do, for up to passPatience, while the pane takes no keys. It is used for keys
// that must follow a typed text.
func (t *sender) awaitOpen(ctx context.Context, do func() error) error {
	for end := t.App.Now().Add(passPatience); ; poll.Sleep(ctx, 10*poll.Tick) {
		err := do()
		var closed *tmux.ClosedError
		if !errors.As(err, &closed) || !closed.Passing() || t.App.Now().After(end) {
			return err
		}
	}
}

// closed says why the pane takes no keys, and which command changes that.
func (t *sender) closed(e *tmux.ClosedError) (why, hint string) {
	pane := "-t " + errs.Quote(e.Program.Pane)
	ask := func(command string) string {
		return fmt.Sprintf("tmux -S %s %s", errs.Quote(t.Session.Tmux.Socket), command)
	}
	switch e.Cause {
	case tmux.InMode:
		return fmt.Sprintf("its pane is in %s, which takes the keys", strings.ReplaceAll(e.Mode, "-", " ")), ask("copy-mode -q " + pane) // ends all modes
	case tmux.Synchronized:
		return "its pane is synchronized with others of its window, which would get the keys too", ask("set-option -p " + pane + " synchronize-panes off")
	case tmux.InputOff:
		return "the input of its pane is switched off", ask("select-pane -e " + pane)
	case tmux.OtherProgram:
		return fmt.Sprintf("its pane runs something else than its CLI (pid %d)", e.PID), ""
	case tmux.ProgramEnded:
		return "its CLI has ended", "paw recover " + t.Session.Name + "/" + t.Record.Name
	default:
		return "its pane is gone", "paw recover " + t.Session.Name + "/" + t.Record.Name
	}
}

// shut returns the error for a pane that takes no keys, when nothing was typed yet.
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

// stuck returns a better error for what failed after something was typed, if the agent was stopped
// since or its pane takes no keys. so says how far the prompt has come.
func (t *sender) stuck(ctx context.Context, err error, so string) error {
	if err == nil {
		return nil
	}
	if _, _, now := t.find(ctx); errors.Is(now, errNotRunning) {
		e := t.unconfirmed("%s: it is stopped", so)
		e.Hints = errs.HintsOf(now)
		return e
	}
	var closed *tmux.ClosedError
	if !errors.As(err, &closed) {
		return err
	}
	why, hint := t.closed(closed)
	e := t.unconfirmed("%s: %s", so, why)
	if hint != "" {
		e.Hints = append([]string{hint}, e.Hints...)
	}
	return e
}

// putBack reports whether the text in the box is the prompt of the last turn, or the one that paw
// typed last and that never arrived. Some CLIs put a prompt back when it is interrupted before the
// first word of the answer; codex puts one back that came before it had drawn the end of the turn
// before.
func (t *sender) putBack(a *observe.Agent, draft string) bool {
	if len(t.ready.Clear) == 0 || draft == "" {
		return false
	}
	last := a.Turns.Last
	return t.ofPaw(draft) || last != nil && squeezed(draft) == squeezed(t.cli.Canonical(string(last.Prompt)))
}

// ofPaw reports whether a text is the prompt that paw typed last, if that has not arrived.
func (t *sender) ofPaw(draft string) bool {
	last := t.lastTyped().Prompt
	return last != "" && t.madeOf(draft, last)
}

// ownWords reports whether a text consists of the prompt and the one that paw typed last: a CLI
// that hung shows at once all that was typed meanwhile.
func (t *sender) ownWords(draft string) bool {
	return t.holds(draft) && t.madeOf(draft, t.before.prompt, t.lastTyped().Prompt)
}

// madeOf reports whether a text consists of these prompts, each any number of times.
func (t *sender) madeOf(draft string, prompts ...string) bool {
	rest := squeezed(t.cli.Canonical(draft))
	found := false
	for _, one := range prompts {
		if one = squeezed(one); one != "" {
			found = found || strings.Contains(rest, one)
			rest = strings.ReplaceAll(rest, one, "")
		}
	}
	return found && rest == ""
}

// clear empties the box and returns what the screen shows then. It presses a few keys at a time, once
// those before are read: a CLI takes many keys at once for a paste.
func (t *sender) clear(ctx context.Context) (cli.Screen, error) {
	keys := slices.Repeat(t.ready.Clear, 8)
	for end := t.App.Now().Add(clearPatience); !t.isEmpty(ctx) && t.App.Now().Before(end) && ctx.Err() == nil; {
		if t.program.HasRead() {
			if err := t.strike(ctx, "", keys...); err != nil {
				return cli.Screen{}, t.shut(err)
			}
		}
		poll.Sleep(ctx, 10*poll.Tick)
	}
	box, err := t.see(ctx)
	if err == nil && box.Box == cli.BoxEmpty {
		t.last = &earlier{} // the earlier prompt will not arrive any more
		t.settled()
	}
	return box, err
}

// notAlone reports whether the box has the prompt and more. A text without the prompt is a
// placeholder or a part of the prompt.
func (t *sender) notAlone(draft string) bool {
	return t.holds(draft) && squeezed(t.cli.Canonical(draft)) != squeezed(t.before.prompt)
}

// holds reports whether a text contains the prompt.
func (t *sender) holds(text string) bool {
	return strings.Contains(squeezed(t.cli.Canonical(text)), squeezed(t.before.prompt))
}

// isEmpty reports whether the screen shows an empty box; always false for a CLI whose box paw
// cannot read.
func (t *sender) isEmpty(ctx context.Context) bool {
	box, err := t.see(ctx)
	return err == nil && box.Box == cli.BoxEmpty
}

// squeezed removes all blanks: a screen does not tell a line that was too long from one that ended.
func squeezed(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// earlierAge is how long a prompt that has not arrived may still do so: a CLI that hung goes on
// with what was typed.
const earlierAge = 10 * time.Minute

// earlierPath returns the file in which a sender leaves its prompt for the next sender.
func earlierPath(h *app.App, session, agent string) string {
	return filepath.Join(h.StateDir(session, agent), "unconfirmed.json")
}

// lastTyped returns the prompt that the last sender left, unless it has arrived since. It is read
// only once.
func (t *sender) lastTyped() earlier {
	if t.last != nil {
		return *t.last
	}
	t.last = &earlier{}
	if e := noteOf(t.Agent); t.App.Now().Sub(e.At) <= earlierAge {
		if since, _ := t.TurnDir().After(e.Turn); !e.begun(since, t.cli.Canonical) {
			t.last = &e
		}
	}
	return *t.last
}

// noteOf reads the note of the last sender to an agent, zero for none.
func noteOf(a app.Agent) (e earlier) {
	if text, err := os.ReadFile(earlierPath(a.App, a.Session.Name, a.Record.Name)); err == nil {
		_ = json.Unmarshal(text, &e)
	}
	return e
}

// leave leaves a note for the next sender about the prompt that is about to be typed; settled
// deletes the note.
func (t *sender) leave() {
	t.keep(earlier{Prompt: t.before.prompt, Turn: t.before.number, At: t.App.Now(), Unread: t.unknown() && t.program.ReadsLines()})
}

func (t *sender) keep(e earlier) {
	if text, err := json.Marshal(e); err == nil {
		_ = app.WritePrivate(earlierPath(t.App, t.Session.Name, t.Record.Name), text)
	}
}

func (t *sender) settled() { _ = os.Remove(earlierPath(t.App, t.Session.Name, t.Record.Name)) }
