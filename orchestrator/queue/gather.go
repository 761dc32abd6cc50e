package queue

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/transcript"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
)

// Observe observes a session as closely as its queue needs.
func Observe(ctx context.Context, h *app.App, s *session.Session) (observe.Facts, error) {
	return observe.With(ctx, h, s, observe.AskTmux(h), observe.WhereUnknown)
}

// gather collects the facts for a decision about the queue of an observed session.
func gather(ctx context.Context, h *app.App, q *session.Queue, seen observe.Facts) Facts {
	s, limits := seen.Session, h.Config.Limits
	f := Facts{
		Agents: map[string]Agent{}, CLIs: map[string]CLI{}, Max: h.Config.Queue.Max, Starts: h.Config.Queue.Starts, Pace: paceOf(h),
		Limits: Limits{Continue: limits.Then == config.ThenContinue, HandOver: limits.HandOver(), Times: limits.Times},
	}
	if f.Cap = h.Config.Agents.MaxRunning; f.Cap > 0 {
		_, f.Runs, _ = observe.Room(h) // an unreadable record is the start's to tell
	}
	switch {
	case s.Status == session.StatusStopped:
		f.Down = "stop"
	case seen.Tmux == session.TmuxDead && slices.ContainsFunc(s.Agents, func(w session.Agent) bool { return w.Phase == session.PhaseLive }):
		f.Down = "crash"
	case seen.Tmux == session.TmuxUnknown:
		f.Down = session.ReasonTmuxSilent
	}
	for _, one := range observe.LiveFacts(h, seen) {
		a := seen.Agent(one.Record.Name)
		f.Agents[one.Record.Name] = agentOf(ctx, h, s, q, one, a)
	}
	names := slices.Clone(f.Limits.HandOver)
	for _, t := range q.Tasks {
		if t.State == session.TaskWaiting {
			names = append(names, t.CLIs...)
		}
	}
	for _, name := range app.Once(names) {
		if c, known := h.CLIs.Get(name); known {
			_, err := h.Program(c)
			f.CLIs[name] = CLI{Installed: err == nil, Account: accountOf(name, h.Specs().Remembered(c))}
		}
	}
	return f
}

// accountOf identifies the account of a CLI, to which its usage limits apply, by the CLI's name and
// configuration folders.
func accountOf(name string, environment map[string]string) string {
	account := name
	for _, variable := range slices.Sorted(maps.Keys(environment)) {
		if value := environment[variable]; value != "" {
			account += " " + variable + "=" + value
		}
	}
	return account
}

func agentOf(ctx context.Context, h *app.App, s *session.Session, q *session.Queue, one live.Facts, a *observe.Agent) Agent {
	w := one.Record
	agent := Agent{
		CLI: w.CLI, Account: accountOf(w.CLI, w.Environment), Status: one.Status, Ready: one.Ready(), Running: one.Launch != 0 && one.Running, Exited: one.Exited,
		Gone: !one.Exited && one.Status.State == session.StateSuspended, SeenCut: w.SeenCut,
		Starting: one.Status.Cause == session.CausePrompted || one.Status.Cause == session.CauseMade || one.Status.Cause == session.CauseSetUp || one.Status.Reason == session.ReasonStarting,
	}
	if agent.Running {
		agent.Launched = a.Turns.Launched
	}
	if agent.Running && a.Turns.HooksSeen.IsZero() {
		agent.Silent = a.Turns.Launched
	}
	if one.Waits() || h.Texts().QueuedNext(s.Name, w.Name, arrival) || agent.Ready == live.Due && len(h.Texts().Next(s.Name, w.Name)) > 0 {
		agent.Ready = live.Busy // the results of the agent's children, or prompts of its user, are still to come
	}
	agent.Turns = turnsOf(h, s, q, one)
	if len(agent.Turns) == 0 {
		return agent
	}
	last := &agent.Turns[len(agent.Turns)-1]
	launch := observe.LaunchID(s.Name, w.Name, one.Launch)
	for i := range agent.Turns {
		agent.Turns[i].Now = one.Launch != 0 && agent.Turns[i].Launch == launch
	}
	if one.Waits() && last.State == turn.Finished {
		last.State = turn.InProgress // the agent goes on when the children's results are delivered
	}
	if last.State == turn.Aborted && last.Limit != nil && h.Config.Limits.Then != config.ThenTell {
		last.Answered = answered(ctx, h.Agent(s, &a.Record), last.Record)
	}
	return agent
}

// turnsOf returns the turns that the queue has not seen yet, at least the last one, each with the
// task that began it.
func turnsOf(h *app.App, s *session.Session, q *session.Queue, one live.Facts) []Turn {
	if one.Last == nil {
		return nil
	}
	name := one.Record.Name
	from := one.Last.Number - 1
	lane, known := q.Lanes[name]
	if known {
		from = min(from, lane.Seen)
	}
	var tasks []*session.Task
	for i := range q.Tasks {
		t := &q.Tasks[i]
		if t.Agent != name {
			continue
		}
		tasks = append(tasks, t)
		if t.State == session.TaskRunning && t.Turn != 0 {
			from = min(from, t.Turn-1)
		} else if t.Typed && t.Turn == 0 && !t.State.Over() {
			from = min(from, t.Before)
		}
	}
	records := []turn.Record{*one.Last}
	if from < one.Last.Number-1 {
		records, _ = h.TurnDir(s.Name, name).After(from)
		if len(records) > 0 && records[len(records)-1].Number == one.Last.Number {
			records[len(records)-1] = *one.Last // the open turn, closed where the CLI's own record has its end
		}
	}
	turns := make([]Turn, len(records))
	for i, r := range records {
		turns[i] = Turn{Record: r, Task: taskOf(h, s.Name, tasks, r)}
		turns[i].Person = turns[i].Task == "" && r.Task() != ""
	}
	return turns
}

