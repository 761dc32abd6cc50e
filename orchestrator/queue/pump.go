package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/session"
)

// Answers of hands that have done nothing.
var (
	errBusy     = errors.New("it does not take a prompt now")
	errNotBegun = errors.New("nothing was begun")
	errNoMore   = errors.New("it is not due any more")
)

// How long a pump waits for an agent that is about to take a prompt, how long for a tmux that does
// not answer and thus takes no timer, how often it looks, and how many steps it does before it
// leaves the rest to the next pump.
const (
	soon      = 20 * time.Second
	unheard   = 10 * time.Minute
	soonEvery = 200 * time.Millisecond
	mostSteps = 1000
)

// hands do what the queue decides; tests replace them.
type hands interface {
	// look gathers the facts of a queue.
	look(ctx context.Context, q *session.Queue) (Facts, error)
	// enter types a text to the agent of a task, after claim. The error is errBusy or errNotBegun
	// when nothing was typed.
	enter(ctx context.Context, t session.Task, text string, claim func() (session.Task, error)) error
	// start starts the agent of a task with a CLI. The error is errNotBegun when the record does
	// not have the agent.
	start(ctx context.Context, t session.Task, cli, text string) error
	// check runs the check of a task. It returns the prompt for the agent when the check failed, ""
	// when it passed.
	check(ctx context.Context, t session.Task) (failed string, err error)
	// ask asks the server for the checks of the pull request of a task's agent. It returns their commit, and the
	// prompt for the agent when some have failed, "" when all have passed. The error is forge.ErrNotYet when there
	// is no news.
	ask(ctx context.Context, t session.Task) (commit, failed string, err error)
	// text returns the next text to type for a task.
	text(t session.Task) (string, error)
	// tell notifies the user of tasks that are held or have failed.
	tell(tasks []session.Task)
	// arm arranges that paw pumps again later, if tmux has a pane of the session.
	arm(ctx context.Context) (armed bool, err error)
	// disarm undoes arm.
	disarm(ctx context.Context)
}

type pump struct {
	*app.App
	session string
	hands   hands
	busy    map[string]bool // agents that did not take a prompt
	pause   func(ctx context.Context)
	armed   bool // tick has set the next timer
}

// tick is run by a timer. It sets the next timer first, since this process may be killed; rounds
// removes that timer where nothing is due later.
func (p *pump) tick(ctx context.Context) error {
	if !p.Queues().Open(p.session) {
		return nil
	}
	p.armed, _ = p.hands.arm(ctx) // or it is tried again
	return p.run(ctx)
}

// run does all that is due, unless another process does. A process that comes in between makes it
// look once more.
func (p *pump) run(ctx context.Context) error {
	for {
		if err := p.alone(ctx); err != nil {
			return err
		}
		checked, err := p.checkOne(ctx)
		if err == nil && !checked {
			checked, err = p.judgeOne(ctx)
		}
		if err != nil || !checked {
			return err
		}
	}
}

// alone pumps while holding the pump lock. If another process holds the lock, it leaves a mark for
// that process.
func (p *pump) alone(ctx context.Context) error {
	for {
		unlock := p.Locks.Pump(p.session)
		if unlock == nil {
			if err := p.mark(); err != nil {
				return err
			}
			if unlock = p.Locks.Pump(p.session); unlock == nil {
				return nil // the holder of the lock sees the mark
			}
		}
		_ = os.Remove(p.markPath())
		err := p.rounds(ctx)
		unlock()
		if s, unread := p.Store.Load(p.session); s == nil && unread == nil {
			p.Locks.Forget(p.session) // the purge of the session could not delete a lock that was held
		}
		if _, marked := os.Lstat(p.markPath()); err != nil || marked != nil {
			return err
		}
	}
}

// markPath returns the file that asks the holder of the pump lock to look again.
func (p *pump) markPath() string { return filepath.Join(p.Queues().Folder(p.session), "again") }

func (p *pump) mark() error {
	if _, err := os.Lstat(filepath.Dir(p.markPath())); err != nil {
		return nil //nolint:nilerr // there is no queue
	}
	return os.WriteFile(p.markPath(), nil, 0o600)
}

