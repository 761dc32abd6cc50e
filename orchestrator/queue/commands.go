package queue

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/forge"
	"paw/orchestrator/observe"
	"paw/orchestrator/startplan"
	"paw/session"
	"paw/session/turn"
)

// List is the queue of a session as the user sees it.
type List struct {
	Session     string
	Held        string // why nothing begins at all, "" if nothing holds the queue
	Down        string // why nothing can begin in the session, "" if something can
	Max, Starts int
	Made        int // number of starts and prompts so far
	Tasks       []session.Task
	Races       []session.Race
	Steps       []Step // next steps of the queue
	Next        time.Time
	Armed       bool
}

// Counts counts the running, waiting and held tasks.
func (l *List) Counts() (runs, waits, held int) {
	for _, t := range l.Tasks {
		switch t.State {
		case session.TaskRunning:
			runs++
		case session.TaskWaiting:
			waits++
		case session.TaskHeld:
			held++
		case session.TaskDone, session.TaskFailed, session.TaskDropped:
		}
	}
	return runs, waits, held
}

// Look returns the queue of an observed session, nil where it never had one. It changes nothing.
func Look(ctx context.Context, h *app.App, seen observe.Facts) (*List, error) {
	s := seen.Session
	q, err := h.Queues().Load(s.Name)
	if q == nil || err != nil {
		return nil, h.RecordError(s.Name, err)
	}
	if h, err = h.ConfiguredFor(s); err != nil {
		return nil, err
	}
	f := gather(ctx, h, q, seen)
	f.Looking = true
	d := decide(q, f, h.Now())
	list := &List{
		Session: s.Name, Held: q.Held, Down: f.Down, Max: d.max(), Starts: d.startsMax(), Made: q.Starts, Steps: d.steps, Armed: Armed(h, s.Name), Tasks: d.shown(), Races: q.Races,
	}
	for _, step := range d.steps {
		if step.Do == StepArm {
			list.Next = step.Until
		}
	}
	return list, nil
}

// NeedsArm reports whether the queue needs a timer and has none.
func (l *List) NeedsArm() bool {
	return !l.Armed && slices.ContainsFunc(l.Steps, func(s Step) bool { return s.Do == StepArm })
}