// taskOf returns the id of the task that began a turn, "" for none.
func taskOf(h *app.App, sessionName string, tasks []*session.Task, r turn.Record) string {
	for _, t := range tasks {
		if t.Turn == r.Number {
			return t.ID
		}
	}
	for _, t := range tasks {
		open := t.Typed && t.Turn == 0 && !t.State.Over() && r.Number > t.Before
		if open && (t.Kind == session.AgentTask && r.Number == 1 || begunWith(h, sessionName, t, r)) {
			return t.ID
		}
	}
	return ""
}

// begunWith reports whether a turn has the prompt of a task, apart from blanks, which CLIs change.
func begunWith(h *app.App, sessionName string, t *session.Task, r turn.Record) bool {
	text, err := textOf(h, sessionName, *t)
	if err != nil {
		return false
	}
	typable, _ := cli.Typable(text)
	return strings.Contains(squeezed(string(r.Prompt)), squeezed(typable))
}

// typable returns the error of a CLI that takes a typed text for a command of its own.
func typable(c cli.CLI, text string) error {
	text, _ = cli.Typable(text)
	_, err := c.Literal(text)
	return err
}

// textOf returns the next text to type for a task.
func textOf(h *app.App, sessionName string, t session.Task) (string, error) {
	switch {
	case t.Text == session.TextContinue:
		return h.Config.Limits.Prompt, nil
	case t.Lonely:
		return lonelyText(h, sessionName, t)
	}
	return h.Queues().Text(sessionName, t)
}

// lonelyText returns the prompt of the turn that a limit has ended, for a task made from that turn.
func lonelyText(h *app.App, sessionName string, t session.Task) (string, error) {
	agent, number := t.Agent, t.Before
	if from, n, taken := strings.Cut(t.From, "@"); taken {
		agent = from
		number, _ = strconv.Atoi(n)
	}
	records, _ := h.TurnDir(sessionName, agent).After(number - 1)
	if len(records) == 0 || records[0].Number != number {
		return "", fmt.Errorf("turn %d of %s is not in its log", number, agent)
	}
	return cmp.Or(records[0].Prompt.Task(), string(records[0].Prompt)), nil
}

// answered reports whether the model had begun to answer in a turn, according to the CLI's own
// record.
func answered(ctx context.Context, a app.Agent, r turn.Record) bool {
	read, err := transcript.Read(ctx, a, r.Conversation)
	if err != nil {
		return true // the answer is unknown: the prompt is not repeated
	}
	records, _ := a.TurnDir().Records()
	said, n := transcript.TurnsIn(records, read.ID, r.Number)
	spans := transcript.Spans(read.Messages, said)
	if n >= len(spans) {
		return true
	}
	for _, m := range read.Messages[spans[n].From:spans[n].To] {
		if m.Role != history.RoleUser && (len(m.ToolCalls) > 0 || m.Content != "" && squeezed(m.Content) != squeezed(r.ErrorMessage)) {
			return true
		}
	}
	return false
}

// squeezed removes all blanks.
func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }

// paceOf returns the delays of the queue. PAW_QUEUE_PACE, set by tests only, lists other delays in
// the order of Pace.
func paceOf(h *app.App) Pace {
	p := UsualPace
	for i, text := range strings.Split(h.Getenv(paceVariable), ",") {
		if span, err := time.ParseDuration(text); err == nil && i < 7 {
			*[]*time.Duration{&p.Delay, &p.Spread, &p.Every, &p.Again, &p.GiveUp, &p.Proof, &p.Ask}[i] = span
		}
	}
	return p
}

const paceVariable = "PAW_QUEUE_PACE"

// settle gathers facts, decides, and records what follows from the facts.
func (p *pump) settle(ctx context.Context) (Facts, []Step, error) {
	q, err := p.Queues().Load(p.session)
	if err != nil {
		return Facts{}, nil, err
	}
	if q == nil {
		q = (&session.Queue{Session: p.session}).Clone()
	}
	f, err := p.hands.look(ctx, q)
	if err != nil {
		return Facts{}, nil, err
	}
	for name := range p.busy {
		agent := f.Agents[name]
		if agent.Ready == live.Due {
			agent.Ready = live.Busy
		}
		f.Agents[name] = agent
	}
	d := decide(q, f, p.Now())
	news := d.news()
	if reflect.DeepEqual(d.q, q.Clone()) {
		return f, d.steps, nil
	}
	_, err = p.Queues().Update(ctx, p.session, func(now *session.Queue) error {
		d = decide(now, f, p.Now())
		news = d.news()
		*now = *d.q
		return nil
	})
	p.Step("queue.settled")
	if err == nil && len(news) > 0 {
		p.hands.tell(news)
	}
	return f, d.steps, err
}
