// Package queue moves the prompts on that wait in a session: typed at the end of a turn, or as the first prompt of an agent of
// their own.
//
// Next decides, from the queue (session.Queue) and from facts alone, what a queue does: next.go what its tasks have come to,
// limit.go what a usage limit means, due.go what begins. Pump (pump.go) gathers the facts, writes down what is about to be
// done, and does it. No process stays for that: the ends of turns, commands and a timer of tmux pump. The room may import every
// room below: children, startplan and landing among them. Begin with Next.
package queue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"paw/config/display"
	"paw/session"
	"paw/session/turn"
)

// How long a task may be without a turn: its agent starts, or its prompt was typed. A CLI that ends with an error within
// quickly of a start, or tells nothing for silence behind it, may not work at all; so many in a row are taken for that.
const (
	arrival = 30 * time.Second
	quickly = 30 * time.Second
	silence = 10 * time.Minute
	quick   = 2
)

// decision is one Next on its way.
type decision struct {
	q        *session.Queue // as it becomes
	f        Facts
	now      time.Time
	steps    []Step
	verdicts map[string]verdict // on waiting tasks, by id
}

// Next decides what a queue does now. It returns the queue with all that follows from the facts alone, and the steps: those
// that Acts are still to be done, one of them at a time.
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

// hold keeps a task until its user lets it go.
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

// holdLane leaves an agent to its user.
func (d *decision) holdLane(agent string) {
	lane := d.q.Lanes[agent]
	if lane.Held {
		return
	}
	lane.Held = true
	d.q.Lanes[agent] = lane
	d.steps = append(d.steps, Step{Do: StepHold, Agent: agent, Why: "you have turned to it: paw queue go lets the queue go on there"})
}

// lanes finds the agents whose users have prompted them since the queue knows them: it never races a person.
func (d *decision) lanes() {
	for _, name := range sortedKeys(d.q.Lanes) {
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

// resumed finds the turn by which a CLI goes on by itself once its limit is lifted, or its user has it go on just then.
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

// adopt finds the turn of a task that began unseen, such as after its pump was killed.
func (d *decision) adopt(t *session.Task) {
	lost := t.State == session.TaskHeld && (t.Why == session.HeldInterrupted || t.Why == session.HeldSilent)
	if t.State != session.TaskRunning && !lost || t.Turn != 0 {
		return
	}
	if one := d.f.Agents[t.Agent].of(t); one != nil {
		t.State, t.Why, t.Turn = session.TaskRunning, "", one.Number
		d.step(StepBegun, t, fmt.Sprintf("turn %d has begun", one.Number))
	}
}

// settle decides what has become of a task that runs, or that goes on with a turn of its user.
func (d *decision) settle(t *session.Task) {
	if agent := d.f.Agents[t.Agent]; t.Lonely && t.State == session.TaskWaiting && t.Kind == session.PromptTask &&
		(agent.number() > t.Before || agent.SeenCut >= t.Before) {
		d.finish(t, session.TaskDropped, session.HeldYou)
	}
	if t.State != session.TaskRunning {
		return
	}
	if t.Checking {
		d.step(StepCheck, t, "its check is to run")
		return
	}
	agent := d.f.Agents[t.Agent]
	one := agent.of(t)
	switch {
	case one == nil:
		d.unbegun(t)
	case one.State == turn.InProgress:
		d.running(t)
	case one.State == turn.Finished:
		d.finished(t, agent, one)
	default:
		d.aborted(t, agent, one)
	}
}

// unbegun decides on a task that no turn is known of. Nothing is repeated: it may have been typed. Only who pumps decides, since
// nobody else is starting or typing then, and only on what stays so: between the end of a CLI and that of its pane, and while
// tmux is silent, nobody can tell.
func (d *decision) unbegun(t *session.Task) {
	agent, there := d.f.Agents[t.Agent]
	switch late := d.now.Sub(t.Begun).Abs() >= arrival; {
	case d.f.Looking:
	case !there || t.Turn != 0: // its log is gone
		d.hold(t, session.HeldInterrupted)
	case agent.number() > t.Before && agent.last().Person:
		d.hold(t, session.HeldYou)
	case agent.Status.Cause == session.CauseStopped:
		d.hold(t, session.HeldYou)
	case agent.Exited:
		d.count(t.Agent, agent, true)
		d.finish(t, session.TaskFailed, "its CLI ended before the turn: "+agent.Status.Reason)
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

// running decides on a task whose turn goes on.
func (d *decision) running(t *session.Task) {
	if t.Timeout > 0 && d.now.Sub(t.Begun) >= t.Timeout {
		d.finish(t, session.TaskFailed, fmt.Sprintf("not done within %s; the agent works on", t.Timeout))
	}
}

// finished decides on a task whose turn has ended well.
func (d *decision) finished(t *session.Task, agent Agent, one *Turn) {
	d.count(t.Agent, agent, false)
	t.Limits, t.Limited = 0, false
	if b := d.q.Blocks[agent.Account]; !b.First.IsZero() && one.StartedAt.After(b.First) {
		delete(d.q.Blocks, agent.Account)
	}
	switch {
	case one.Outcome == "failure" || one.Outcome == "error":
		d.finish(t, session.TaskFailed, "its outcome is "+one.Outcome)
	case len(t.Check) > 0:
		t.Checking = true
		d.step(StepCheck, t, "its check is to run")
	default:
		d.finish(t, session.TaskDone, "")
	}
}

// aborted decides on a task whose turn has not ended well.
func (d *decision) aborted(t *session.Task, agent Agent, one *Turn) {
	switch {
	case one.Limit != nil:
		d.limited(t, agent, one)
	case one.Reason == turn.ReasonInterrupted && one.Cut(): // its CLI said good-bye, as it also does while tmux goes down
		d.hold(t, session.HeldInterrupted)
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

// count counts the starts of a CLI in a row that came to nothing, soon after an error or without a word, and holds all work of one
// that has too many.
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

// breakerOf is the block of all work of a CLI.
func breakerOf(cli string) string { return "cli " + cli }

// Claim writes into the queue that a step is about to be done: from then on nobody else does it, and neither does this
// process if it is killed. An agent that is to be started gets its name.
func Claim(q *session.Queue, s Step, f Facts, now time.Time) {
	t := q.Task(s.ID)
	t.State, t.Why, t.Typed, t.Begun, t.Turn, t.NotYet = session.TaskRunning, "", true, now.UTC(), 0, time.Time{}
	q.Starts++
	if s.Do != StepStart && s.Do != StepHandover {
		t.Before = f.Agents[s.Agent].number()
		return
	}
	t.Before, t.Agent = 0, freeName(q, f, t.ID)
	q.Lanes[t.Agent] = session.Lane{}
}

// freeName is a name for the agent of a task that no agent has.
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

// TakeBack undoes the claim of a step of which nothing was done for certain.
func TakeBack(q *session.Queue, was session.Task) {
	t := q.Task(was.ID)
	if t == nil || t.State != session.TaskRunning || t.Turn != 0 {
		return
	}
	*t = was
	q.Starts--
}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
