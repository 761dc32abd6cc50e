package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/orchestrator/children"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/launch"
	"paw/orchestrator/observe"
	"paw/orchestrator/startplan"
	"paw/orchestrator/turns"
	"paw/orchestrator/typing"
	"paw/session"
	"paw/tmux"
)

// ownHands implements hands for a pump in this process.
type ownHands struct {
	*app.App          // App with the configuration of the last look: a check may have taken an hour
	as       *app.App // App at the start of this process
	session  string
	keyboard typing.PaneWriter
	seen     observe.Facts // observation of the last look
	pane     string        // id of the pane of the last timer
	tmuxID   string        // id of that pane's tmux session
}

// Pump does all that is due in the queue of a session, unless another process does. It first waits
// for the process hook to end: the CLI takes no input while its hook runs.
func Pump(ctx context.Context, h *app.App, sessionName string, hook int) error {
	app.AwaitHook(ctx, hook)
	p, _ := newPump(h, sessionName)
	return h.Logged("queue", errors.Join(p.run(ctx), forgetOld(ctx, h, sessionName)))
}

func newPump(h *app.App, sessionName string) (*pump, *ownHands) {
	hands := &ownHands{App: h, as: h, session: sessionName, keyboard: typing.NewPaneWriter(h)}
	return &pump{App: h, session: sessionName, hands: hands, pause: func(ctx context.Context) { poll.Sleep(ctx, soonEvery) }}, hands
}

// Wake starts a process that pumps, if a task is open or anyway is set. The caller is not delayed:
// a CLI waits for its hook, and a user for a command.
func Wake(h *app.App, sessionName string, hook int, anyway bool) {
	if !anyway && !h.Queues().Open(sessionName) {
		return
	}
	h.Detach("queue", "__pump", sessionName, strconv.Itoa(hook))
}

// TaskWith returns the task of the queue for which an agent was made and whose prompt this is, nil for none. Only the queue
// types such a prompt. A task that already runs does not count: the agent has got its prompt.
func TaskWith(h *app.App, sessionName, agentName, prompt string) *session.Task {
	q, err := h.Queues().Load(sessionName)
	if q == nil || err != nil {
		return nil
	}
	for i := range q.Tasks {
		t := &q.Tasks[i]
		if t.Agent == agentName && len(t.CLIs) > 0 && t.Turn == 0 && !unseen(*t) && t.State != session.TaskRunning && t.State != session.TaskDone && t.State != session.TaskDropped && t.What == firstLine(prompt) {
			return t
		}
	}
	return nil
}

// Begins reports whether an agent was made for a task that has begun no turn yet.
func Begins(h *app.App, sessionName, agentName string) bool {
	q, err := h.Queues().Load(sessionName)
	return err == nil && q != nil && slices.ContainsFunc(q.Tasks, func(t session.Task) bool {
		return t.Agent == agentName && len(t.CLIs) > 0 && t.Turn == 0
	})
}

// AwaitsTurn reports whether a task of an agent is held because the queue has not seen its turn
// begin: the beginning of a turn is news for such a queue.
func AwaitsTurn(h *app.App, sessionName, agentName string) bool {
	if !h.Queues().Open(sessionName) {
		return false
	}
	q, err := h.Queues().Load(sessionName)
	return err == nil && awaitsTurn(q, agentName)
}

func awaitsTurn(q *session.Queue, agentName string) bool {
	return q != nil && slices.ContainsFunc(q.Tasks, func(t session.Task) bool { return t.Agent == agentName && unseen(t) })
}

// HoldAll holds the whole queue of a session, if there is one, until the user releases it. An error
// says that the file of the queue cannot be used: then nothing begins in any case.
func HoldAll(ctx context.Context, h *app.App, sessionName, why string) error {
	return holdAll(ctx, h, sessionName, func(q *session.Queue) { holdOpen(q, why) })
}

// HoldStopped is HoldAll for a session that is about to be stopped. It also ends the check that
// the queue runs, and waits for that.
func HoldStopped(ctx context.Context, h *app.App, sessionName string) error {
	err := holdAll(ctx, h, sessionName, func(q *session.Queue) {
		holdOpen(q, "stop")
		for i := range q.Tasks {
			if t := &q.Tasks[i]; t.State == session.TaskRunning && t.Checking {
				t.State, t.Why, t.Checking = session.TaskHeld, session.HeldStopped, false
			}
		}
	})
	pid := 0
	if err != nil || poll.Until(ctx, poll.Tick, checksPatience, func() bool {
		pid = h.Locks.ChecksPID(sessionName)
		return pid == 0
	}) {
		return err
	}
	h.Notef("a check of the queue goes on: %s", errs.Line("kill %d", pid))
	return nil
}

// checksPatience is how long a stopped check may take to end: its processes are killed after five
// seconds.
const checksPatience = 10 * time.Second