// rounds looks and acts until nothing is due.
func (p *pump) rounds(ctx context.Context) error {
	began, armed := p.Now(), p.armed
	p.busy, p.armed = map[string]bool{}, false
	var unarmed error
	arm := func() { // called before the first act: this process may be killed
		if !armed {
			armed, unarmed = p.hands.arm(ctx)
		}
	}
	for range mostSteps {
		f, steps, err := p.settle(ctx)
		if err != nil || ctx.Err() != nil {
			return err
		}
		acts := slices.IndexFunc(steps, Step.Acts)
		looks := slices.ContainsFunc(steps, func(s Step) bool { return s.Do == StepLook })
		due := slices.ContainsFunc(steps, func(s Step) bool { return s.Do == StepArm })
		waited, patience := p.Now().Sub(began), soon
		if f.Down == session.ReasonTmuxSilent {
			patience = unheard
		}
		switch {
		case acts >= 0:
			arm()
			if err := p.act(ctx, steps[acts], f); err != nil {
				return err
			}
			continue
		case due && f.Down != session.ReasonTmuxSilent:
			arm()
		case !due:
			if armed {
				p.hands.disarm(ctx)
			}
			armed, unarmed = false, nil
		}
		if !looks && unarmed == nil || waited >= patience {
			return nil
		}
		clear(p.busy)
		p.pause(ctx)
	}
	return nil
}

// act does one step that must be done at most once.
func (p *pump) act(ctx context.Context, s Step, f Facts) error {
	var was session.Task
	claim := func() (session.Task, error) {
		q, err := p.Queues().Update(ctx, p.session, func(q *session.Queue) error {
			next, steps := Next(q, f, p.Now())
			if !slices.Contains(steps, s) {
				return errNoMore
			}
			*q = *next
			was = *q.Task(s.ID)
			Claim(q, s, f, p.Now())
			return nil
		})
		if err != nil {
			return session.Task{}, err
		}
		p.Step("queue.claimed")
		return *q.Task(s.ID), nil
	}
	if s.Do == StepPrompt || s.Do == StepContinue {
		return p.enter(ctx, s, claim, &was)
	}
	return p.start(ctx, s, claim, &was)
}

// enter types the text of a task to its agent.
func (p *pump) enter(ctx context.Context, s Step, claim func() (session.Task, error), was *session.Task) error {
	q, err := p.Queues().Load(p.session)
	if err != nil || q.Task(s.ID) == nil {
		return err
	}
	text, err := p.hands.text(*q.Task(s.ID))
	if err != nil {
		return p.keep(ctx, s.ID, err)
	}
	err = p.hands.enter(ctx, *q.Task(s.ID), text, claim)
	switch {
	case errors.Is(err, errNoMore):
		return nil
	case errors.Is(err, errBusy):
		p.busy[s.Agent] = true
		return p.refused(ctx, s.ID, strings.TrimPrefix(strings.TrimPrefix(err.Error(), errBusy.Error()), ": "))
	case errors.Is(err, errNotBegun):
		p.busy[s.Agent] = true
		return p.takeBack(ctx, *was)
	}
	return p.note(err)
}

func (p *pump) start(ctx context.Context, s Step, claim func() (session.Task, error), was *session.Task) error {
	t, err := claim()
	if errors.Is(err, errNoMore) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := p.hands.text(t)
	if err == nil {
		err = p.hands.start(ctx, t, s.CLI, text)
	} else {
		err = fmt.Errorf("%w: %w", errNotBegun, err)
	}
	if !errors.Is(err, errNotBegun) {
		return p.note(err)
	}
	if backErr := p.takeBack(ctx, *was); backErr != nil || errors.Is(err, observe.ErrFull) { // another start was first: the task waits
		return backErr
	}
	return p.keep(ctx, s.ID, err)
}

// refused records why the agent of a waiting task takes no prompt, and since when.
func (p *pump) refused(ctx context.Context, id, why string) error {
	q, err := p.Queues().Load(p.session)
	if err != nil || why == "" || q.Task(id) == nil || q.Task(id).Refused == why {
		return err
	}
	_, err = p.Queues().Update(ctx, p.session, func(q *session.Queue) error {
		if t := q.Task(id); t != nil && t.State == session.TaskWaiting {
			if t.Refused = why; t.RefusedAt.IsZero() {
				t.RefusedAt = p.Now().UTC()
			}
		}
		return nil
	})
	return err
}

// takeBack makes a claimed task wait again, if certainly nothing was done for it.
func (p *pump) takeBack(ctx context.Context, was session.Task) error {
	_, err := p.Queues().Update(ctx, p.session, func(q *session.Queue) error {
		TakeBack(q, was)
		return nil
	})
	return err
}

// keep holds a task that cannot begin, with the reason.
func (p *pump) keep(ctx context.Context, id string, why error) error {
	_, err := p.Queues().Update(ctx, p.session, func(q *session.Queue) error {
		if t := q.Task(id); t != nil && t.State == session.TaskWaiting {
			t.State, t.Why = session.TaskHeld, firstLine(strings.TrimPrefix(why.Error(), errNotBegun.Error()+": "))
		}
		return nil
	})
	return err
}

// note logs an error that no user can be told of: the agent shows what became of the task.
func (p *pump) note(err error) error {
	if err != nil {
		p.HookLog().Add("paw", "queue", err)
	}
	return nil
}
