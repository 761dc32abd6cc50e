package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
)

// verdict says whether a waiting task begins now, and why not.
type verdict struct {
	why  string // "" for a task that begins
	held bool   // only the user, or another task, can change the verdict
	due  time.Time
	look bool // the task's agent is about to take a prompt
	arm  bool // passing time may change the verdict, so that a timer is set
	cli  string
}

// notRunning is why a task is held whose agent has no running CLI.
const notRunning = "not running"

// begin decides which waiting tasks begin, in their order, and when to look again.
func (d *decision) begin() {
	working, starts := d.working(), d.q.Starts
	armed := working > 0 || slices.ContainsFunc(d.q.Tasks, func(t session.Task) bool { return t.State == session.TaskRunning && t.Checking })
	if d.f.Down == session.ReasonTmuxSilent && d.q.Open() {
		d.steps = append(d.steps, Step{Do: StepLook, Why: d.f.Down}) // nobody can be told to look later
	}
	var due time.Time
	taken := map[string]bool{}
	for i := range d.q.Tasks {
		t := &d.q.Tasks[i]
		if t.State != session.TaskWaiting {
			continue
		}
		v := d.verdict(t, working, starts, taken)
		d.verdicts[t.ID] = v
		if v.why != "" && !v.look && v.why != session.WaitsCI {
			t.Refused, t.RefusedAt = "", time.Time{} // something else keeps it waiting
		}
		if v.look {
			d.step(StepLook, t, v.why)
		}
		armed = armed || v.arm
		if !v.due.IsZero() && (due.IsZero() || v.due.Before(due)) {
			due = v.due
		}
		if v.why != "" {
			continue
		}
		if t.Checking {
			t.State, t.Why, armed = session.TaskRunning, session.WaitsCI, true
			d.step(StepAsk, t, "")
			continue
		}
		do := StepPrompt
		switch {
		case t.Kind == session.AgentTask && t.Limited:
			do = StepHandover
		case t.Kind == session.AgentTask:
			do = StepStart
		case t.Limited:
			do = StepContinue
		}
		d.steps = append(d.steps, Step{Do: do, ID: t.ID, Agent: t.Agent, CLI: v.cli})
		if t.Kind == session.AgentTask {
			d.f.Runs++
		}
		working, starts, taken[t.Agent] = working+1, starts+1, t.Agent != ""
		armed = true
	}
	if armed || !due.IsZero() {
		d.steps = append(d.steps, Step{Do: StepArm, Until: due})
	}
}

// working counts the agents that work on tasks of the queue.
func (d *decision) working() int {
	at := 0
	for i := range d.q.Tasks {
		t := &d.q.Tasks[i]
		agent := d.f.Agents[t.Agent]
		one := agent.of(t)
		late := t.State == session.TaskFailed && one != nil && one.State == turn.InProgress && t.Turn != 0 && !agent.ended()
		if t.State == session.TaskRunning && !t.Checking || late {
			at++
		}
	}
	return at
}

func (d *decision) verdict(t *session.Task, working, starts int, taken map[string]bool) verdict {
	if v := d.behind(t); v.why != "" {
		return v
	}
	switch {
	case d.f.Down != "":
		return verdict{why: d.f.Down, held: true}
	case d.q.Held != "":
		return verdict{why: d.q.Held, held: true}
	case t.Kind == session.PromptTask && d.q.Lanes[t.Agent].Held:
		return verdict{why: session.HeldYou, held: true}
	case d.now.Before(t.NotYet) && t.Checking:
		return verdict{why: session.WaitsCI, due: t.NotYet, arm: true}
	case d.now.Before(t.NotYet):
		return verdict{why: "due " + t.NotYet.Local().Format("2 Jan 15:04"), due: t.NotYet, arm: true}
	}
	v := d.possible(t, taken)
	switch {
	case v.why != "":
		return v
	case starts >= d.startsMax():
		return verdict{why: "starts", held: true}
	case working >= d.max():
		return verdict{why: "max", arm: true}
	case t.Kind == session.AgentTask && d.f.Cap > 0 && d.f.Runs >= d.f.Cap:
		return verdict{why: session.WaitsRunning, arm: true}
	}
	return v
}