// Enqueue adds tasks to the queue of a session, all or none, and returns these tasks with their
// ids, and what holds the queue. With a race, which may be nil, they are its agents. A dry run writes nothing.
func Enqueue(ctx context.Context, h *app.App, s *session.Session, tasks []New, most int, race *session.Race, dryRun bool) (*List, error) {
	h, err := h.ConfiguredFor(s)
	if err != nil {
		return nil, err
	}
	if err := possible(ctx, h, s, tasks); err != nil {
		return nil, err
	}
	q, f, err := lookAt(ctx, h, s)
	if err != nil {
		return nil, err
	}
	all := make([]session.Task, len(tasks))
	for i, t := range tasks {
		all[i] = t.Task
		all[i].What, all[i].Sum = firstLine(turn.Prompt(t.Prompt).Words()), session.SumOf(t.Prompt)
		if t.On != "" {
			all[i].Commit = forge.LastRed(h, s, t.Agent)
		}
	}
	list := &List{Session: s.Name, Down: f.Down, Tasks: all}
	add := func(now *session.Queue) error {
		catchUp(now, f, h.Now())
		now.Last = max(now.Last, h.Queues().HighestText(s.Name)) // no prompt is overwritten
		list.Held = now.Held
		return located(tasks, Add(now, all, func(agent string) int { return seenOf(h, s, f, agent) }))
	}
	if dryRun {
		return list, add(q)
	}
	_, err = h.Queues().Update(ctx, s.Name, func(now *session.Queue) error {
		if err := add(now); err != nil {
			return err
		}
		if most > 0 {
			now.Max = most
		}
		if race != nil {
			now.Races = append(now.Races, *race)
		}
		for i := range all {
			if err := h.Queues().KeepText(s.Name, all[i].ID, session.TextPrompt, tasks[i].Prompt); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, h.RecordError(s.Name, err)
	}
	Wake(h, s.Name, 0, false)
	if err := forgetOld(ctx, h, s.Name); err != nil { // the tasks are added all the same
		h.Notef("%s: old tasks were not forgotten: %v", s.Name, err)
	}
	return list, nil
}

// lookAt returns the queue of a session, and the facts that a command changes it by.
func lookAt(ctx context.Context, h *app.App, s *session.Session) (*session.Queue, Facts, error) {
	q, err := h.Queues().Load(s.Name)
	if err != nil {
		return nil, Facts{}, h.RecordError(s.Name, err)
	}
	if q == nil {
		q = (&session.Queue{Session: s.Name}).Clone()
	}
	seen, err := Observe(ctx, h, s)
	if err != nil {
		return nil, Facts{}, err
	}
	f := gather(ctx, h, q, seen)
	f.Looking = true
	return q, f, nil
}

// catchUp brings a queue to what paw queue shows of it, which no pump may have written down yet:
// commands count from there.
func catchUp(q *session.Queue, f Facts, now time.Time) {
	next, _ := Next(q, f, now)
	*q = *next
}

// seenOf returns the number of an agent's last turn, counting prompts that were typed and have not
// begun a turn yet.
func seenOf(h *app.App, s *session.Session, f Facts, agent string) int {
	seen := len(h.Texts().QueuedPrompts(s.Name, agent)) + h.Texts().Unbegun(s.Name, agent)
	last, err := h.TurnDir(s.Name, agent).Last()
	if err != nil || last == nil {
		if f.Agents[agent].Status.Cause == session.CausePrompted {
			seen++
		}
		return seen
	}
	return seen + last.Number
}

// possible refuses tasks that could never begin, before anything is written.
func possible(ctx context.Context, h *app.App, s *session.Session, tasks []New) error {
	for i := range tasks {
		if err := possibleOne(h, s, tasks, &tasks[i]); err != nil {
			return located(tasks, &taskError{i, err})
		}
	}
	return ctx.Err()
}

// possibleOne is possible for one of the tasks.
func possibleOne(h *app.App, s *session.Session, tasks []New, t *New) error {
	if err := t.fault(); err != nil {
		return errs.New(errs.Usage, "%w", err)
	}
	names := t.CLIs
	if t.Kind == session.PromptTask {
		w, err := app.AgentNamed(s, t.Agent)
		if err != nil {
			return err
		}
		if names = []string{w.CLI}; t.On != "" && w.PullRequest == "" {
			return forge.NoPull(s.Name + "/" + w.Name)
		}
	} else if len(names) == 0 {
		t.CLIs = []string{h.Config.DefaultCLI}
		names = t.CLIs
	}
	missing := 0
	for _, name := range names {
		c, known := h.CLIs.Get(name)
		if !known {
			if agent, program, named := strings.Cut(name, "="); named {
				e := errs.New(errs.Usage, "%s: a task takes a CLI alone; its id names the agent, as by --id %s", name, agent)
				e.Instead = errs.Instead{Of: name, By: program}
				return e.Hint("paw queue add --help")
			}
			if _, err := startplan.Agents([]string{name}, nil, h.CLIs, nil); err != nil {
				return err
			}
			return errs.New(errs.Usage, "%s: no such CLI", errs.Quote(name)).Hint("paw clis")
		}
		if c.Facts().Unseen {
			return errs.New(errs.Usage, "%s: paw does not see when its turns end, so nothing can wait for that", name).Hint("paw clis")
		}
		executable, err := h.Program(c)
		if err != nil {
			if missing++; missing == len(names) && t.Kind == session.AgentTask {
				return err
			}
		}
		if err := takes(h, c, executable, t); err != nil {
			return errs.New(errs.Usage, "%w", err)
		}
	}
	if agent, _, _ := strings.Cut(t.From, "@"); t.From != "" && s.Agent(agent) == nil && !inPlan(h, s, tasks, t.From) {
		return errs.New(errs.Usage, "%s: neither an agent of %s nor a task of its queue", t.From, s.Name).Hint("paw queue %s", s.Name)
	}
	return nil
}

// takes returns the error of a CLI that takes the prompt of a task for a command of its own.
func takes(h *app.App, c cli.CLI, executable string, t *New) error {
	if t.Kind == session.AgentTask {
		_, err := c.Launch(h.Specs().Draft(c, executable, t.Prompt))
		var refused *cli.PromptError
		if err == nil || !errors.As(err, &refused) || !refused.Send {
			return err
		}
	}
	return typable(c, t.Prompt)
}

// inPlan reports whether an id belongs to a task of the queue or of tasks.
func inPlan(h *app.App, s *session.Session, tasks []New, id string) bool {
	q, err := h.Queues().Load(s.Name)
	return err == nil && q != nil && q.Task(id) != nil || slices.ContainsFunc(tasks, func(t New) bool { return t.ID == id })
}

// Change is the effect of a command on tasks of a queue.
type Change string

// The changes.
const (
	ChangeHold  Change = "hold"
	ChangeGo    Change = "go"
	ChangeRetry Change = "retry"
	ChangeDrop  Change = "drop"
)

// Forget takes all tasks out of the list of a session's queue that are over, unless unfinished ones
// come after them, with their prompts, and returns their ids.
func Forget(ctx context.Context, h *app.App, s *session.Session) (gone []string, err error) {
	return drop(ctx, h, s.Name, everyOne)
}

// forgetOld is Forget for tasks that are over since more days than the configuration keeps.
func forgetOld(ctx context.Context, h *app.App, sessionName string) error {
	before := h.Now().AddDate(0, 0, -h.Config.Queue.KeepDays)
	_, err := drop(ctx, h, sessionName, func(t session.Task) bool { return !t.Over.IsZero() && t.Over.Before(before) })
	return err
}

// drop takes tasks that are over, and for which old holds, out of the list with their prompts.
func drop(ctx context.Context, h *app.App, sessionName string, old func(session.Task) bool) (gone []string, err error) {
	q, err := h.Queues().Load(sessionName)
	if q == nil || err != nil {
		return nil, h.RecordError(sessionName, err)
	}
	if !slices.ContainsFunc(q.Tasks, func(t session.Task) bool { return t.State.Over() && old(t) }) {
		return nil, nil
	}
	_, err = h.Queues().Update(ctx, sessionName, func(q *session.Queue) error {
		gone = forgetSome(q, len(q.Tasks), old)
		return nil
	})
	if err != nil {
		return nil, h.RecordError(sessionName, err)
	}
	return gone, h.Queues().DropTexts(sessionName, gone)
}

// Apply makes a change to tasks of a session's queue; no ids means all tasks, where that makes
// sense. It returns a line for each task that stays as it is.
func Apply(ctx context.Context, h *app.App, s *session.Session, do Change, ids []string, starts int) (said []string, err error) {
	of := func(agent string) (cli string, turn int) {
		if w := s.Agent(agent); w != nil {
			return w.CLI, seenOf(h, s, Facts{}, agent)
		}
		return "", 0
	}
	if h, err = h.ConfiguredFor(s); err != nil {
		return nil, err
	}
	_, f, err := lookAt(ctx, h, s)
	if err != nil {
		return nil, err
	}
	_, err = h.Queues().Update(ctx, s.Name, func(q *session.Queue) error {
		catchUp(q, f, h.Now())
		if err := Named(q, ids); err != nil {
			return err
		}
		if starts > 0 {
			if starts <= q.Starts {
				return errs.New(errs.Usage, "--starts %d: there were %d already", starts, q.Starts)
			}
			q.StartsMax = starts
		}
		switch do {
		case ChangeHold:
			said = Hold(q, ids)
		case ChangeGo:
			held, before := q.Held, decide(q, f, h.Now()).shown()
			said = append(Go(q, ids, of), stillHeld(q, ids, f, h.Now())...)
			if after := decide(q, f, h.Now()).shown(); len(said) == 0 && starts == 0 && held == q.Held && reflect.DeepEqual(before, after) {
				said = []string{"nothing was held"}
			}
		case ChangeRetry:
			again := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return q.Task(id).State == session.TaskWaiting })
			said = Retry(q, ids, of, decide(q, f, h.Now()).seen)
			if len(again) > 0 { // of the others it is said why they were not begun again
				said = append(said, stillHeld(q, again, f, h.Now())...)
			}
		case ChangeDrop:
			if len(ids) == 0 {
				for _, t := range q.Tasks {
					if !t.State.Over() {
						ids = append(ids, t.ID)
					}
				}
			}
			said = Drop(q, ids)
		}
		return nil
	})
	if err != nil {
		return nil, h.RecordError(s.Name, err)
	}
	Wake(h, s.Name, 0, false)
	return said, nil
}

// withCure returns why a task is held, with the command that its agent needs.
func withCure(sessionName string, t session.Task) string {
	if t.Why == notRunning {
		return t.Why + "; " + errs.Line("paw recover %s/%s", sessionName, t.Agent)
	}
	if strings.HasPrefix(t.Why, heldFrom) {
		return t.Why + "; " + errs.Line("paw seen %s/%s", sessionName, t.From)
	}
	return t.Why
}

// stillHeld returns a line for each task that was let go (no ids means all) and is held
// nevertheless, because its agent does not run.
func stillHeld(q *session.Queue, ids []string, f Facts, now time.Time) (said []string) {
	d := decide(q, f, now)
	for i, before := range q.Tasks {
		after := d.seen(d.q.Tasks[i])
		if (len(ids) == 0 || slices.Contains(ids, before.ID)) && before.State == session.TaskWaiting && after.State == session.TaskHeld && after.Why != session.HeldYou {
			said = append(said, fmt.Sprintf("%s: is held: %s", before.ID, withCure(q.Session, after)))
		}
	}
	return said
}

// tell starts a process that notifies the user of held tasks, if the configuration asks for it, so
// that the queue can go on.