func holdAll(ctx context.Context, h *app.App, sessionName string, hold func(*session.Queue)) error {
	if !h.Queues().Open(sessionName) {
		return nil
	}
	_, err := h.Queues().Update(ctx, sessionName, func(q *session.Queue) error {
		hold(q)
		return nil
	})
	return h.RecordError(sessionName, err)
}

func (o *ownHands) look(ctx context.Context, q *session.Queue) (Facts, error) {
	s, h, err := o.as.LoadConfigured(o.session)
	if err != nil {
		return Facts{}, err
	}
	o.App = h
	o.seen, err = Observe(ctx, o.App, s)
	if err == nil && o.closeUnseen(ctx, s, o.seen) {
		o.seen, err = Observe(ctx, o.App, s)
	}
	if err != nil {
		return Facts{}, err
	}
	return gather(ctx, o.App, q, o.seen), nil
}

// closeUnseen closes turns whose end no hook has reported, such as after an error of codex, and
// reports whether there were any.
func (o *ownHands) closeUnseen(ctx context.Context, s *session.Session, seen observe.Facts) (any bool) {
	for _, a := range seen.Agents {
		if seen.Observation(a).EndedUnseen(turns.ListGrace) {
			ended, err := turns.TakeMissed(ctx, o.Agent(s, &a.Record))
			_ = o.Logged("queue", err)
			any = any || ended
		}
	}
	return any
}

func (o *ownHands) text(t session.Task) (string, error) {
	text, err := textOf(o.App, o.session, t)
	if err != nil || t.Kind != session.PromptTask {
		return text, err
	}
	if w := o.seen.Session.Agent(t.Agent); w != nil {
		if c, known := o.CLIs.Get(w.CLI); known {
			err = typable(c, text)
		}
	}
	return text, err
}

// enter types a text to the agent of a task. The agent's turn log tells what came of it.
func (o *ownHands) enter(ctx context.Context, t session.Task, text string, claim func() (session.Task, error)) error {
	s, err := o.Load(o.session)
	if err != nil {
		return err
	}
	w := s.Agent(t.Agent)
	if w == nil {
		return errBusy
	}
	if err := observe.RefuseHalfMoved(ctx, o.App, s, w.Name); err != nil {
		return fmt.Errorf("%w: %s", errBusy, strings.TrimPrefix(firstLine(err.Error()), w.Name+": "))
	}
	unlock, err := typing.Lock(ctx, o.Agent(s, w))
	if err != nil {
		return errBusy // another prompt is being typed
	}
	defer unlock()
	to, err := o.keyboard.Ready(ctx, s, w)
	if err != nil {
		return fmt.Errorf("%w: %s", errBusy, strings.TrimPrefix(firstLine(err.Error()), w.Name+": "))
	}
	claimed, err := claim()
	if err != nil {
		return err
	}
	last, err := o.TurnDir(s.Name, w.Name).Last()
	if err != nil || last != nil && last.Number > claimed.Before {
		return errNotBegun // another prompt was first
	}
	switch arrived, err := o.keyboard.Give(ctx, o.Agent(s, w), to, text, "queue.typed"); {
	case errors.Is(err, typing.ErrNotTyped):
		return errNotBegun
	case err != nil:
		return fmt.Errorf("%s: %w", t.ID, err)
	case !arrived:
		return fmt.Errorf("%s: was typed to %s, but nothing says that it arrived", t.ID, t.Agent)
	}
	return nil
}