// max returns how many agents the queue keeps at work.
func (d *decision) max() int { return cmp.Or(d.q.Max, d.f.Max) }

// startsMax returns how many launches and prompts the queue may make.
func (d *decision) startsMax() int { return max(d.f.Starts, d.q.StartsMax) }

// behind decides about a task by the tasks that it comes after.
func (d *decision) behind(t *session.Task) verdict {
	for _, id := range t.After {
		before := d.q.Task(id)
		switch {
		case before == nil || before.State == session.TaskDone:
		case before.State.Over():
			return verdict{why: fmt.Sprintf("after:%s %s", id, before.State), held: true}
		default:
			return verdict{why: "after:" + id}
		}
	}
	return verdict{}
}

// heldFrom begins the reason for which a task is held whose agent would begin with work that is not
// whole.
const heldFrom = "from:"

// badEnd says how the last turn of an agent ended if not well, "" once the user has marked the turn
// as seen. from may also be a turn of the agent or the id of a task; both were chosen as they are.
func (d *decision) badEnd(from string) string {
	agent := d.f.Agents[from]
	if last := agent.last(); d.q.Task(from) == nil && last != nil && last.Number > agent.SeenCut {
		return live.BadEnd(last.Record)
	}
	return ""
}

// possible decides whether the agent of a task, or the CLI for a new agent, can begin.
func (d *decision) possible(t *session.Task, taken map[string]bool) verdict {
	if t.Kind == session.AgentTask {
		if end := d.badEnd(t.From); end != "" {
			return verdict{why: heldFrom + t.From + " " + end, held: true}
		}
		return d.choose(t.CLIs)
	}
	agent, there := d.f.Agents[t.Agent]
	account := d.f.Agents[t.Agent].Account
	last := agent.last()
	switch {
	case !there:
		return verdict{why: "no agent " + t.Agent, held: true}
	case t.Checking:
		return verdict{}
	case t.Limited && agent.number() > t.Before:
		return verdict{why: session.HeldYou, held: true} // the user went on there
	case taken[t.Agent] || slices.ContainsFunc(d.q.Tasks, func(o session.Task) bool { return o.Agent == t.Agent && o.State == session.TaskRunning }):
		return verdict{why: "busy"}
	case !t.Limited && d.cut(t.Agent) != "":
		return verdict{why: "after:" + d.cut(t.Agent)}
	case d.blocked(breakerOf(agent.CLI)):
		return verdict{why: "breaker:" + agent.CLI, held: true}
	case d.blocked(account):
		return d.limit(account)
	case agent.Status.State == session.StateWaitingInput:
		return verdict{why: "question", arm: true}
	}
	switch agent.Ready {
	case live.Due:
		return verdict{}
	case live.NotRunning:
		if !agent.Starting {
			return verdict{why: notRunning, held: true}
		}
	case live.NothingOwed, live.NotDue, live.Busy:
	}
	if !agent.Silent.IsZero() && d.now.Sub(agent.Silent) >= arrival {
		return verdict{why: session.HeldSilent, arm: true}
	}
	resting, why := last == nil || last.State != turn.InProgress, "busy"
	if agent.Starting {
		why = agent.Status.InWords()
	}
	return verdict{why: why, look: resting && agent.Running, arm: true}
}

// cut returns the id of the task whose turn a limit has cut and which goes on with the agent later,
// "" for none.
func (d *decision) cut(agent string) string {
	for _, t := range d.q.Tasks {
		if t.Agent == agent && t.Limited && t.Kind == session.PromptTask && t.State == session.TaskWaiting {
			return t.ID
		}
	}
	return ""
}

