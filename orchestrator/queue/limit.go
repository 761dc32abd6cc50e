package queue

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"paw/config/display"
	"paw/session"
	"paw/session/turn"
)

// limitAt returns the limit that a turn met at the time since. An end before that time counts as an
// unknown one.
func limitAt(limit *turn.Limit, since time.Time) *session.Limit {
	if !limit.Until.After(since) {
		return &session.Limit{}
	}
	return (*session.Limit)(limit)
}

// block holds the tasks of an account until its limit is lifted. A limit with an unknown end is
// held for Pace.Again and, after Pace.GiveUp, until the user releases it. block returns the end,
// zero for unknown.
func (d *decision) block(agent Agent, limit *session.Limit, since time.Time) time.Time {
	b, there := d.q.Blocks[agent.Account]
	until := limit.Until
	if until.IsZero() {
		first := since
		if there && !b.First.IsZero() {
			first = b.First
		}
		until = since.Add(d.f.Pace.Again)
		if until.Sub(first) > d.f.Pace.GiveUp {
			until = time.Time{}
		}
		b.First = first.UTC()
	}
	if there && b.Limit && (b.Until.IsZero() || !until.IsZero() && !until.After(b.Until)) {
		return b.Until
	}
	d.q.Blocks[agent.Account] = session.Block{Limit: true, CLI: agent.CLI, Until: until.UTC(), First: b.First}
	d.steps = append(d.steps, Step{Do: StepHold, CLI: agent.CLI, Why: "its account is limited" + untilText(until)})
	return until
}

// atLimits blocks the accounts of all agents that have reached a limit, also of those whose CLI
// goes on by itself. Where the configuration asks for it, turns that a limit has ended and no task
// began become tasks.
func (d *decision) atLimits() {
	for _, name := range slices.Sorted(maps.Keys(d.f.Agents)) {
		agent := d.f.Agents[name]
		last := agent.last()
		if last == nil || last.Limit == nil || !last.Now {
			continue
		}
		since := last.ended()
		if last.LimitedSince != nil {
			since = *last.LimitedSince
		}
		limit := limitAt(last.Limit, since)
		over := limit.Until
		if over.IsZero() {
			over = since.Add(d.f.Pace.Again)
		}
		if d.now.Before(over) {
			d.block(agent, limit, since)
		}
		wanted := d.f.Limits.Continue || len(d.f.Limits.HandOver) > 0
		if last.State != turn.Aborted || !wanted || d.q.Lanes[name].Limit >= last.Number || agent.SeenCut >= last.Number ||
			!agent.Running || d.now.After(over.Add(d.f.Pace.GiveUp)) {
			continue
		}
		d.lonely(name, agent, last)
	}
}

// fromTurn names the end of a turn in the form of paw add --from.
func fromTurn(agent string, number int) string { return fmt.Sprintf("%s@%d", agent, number) }

// lonely makes a task of a turn that a limit has ended.
func (d *decision) lonely(name string, agent Agent, last *Turn) {
	t := session.Task{
		ID: fmt.Sprintf("limit-%s-%d", strings.ToLower(name), last.Number), Kind: session.PromptTask, Agent: name, Lonely: true,
		What: firstLine(last.Prompt.Words()), State: session.TaskRunning, Turn: last.Number, Before: last.Number, Begun: last.StartedAt.UTC(),
	}
	if d.q.Task(t.ID) != nil {
		return // the task belongs to an agent whose name differs only in case
	}
	d.q.Tasks = append(d.q.Tasks, t)
	d.limited(&d.q.Tasks[len(d.q.Tasks)-1], agent, last)
}

// limited decides about a task whose turn a limit has ended.
func (d *decision) limited(t *session.Task, agent Agent, one *Turn) {
	limit := limitAt(one.Limit, one.ended())
	until := d.block(agent, limit, one.ended())
	lane := d.q.Lanes[t.Agent]
	lane.Limit, lane.Seen = one.Number, max(lane.Seen, one.Number)
	d.q.Lanes[t.Agent] = lane
	why := "limit:" + agent.CLI + untilText(until)
	if !limit.Until.IsZero() || len(d.f.Limits.HandOver) > 0 { // a limit with an unknown end counts no attempts: Pace.GiveUp ends them
		t.Limits++
	}
	switch {
	case len(d.f.Limits.HandOver) > 0 && t.Limits <= d.f.Limits.Times:
		d.handOver(t, one, why)
	case d.f.Limits.Continue && t.Limits <= d.f.Limits.Times && !until.IsZero():
		t.State, t.Why, t.Kind, t.Limited, t.Before, t.Typed = session.TaskWaiting, "", session.PromptTask, true, one.Number, false
		t.NotYet = until.Add(d.f.Pace.Delay + spread(t.Agent, d.f.Pace.Spread)).UTC()
		if one.Answered {
			t.Text = session.TextContinue
		}
		d.step(StepWait, t, why)
	default:
		d.hold(t, why)
	}
}

// handOver lets another CLI take a task over at the end of the cut turn.
func (d *decision) handOver(t *session.Task, one *Turn, why string) {
	others := slices.DeleteFunc(slices.Clone(d.f.Limits.HandOver), func(cli string) bool { return !d.f.CLIs[cli].Installed })
	if len(others) == 0 {
		d.hold(t, why+"; none of "+strings.Join(d.f.Limits.HandOver, ", ")+" is installed")
		return
	}
	t.State, t.Why, t.Kind, t.Text, t.Limited, t.Typed = session.TaskWaiting, "", session.AgentTask, session.TextPrompt, true, false
	t.From, t.Brief, t.CLIs, t.Agent = fromTurn(t.Agent, one.Number), true, others, ""
	d.step(StepWait, t, why)
}

// expire removes limits that are over. A limit with an unknown end is removed by the next turn that
// ends well.
func (d *decision) expire() {
	for _, account := range slices.Sorted(maps.Keys(d.q.Blocks)) {
		if b := d.q.Blocks[account]; b.Limit && b.First.IsZero() && !b.Until.IsZero() && !d.blocked(account) {
			delete(d.q.Blocks, account)
		}
	}
}

// blocked reports whether an account, or a CLI, begins nothing now.
func (d *decision) blocked(account string) bool {
	b, there := d.q.Blocks[account]
	return there && (b.Until.IsZero() || d.now.Before(b.Until.Add(d.f.Pace.Delay)))
}

// spread returns a part of span that depends only on the name: agents of one account shall not go
// on at the same moment.
func spread(name string, span time.Duration) time.Duration {
	if span <= 0 {
		return 0
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	return time.Duration(sum.Sum32()) * time.Millisecond % span
}

// untilText formats an end for the end of a message.
func untilText(until time.Time) string {
	if until.IsZero() {
		return ""
	}
	return " until " + until.Local().Format("2 Jan 15:04")
}

// widest limits the columns of a line that the queue keeps to show.
const widest = 200

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return cmp.Or(display.Graphemes.Cut(strings.TrimSpace(line), widest), "(empty)")
}
