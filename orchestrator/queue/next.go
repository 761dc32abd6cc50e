// Package queue moves on the prompts and tasks that wait in a session: a prompt is typed when its
// agent is idle, a task gets an agent of its own.
//
// Next decides, from the queue (session.Queue) and facts only, what happens: next.go has the
// outcomes of running tasks, limit.go usage limits, due.go the tasks that begin. Pump (pump.go)
// gathers facts, records what it is about to do, and does it. No process stays for that: ends of
// turns, commands and a timer in tmux call Pump. The package may import what children,
// startplan and landing may, and these three. Begin with Next.
package queue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"paw/config/display"
	"paw/session"
	"paw/session/turn"
)

// Limits by which a start or a prompt is taken for failed. A CLI that ends or stays silent right
// after its start may not work at all: its breaker, a block on all of its tasks, holds the others.
const (
	arrival = 30 * time.Second // for a turn to begin, after the agent's start or the typing of its prompt
	quickly = 30 * time.Second // for a CLI to fail, after its start
	silence = 10 * time.Minute // for a CLI to report anything, after its start
	patient = 10 * time.Minute // for an agent at rest to take a prompt, until the user is told why it does not
	quick   = 2                // failed starts in a row after which the breaker holds
)

// decision is the state of a call of Next.
type decision struct {
	q        *session.Queue // the queue after the decision
	f        Facts
	now      time.Time
	steps    []Step
	verdicts map[string]verdict // verdicts on waiting tasks, by task id
}

// Next decides what a queue does now. It returns the queue with all changes that follow from the
// facts, and the steps: those for which Acts holds are still to be done, one at a time.
func Next(q *session.Queue, f Facts, now time.Time) (*session.Queue, []Step) {
	d := decide(q, f, now)
	return d.q, d.steps
}

func decide(q *session.Queue, f Facts, now time.Time) *decision {
	d := &decision{q: q.Clone(), f: f, now: now, verdicts: map[string]verdict{}}
	for i := range d.q.Tasks {
		d.resumed(&d.q.Tasks[i])
	}
	d.lanes()
	for i := range d.q.Tasks {
		d.adopt(&d.q.Tasks[i])
		d.settle(&d.q.Tasks[i])
	}
	d.atLimits()
	d.expire()
	d.begin()
	return d
}

func (d *decision) step(do Kind, t *session.Task, why string) {
	d.steps = append(d.steps, Step{Do: do, ID: t.ID, Agent: t.Agent, Why: why})
}

// hold keeps a task until the user releases it.
func (d *decision) hold(t *session.Task, why string) {
	t.State, t.Why, t.Checking = session.TaskHeld, why, false
	d.step(StepHold, t, "held: "+why)
}

// finish ends a task.
func (d *decision) finish(t *session.Task, state session.TaskState, why string) {
	t.State, t.Why, t.Checking = state, why, false
	text := string(state)
	if why != "" {
		text += ": " + why
	}
	d.step(StepFinish, t, text)
}

// holdLane keeps the queue away from an agent that its user has prompted.
func (d *decision) holdLane(agent string) {
	lane := d.q.Lanes[agent]
	if lane.Held {
		return
	}
	lane.Held = true
	d.q.Lanes[agent] = lane
	d.steps = append(d.steps, Step{Do: StepHold, Agent: agent, Why: "you have turned to it: paw queue go lets the queue go on there"})
}

// lanes finds the agents that their users have prompted since the queue knows them, by the lane that
// the queue has of each: the queue never competes with a person.
func (d *decision) lanes() {
	for _, name := range slices.Sorted(maps.Keys(d.q.Lanes)) {
		for _, one := range d.f.Agents[name].Turns {
			if one.Number <= d.q.Lanes[name].Seen {
				continue
			}
			ofTask := slices.ContainsFunc(d.q.Tasks, func(t session.Task) bool { return t.Agent == name && t.Turn == one.Number })
			if one.Person && !ofTask {
				d.holdLane(name)
			}
			lane := d.q.Lanes[name]
			lane.Seen = one.Number
			d.q.Lanes[name] = lane
		}
	}
}

// resumed finds the turn with which a CLI went on by itself, or with its user, once its limit was
// lifted.
func (d *decision) resumed(t *session.Task) {
	if t.State != session.TaskWaiting || !t.Limited || t.Kind != session.PromptTask || t.NotYet.IsZero() {
		return
	}
	lifted := t.NotYet.Add(-d.f.Pace.Delay - spread(t.Agent, d.f.Pace.Spread))
	for _, one := range d.f.Agents[t.Agent].Turns {
		if one.Number > t.Before && !one.StartedAt.Before(lifted) {
			t.State, t.Turn, t.Typed = session.TaskRunning, one.Number, true
			d.step(StepBegun, t, fmt.Sprintf("goes on in turn %d", one.Number))
			return
		}
	}
}