// limit returns the verdict for a task whose account is limited.
func (d *decision) limit(account string) verdict {
	b := d.q.Blocks[account]
	v := verdict{why: "limit:" + b.CLI + untilText(b.Until), held: true}
	if !b.Until.IsZero() {
		v.due, v.arm = b.Until.Add(d.f.Pace.Delay), true
	}
	return v
}

// choose returns the first installed CLI of a list that is not blocked.
func (d *decision) choose(clis []string) verdict {
	var first verdict
	for _, name := range clis {
		one := d.f.CLIs[name]
		switch {
		case !one.Installed:
		case d.blocked(breakerOf(name)):
			first = cmpVerdict(first, verdict{why: "breaker:" + name, held: true})
		case d.blocked(one.Account):
			first = cmpVerdict(first, d.limit(one.Account))
		case d.unproven(name) > 0 && d.q.Quick[name]+d.unproven(name) >= quick:
			first = cmpVerdict(first, verdict{why: "the first starts of " + name, arm: true})
		default:
			return verdict{cli: name}
		}
	}
	return cmpVerdict(first, verdict{why: "not installed: " + strings.Join(clis, ", "), held: true})
}

// unproven counts the started agents of a CLI that may still turn out to have failed at their start: if all do, no more than
// the breaker allows have been started.
func (d *decision) unproven(cli string) (at int) {
	for i := range d.q.Tasks {
		t := &d.q.Tasks[i]
		if t.Kind != session.AgentTask || t.State != session.TaskRunning || d.f.Agents[t.Agent].CLI != cli {
			continue
		}
		agent := d.f.Agents[t.Agent]
		one := agent.of(t)
		if agent.Status.Cause == session.CauseSetUp { // which may hang, and is no sign of the CLI
			continue
		}
		if one == nil || one.State != turn.Finished && d.now.Sub(one.StartedAt).Abs() < d.f.Pace.Proof {
			at++
		}
	}
	return at
}

// cmpVerdict returns b where a has no reason, or where only b can change with time; else a.
func cmpVerdict(a, b verdict) verdict {
	if a.why == "" || !a.arm && b.arm {
		return b
	}
	return a
}

// shown returns the tasks with the reasons why they wait; those that only the user or another task
// can release are shown as held.
func (d *decision) shown() []session.Task {
	for i, t := range d.q.Tasks {
		d.q.Tasks[i] = d.seen(t)
	}
	return d.q.Tasks
}

// seen returns one task as shown returns it.
func (d *decision) seen(t session.Task) session.Task {
	if v, waits := d.verdicts[t.ID]; waits {
		t.Why = v.why
		if t.Refused != "" {
			t.Why = t.Refused
		}
		if v.held {
			t.State = session.TaskHeld
		}
	}
	return t
}

// news returns the tasks that became held since the user was last told, except those that the user
// held, those that failed because their CLI ended, which no hook reports, and those whose agents
// have taken no prompt for long: each is reported once per reason.
func (d *decision) news() (told []session.Task) {
	for i := range d.q.Tasks {
		t := &d.q.Tasks[i]
		now := d.seen(*t)
		why, _, _ := strings.Cut(now.Why, " ") // a limit with another end is the same limit
		switch {
		case now.State == session.TaskWaiting && untold(now) && d.now.Sub(t.RefusedAt) >= patient:
			why = "refused"
		case now.State == session.TaskWaiting, !untold(now), now.Why == d.q.Held, now.Why == d.f.Down:
			why = ""
		}
		if why != "" && why != t.Told {
			told = append(told, now)
		}
		t.Told = why
	}
	return told
}

// untold reports whether only the queue can tell the user of what a task has come to: neither is it
// the user's own doing, nor does the hook of a CLI report it.
func untold(t session.Task) bool {
	return t.State == session.TaskWaiting && t.Refused != "" || t.State == session.TaskHeld && t.Why != session.HeldYou && t.Why != session.HeldStopped || t.State == session.TaskFailed && strings.HasPrefix(t.Why, cliEnded)
}