func (o *ownHands) start(ctx context.Context, t session.Task, cli, text string) error {
	s, err := o.Load(o.session)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	h, err := o.asUser(s)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	options := startplan.Options{CLIs: []string{t.Agent + "=" + cli}, Base: t.Base, From: o.from(t), Prompt: text, Force: true, Silent: t.From != "" && !t.Brief}
	check := func(agents []session.Agent) error {
		return errors.Join(h.RequireTools(ctx), startplan.RequireCLIs(h, agents, text))
	}
	rec, a, err := startplan.Add(ctx, h, s, options, check, func(rec *session.Session) error {
		if rec.Status == session.StatusStopped {
			return errs.New(errs.Refused, "%s: was stopped", rec.Name)
		}
		return nil
	})
	if taken, ok := errors.AsType[*errs.Error](err); ok && taken.Instead.Of == options.CLIs[0] {
		if free, is := strings.CutSuffix(taken.Instead.By, "="+cli); is {
			if t.Agent, err = free, o.rename(ctx, t.ID, free); err == nil {
				return o.start(ctx, t, cli, text)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	defer a.Making.Release()
	h.Step("queue.started")
	saved, _, err := launch.BringUp(ctx, h, rec, a.Jobs(text), &a.Making)
	if err == nil {
		return nil
	}
	err = launch.UndoAdd(h, saved, a.Plans, err)
	if now, loadErr := o.Load(o.session); loadErr == nil && now.Agent(t.Agent) == nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	return err
}

// from returns where the agent of a task begins, in the form of paw add --from.
func (o *ownHands) from(t session.Task) string {
	q, err := o.Queues().Load(o.session)
	if err != nil || q.Task(t.From) == nil {
		return t.From
	}
	before := q.Task(t.From)
	return fromTurn(before.Agent, before.Turn)
}

// rename gives the agent of a claimed task another name.
func (o *ownHands) rename(ctx context.Context, id, name string) error {
	_, err := o.Queues().Update(ctx, o.session, func(q *session.Queue) error {
		t := q.Task(id)
		if t == nil || t.State != session.TaskRunning {
			return errNoMore
		}
		delete(q.Lanes, t.Agent)
		t.Agent, q.Lanes[name] = name, session.Lane{}
		return nil
	})
	return err
}

// asUser returns App with the user's environment, taken from a running CLI: that of a hook or timer
// differs.
func (o *ownHands) asUser(s *session.Session) (*app.App, error) {
	for i := range s.Agents {
		if env := launch.EnvironmentOf(o.Agent(s, &s.Agents[i])); env != nil {
			return launch.AsAgent(o.Agent(s, &s.Agents[i]))
		}
	}
	return o.App, nil
}

func (o *ownHands) check(ctx context.Context, t session.Task) (string, error) {
	s, err := o.Load(o.session)
	if err != nil {
		return "", err
	}
	_, err = landing.Check(ctx, o.App, s, t.Agent, landing.CheckOptions{Turn: strconv.Itoa(t.Turn), Commands: t.Check})
	var failed *checks.Error
	if !errors.As(err, &failed) {
		return "", err
	}
	return failed.Prompt(), nil
}

const timerName = "queue"

// arm sets a timer in tmux after which paw looks again. Of several chains of timers only the newest
// goes on.
func (o *ownHands) arm(ctx context.Context) (armed bool, err error) {
	s := o.seen.Session
	for _, a := range o.seen.Agents {
		if a.Pane != nil {
			o.pane, o.tmuxID = a.Pane.ID, a.Pane.SessionID
			break
		}
	}
	if s == nil { // before the first look
		if s, err = o.as.Load(o.session); err != nil {
			return false, err
		}
	}
	if o.pane == "" {
		return false, nil // recover pumps when it brings an agent back
	}
	env, mark := children.TimerEnv(o.App), uuid.NewString()
	if pace := o.Getenv(paceVariable); pace != "" {
		env[paceVariable] = pace
	}
	err = o.TmuxFor(s).SetTimer(ctx, o.tmuxID, tmux.Timer{
		Name: timerName, Pane: o.pane, Mark: mark, After: paceOf(o.App).Every, Program: o.Executable, Env: env,
		Words: []string{"__tick", o.session, strings.TrimPrefix(o.tmuxID, "$"), strings.TrimPrefix(o.pane, "%"), mark},
	})
	if err != nil && ctx.Err() == nil {
		o.HookLog().Add("paw", "queue", err)
	}
	if err == nil {
		_ = os.WriteFile(armedPath(o.App, o.session), nil, 0o600) // only paw status reads it
	}
	return err == nil, err
}

func (o *ownHands) disarm(ctx context.Context) {
	if o.pane == "" {
		return
	}
	_ = o.TmuxFor(o.seen.Session).StopTimer(ctx, o.pane, timerName) // otherwise one more tick finds nothing due
}

// armedPath returns the file that is written whenever a timer is set.
func armedPath(h *app.App, sessionName string) string {
	return h.Queues().Folder(sessionName) + "/armed"
}

// Armed reports whether paw is going to look again soon: by a timer, or in a process that has just
// written the queue.
func Armed(h *app.App, sessionName string) bool {
	recent := func(path string, within time.Duration) bool {
		info, err := os.Stat(path)
		return err == nil && time.Since(info.ModTime()) < within
	}
	return recent(armedPath(h, sessionName), 2*paceOf(h).Every+soon) || recent(h.Queues().Folder(sessionName)+"/queue.json", soon)
}

// Tick is the look of a timer in tmux; one of an older chain ends at once. The pane of the timer may
// have been closed.
func Tick(ctx context.Context, h *app.App, sessionName, tmuxSession, pane, mark string) error {
	s, err := h.Load(sessionName)
	if err != nil {
		return app.UnlessGone(err)
	}
	now, err := h.TmuxFor(s).TimerMark(ctx, "%"+pane, timerName)
	p, hands := newPump(h, sessionName)
	switch {
	case err != nil || now == "":
		return h.Logged("queue", p.run(ctx))
	case now != mark:
		return nil
	}
	hands.pane, hands.tmuxID = "%"+pane, "$"+tmuxSession
	return h.Logged("queue", p.tick(ctx))
}