// adopt finds the turn of a task that began unnoticed, for example after the pump was killed.
func (d *decision) adopt(t *session.Task) {
	if t.State != session.TaskRunning && !unseen(*t) || t.Turn != 0 {
		return
	}
	if one := d.f.Agents[t.Agent].of(t); one != nil {
		t.State, t.Why, t.Turn = session.TaskRunning, "", one.Number
		d.step(StepBegun, t, fmt.Sprintf("turn %d has begun", one.Number))
	}
}

// unseen reports whether a task is held whose prompt was typed, and whose turn the queue has not
// seen. The CLI may begin the turn late, also behind a prompt of the user.
func unseen(t session.Task) bool {
	return t.State == session.TaskHeld && t.Typed && t.Turn == 0 &&
		(t.Why == session.HeldInterrupted || t.Why == session.HeldSilent || t.Why == session.HeldYou)
}

// settle decides what has become of a running task, or of a task whose agent the user has prompted.
func (d *decision) settle(t *session.Task) {
	if agent := d.f.Agents[t.Agent]; t.Lonely && t.State == session.TaskWaiting && t.Kind == session.PromptTask &&
		(agent.number() > t.Before || agent.SeenCut >= t.Before) {
		d.finish(t, session.TaskDropped, session.HeldYou)
	}
	if t.State != session.TaskRunning {
		return
	}
	if t.Checking {
		d.check(t)
		return
	}
	agent := d.f.Agents[t.Agent]
	one := agent.of(t)
	switch {
	case one == nil:
		d.unbegun(t)
	case overdue(t, one, d.now):
		d.finish(t, session.TaskFailed, fmt.Sprintf("not done within %s", t.Timeout))
	case one.State == turn.InProgress:
		d.died(t, agent, one)
	case one.State == turn.Finished:
		d.finished(t, agent, one)
	default:
		d.aborted(t, agent, one)
	}
}

// unbegun decides about a running task without a known turn. Its prompt may have been typed and is
// never repeated. Only a pump decides, since no other process starts agents or types while it runs,
// and only by facts that last: between the end of a CLI and that of its pane, and while tmux is
// silent, nothing is certain.
func (d *decision) unbegun(t *session.Task) {
	agent, there := d.f.Agents[t.Agent]
	begun := t.Begun
	if t.Kind == session.AgentTask && agent.Launched.After(begun) {
		begun = agent.Launched // its worktree had to be set up first
	}
	switch late := d.now.Sub(begun).Abs() >= arrival; {
	case d.f.Looking:
	case !there || t.Turn != 0: // the turn log is gone
		d.hold(t, session.HeldInterrupted)
	case agent.number() > t.Before && agent.last().Person:
		d.hold(t, session.HeldYou)
	case agent.Status.Cause == session.CauseStopped:
		d.hold(t, session.HeldYou)
	case agent.Exited:
		d.count(t.Agent, agent, true)
		d.finish(t, session.TaskFailed, fmt.Sprintf("%s before the turn: %s", cliEnded, agent.Status.Reason))
	case agent.Starting || agent.Status.State == session.StateWaitingInput || d.f.Down == session.ReasonTmuxSilent:
	case t.Kind == session.AgentTask && !agent.Silent.IsZero():
		if d.now.Sub(agent.Silent).Abs() >= silence {
			d.count(t.Agent, agent, true)
			d.hold(t, session.HeldSilent)
		}
	case agent.Gone || late:
		d.hold(t, session.HeldInterrupted)
	case !agent.Running:
		d.step(StepLook, t, "its CLI begins or has just ended")
	}
}

// overdue reports whether the turn of a task takes, or took, longer than the task allows. How long a
// turn took that a crash has ended is unknown.
func overdue(t *session.Task, one *Turn, now time.Time) bool {
	if t.Timeout <= 0 || one.Reason == turn.ReasonCrash {
		return false
	}
	if one.State != turn.InProgress {
		now = one.ended()
	}
	return now.Sub(one.StartedAt) >= t.Timeout
}

// finished decides about a task whose turn has ended well.
func (d *decision) finished(t *session.Task, agent Agent, one *Turn) {
	d.count(t.Agent, agent, false)
	t.Limits, t.Limited = 0, false
	if b := d.q.Blocks[agent.Account]; !b.First.IsZero() && one.StartedAt.After(b.First) {
		delete(d.q.Blocks, agent.Account)
	}
	switch {
	case one.Outcome == "failure" || one.Outcome == "error":
		d.finish(t, session.TaskFailed, "its outcome is "+one.Outcome)
	case len(t.Check) > 0 || t.On != "":
		t.Checking = true
		d.check(t)
	default:
		d.finish(t, session.TaskDone, "")
	}
}

// check has the check of a task run, or the server asked for its checks.
func (d *decision) check(t *session.Task) {
	do := StepCheck
	if t.On != "" {
		do = StepAsk
	}
	d.step(do, t, "its check is to run")
}

// aborted decides about a task whose turn was aborted.
func (d *decision) aborted(t *session.Task, agent Agent, one *Turn) {
	switch {
	case one.Limit != nil:
		d.limited(t, agent, one)
	case one.Reason == turn.ReasonInterrupted && one.Cut():
		d.exited(t, agent, one)
	case one.Reason == turn.ReasonInterrupted || one.Reason == turn.ReasonStopped:
		d.holdLane(t.Agent)
		d.hold(t, session.HeldYou)
	case one.Reason == turn.ReasonError:
		d.count(t.Agent, agent, one.ended().Sub(one.StartedAt).Abs() < quickly)
		d.finish(t, session.TaskFailed, display.FirstLine(one.ErrorMessage))
	default:
		d.hold(t, session.HeldInterrupted)
	}
}

// exited decides about a task in whose turn the CLI reported its exit, as it also does while tmux
// goes down. The pane tells a moment later how the CLI ended.
func (d *decision) exited(t *session.Task, agent Agent, one *Turn) {
	last := one.Number == agent.number()
	switch ended := one.ended(); {
	case last && agent.Exited && agent.Status.State == session.StateError:
		d.failedIn(t, agent, one)
	case last && !agent.Exited && !agent.Gone && (one.Now || !agent.Running) && d.now.Sub(ended).Abs() < arrival:
		d.step(StepLook, t, "its CLI has just ended")
	default:
		d.hold(t, session.HeldInterrupted)
	}
}

// cliEnded begins the reason for which a task has failed whose CLI ended by itself.
const cliEnded = "its CLI ended"

// failedIn ends a task whose CLI failed in the turn.
func (d *decision) failedIn(t *session.Task, agent Agent, one *Turn) {
	d.count(t.Agent, agent, one.ended().Sub(one.StartedAt).Abs() < quickly)
	d.finish(t, session.TaskFailed, fmt.Sprintf("%s in the turn: %s", cliEnded, agent.Status.Reason))
}

// died decides about a task whose turn is open although its CLI may run no more: a CLI that the
// kernel kills reports nothing, and only its pane tells that. While tmux is silent nothing is
// certain.
func (d *decision) died(t *session.Task, agent Agent, one *Turn) {
	switch {
	case one.Number != agent.number() || !agent.ended():
	case agent.Status.Cause == session.CauseStopped:
		d.hold(t, session.HeldYou)
	case agent.Exited && agent.Status.State == session.StateError:
		d.failedIn(t, agent, one)
	default: // its user has left it or closed its pane, or tmux is gone
		d.hold(t, session.HeldInterrupted)
	}
}

// count counts a CLI's failed starts in a row (soon: an error right after the start, or silence),
// and blocks the CLI after too many.
func (d *decision) count(name string, agent Agent, soon bool) {
	if !soon {
		delete(d.q.Quick, agent.CLI)
		return
	}
	d.q.Quick[agent.CLI]++
	if d.q.Quick[agent.CLI] < quick || d.q.Blocks[breakerOf(agent.CLI)].CLI != "" {
		return
	}
	d.q.Blocks[breakerOf(agent.CLI)] = session.Block{CLI: agent.CLI}
	d.steps = append(d.steps, Step{Do: StepHold, CLI: agent.CLI, Why: fmt.Sprintf("%d in a row came to nothing at their start, %s the last", quick, name)})
}

// breakerOf returns the key of a block for all tasks of a CLI.
func breakerOf(cli string) string { return "cli " + cli }

// Claim records that a step is about to be done: no other process does it from then on, and if this
// process is killed it is not repeated. A new agent gets its name.
func Claim(q *session.Queue, s Step, f Facts, now time.Time) {
	t := q.Task(s.ID)
	t.State, t.Why, t.Typed, t.Begun, t.Turn, t.NotYet = session.TaskRunning, "", true, now.UTC(), 0, time.Time{}
	t.Refused, t.RefusedAt = "", time.Time{}
	q.Starts++
	if s.Do != StepStart && s.Do != StepHandover {
		t.Before = f.Agents[s.Agent].number()
		return
	}
	t.Before, t.Agent = 0, freeName(q, f, t.ID)
	q.Lanes[t.Agent] = session.Lane{}
}

// freeName returns a name for the agent of a task that no agent has.
func freeName(q *session.Queue, f Facts, id string) string {
	base := cmp.Or(session.NameFrom(id), "task")
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		_, there := f.Agents[name]
		if !there && !slices.ContainsFunc(q.Tasks, func(t session.Task) bool { return t.Agent == name && t.State == session.TaskRunning }) {
			return name
		}
	}
}

// TakeBack undoes the claim of a step of which certainly nothing was done.
func TakeBack(q *session.Queue, was session.Task) {
	t := q.Task(was.ID)
	if t == nil || t.State != session.TaskRunning || t.Turn != 0 {
		return
	}
	*t = was
	q.Starts--
}
