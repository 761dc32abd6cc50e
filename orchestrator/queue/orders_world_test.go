package queue

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
)

// world is a session whose agents, checks and tmux are played. The queue on disk and the pump are real; a process may be
// killed after each step.
type world struct {
	tb     testing.TB
	p      *app.App
	clock  time.Time
	limits Limits
	agents map[string]*played
	kill   string
	killed int

	waiting []*pump         // that were started and have not run yet
	armed   bool            // tmux has somebody look later
	between func()          // happens right after a claim, once
	failing int             // so many checks fail
	typed   map[string]int  // how often a text was typed or an agent started with it, by task and text
	retried map[string]int  // how often its user had a task begun again
	done    map[string]bool // tasks that were seen to be over
	starts  int
}

// played is an agent whose CLI is played.
type played struct {
	cli     string
	running bool
	asks    bool
	box     bool // somebody has typed half a prompt
	late    bool // it begins a turn only some time after the prompt
	input   []input
	turns   []Turn
	state   session.State // of one that does not run
}

// input is what was typed and not taken yet.
type input struct{ task, text string }

const worldSession = "s"

func newWorld(tb testing.TB) *world {
	tb.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "paw")
	if err != nil {
		dir = tb.TempDir()
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	w := &world{
		tb: tb, clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), agents: map[string]*played{}, typed: map[string]int{},
		retried: map[string]int{}, done: map[string]bool{},
	}
	paths := config.Paths{StateDir: dir}
	w.p = &app.App{Paths: paths, Locks: session.Locks{Dir: paths.LocksDir()}, Now: w.now, Step: w.step}
	return w
}

func (w *world) now() time.Time {
	w.clock = w.clock.Add(time.Second)
	return w.clock
}

// death is the panic of a process that is killed.
type death struct{}

func (w *world) step(name string) {
	if w.kill == name {
		w.kill = ""
		w.killed++
		panic(death{})
	}
	if between := w.between; name == "queue.claimed" && between != nil {
		w.between = nil
		between()
	}
}

// as runs one process; it may be killed.
func (w *world) as(process func()) {
	w.tb.Helper()
	defer func() {
		if died := recover(); died != nil && died != (death{}) {
			panic(died)
		}
	}()
	process()
}

// pump starts a process that moves the queue on.
func (w *world) pump() {
	w.waiting = append(w.waiting, &pump{App: w.p, session: worldSession, hands: w, pause: func(context.Context) {}})
}

// runOne runs a process that was started.
func (w *world) runOne(i int) {
	one := w.waiting[i]
	w.waiting = slices.Delete(w.waiting, i, i+1)
	w.as(func() { w.must(one.run(w.tb.Context())) })
	w.release()
}

// release frees the locks of a process that was killed: this one lives on.
func (w *world) release() {
	for _, name := range []string{"queue-", "queue-checks-", "tasks-"} {
		os.Remove(w.p.Locks.Dir + "/" + name + worldSession + ".lock")
	}
}

func (w *world) drain() {
	for range 1000 {
		if len(w.waiting) == 0 {
			return
		}
		w.runOne(0)
	}
	w.tb.Fatal("pumps start each other for ever")
}

func (w *world) must(err error) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatal(err)
	}
}

func (w *world) queue() *session.Queue {
	w.tb.Helper()
	q, err := w.p.Queues().Load(worldSession)
	w.must(err)
	if q == nil {
		q = (&session.Queue{Session: worldSession}).Clone()
	}
	return q
}

// change is a command of the user; it pumps.
func (w *world) change(do func(q *session.Queue)) {
	w.tb.Helper()
	_, err := w.p.Queues().Update(w.tb.Context(), worldSession, func(q *session.Queue) error { do(q); return nil })
	w.must(err)
	w.pump()
}

// add is paw queue add.
func (w *world) add(tasks ...session.Task) {
	w.tb.Helper()
	w.change(func(q *session.Queue) {
		w.must(Add(q, tasks, func(agent string) int { return w.agents[agent].number() }))
	})
}

func (p *played) number() int { return len(p.turns) }

func (p *played) open() bool {
	return len(p.turns) > 0 && p.turns[len(p.turns)-1].State == turn.InProgress
}

// begin is a CLI that begins a turn.
func (w *world) begin(p *played, one input) {
	p.turns = append(p.turns, Turn{
		Record: turn.Record{Number: len(p.turns) + 1, State: turn.InProgress, Type: turn.TypePrompt, Prompt: turn.Prompt(one.text), StartedAt: w.now()},
		Task:   one.task, Person: one.task == "", Now: true,
	})
}

// take lets a CLI begin with what was typed.
func (w *world) take(p *played) {
	if len(p.input) == 0 || !p.running || p.open() || p.asks {
		return
	}
	one := p.input[0]
	p.input = p.input[1:]
	w.begin(p, one)
}

// end is a CLI that ends its turn, as change says.
func (w *world) end(p *played, change func(*Turn)) {
	if !p.running || !p.open() {
		return
	}
	last, at := &p.turns[len(p.turns)-1], w.now()
	p.asks = false
	last.State, last.Outcome, last.EndedAt = turn.Finished, "success", &at
	change(last)
	w.pump() // its hook
	w.take(p)
}

func ends(*Turn)      {}
func failure(t *Turn) { t.Outcome = "failure" }
func aborted(reason turn.Reason) func(*Turn) {
	return func(t *Turn) { t.State, t.Outcome, t.Reason = turn.Aborted, "", reason }
}

// limited is the end of a turn by a usage limit.
func (w *world) limited(until time.Time, answered bool) func(*Turn) {
	return func(t *Turn) {
		aborted(turn.ReasonError)(t)
		t.Limit, t.Answered = &turn.Limit{Until: until}, answered
	}
}

// crash ends the CLI of an agent without a word.
func (w *world) crash(p *played) {
	p.running, p.asks, p.box, p.input, p.state = false, false, false, nil, session.StateSuspended
}

// recover is paw recover: it holds the queue when it brings somebody back, and pumps.
func (w *world) recover() {
	back := false
	for _, name := range sortedKeys(w.agents) {
		p := w.agents[name]
		if p.running {
			continue
		}
		back, p.running = true, true
		for i := range p.turns {
			p.turns[i].Now = false
		}
		if p.open() {
			at := w.now()
			last := &p.turns[len(p.turns)-1]
			aborted(turn.ReasonCrash)(last)
			last.EndedAt = &at
		}
	}
	w.change(func(q *session.Queue) {
		if back && q.Open() {
			q.Held = "recover"
		}
	})
}

// look is the facts of this world.
func (w *world) look(context.Context, *session.Queue) (Facts, error) {
	f := Facts{
		Agents: map[string]Agent{}, CLIs: map[string]CLI{"a": {true, "a"}, "b": {true, "b"}}, Max: 2, Starts: 1000, Limits: w.limits, Pace: UsualPace,
	}
	for name, p := range w.agents {
		one := Agent{CLI: p.cli, Account: p.cli, Running: p.running, Ready: live.Due, Turns: slices.Clone(p.turns)}
		one.Status.State = session.StateIdle
		switch {
		case !p.running:
			one.Status.State, one.Ready = p.state, live.NotRunning
			one.Exited, one.Gone = p.state != session.StateSuspended, p.state == session.StateSuspended
		case p.asks:
			one.Status.State, one.Ready = session.StateWaitingInput, live.Busy
		case p.open():
			one.Status.State, one.Ready = session.StateRunning, live.Busy
		}
		f.Agents[name] = one
	}
	return f, nil
}

// count counts what is typed or started for a task, and finds what must not be.
func (w *world) count(t session.Task) {
	w.tb.Helper()
	key := fmt.Sprintf("%s %s %d", t.ID, t.Text, t.Tries)
	may := 1 + w.retried[t.ID]
	for _, p := range w.agents {
		for _, one := range p.turns {
			if one.Task == t.ID && one.Limit != nil || one.Limit != nil && t.Lonely {
				may++
			}
		}
	}
	if w.typed[key]++; w.typed[key] > may {
		w.tb.Errorf("%s was typed %d times", key, w.typed[key])
	}
	w.starts++
	q := w.queue()
	for _, id := range t.After {
		if before := q.Task(id); before != nil && before.State != session.TaskDone {
			w.tb.Errorf("%s begins, and %s is %s", t.ID, id, before.State)
		}
	}
	if q.Held != "" {
		w.tb.Errorf("%s begins, and the queue is held: %s", t.ID, q.Held)
	}
	at := 0
	for _, t := range q.Tasks {
		if t.State == session.TaskRunning && !t.Checking {
			at++
		}
	}
	if at > 2 {
		w.tb.Errorf("%d at work", at)
	}
}

// enter is the typing: what tmux does, and the CLI behind it.
func (w *world) enter(_ context.Context, t session.Task, text string, claim func() (session.Task, error)) error {
	p := w.agents[t.Agent]
	if p.box || p.asks || !p.running {
		return errBusy
	}
	claimed, err := claim()
	if err != nil {
		return err
	}
	if p.number() > claimed.Before || p.open() {
		return errNotBegun
	}
	if w.queue().Lanes[t.Agent].Held {
		w.tb.Errorf("%s is typed to %s, whom its user has turned to", t.ID, t.Agent)
	}
	w.count(claimed)
	p.input = append(p.input, input{t.ID, text})
	w.p.Step("queue.typed")
	if !p.late {
		w.take(p)
	}
	return nil
}

func (w *world) start(_ context.Context, t session.Task, cli, text string) error {
	if w.agents[t.Agent] != nil {
		w.tb.Errorf("%s is started twice", t.Agent)
	}
	w.count(t)
	p := &played{cli: cli, running: true, late: w.clock.Unix()%2 == 0}
	w.agents[t.Agent] = p
	w.p.Step("queue.started")
	p.input = []input{{t.ID, text}}
	if !p.late {
		w.take(p)
	}
	return nil
}

func (w *world) check(context.Context, session.Task) (string, error) {
	if w.failing > 0 {
		w.failing--
		return "the check failed", nil
	}
	return "", nil
}

func (w *world) text(t session.Task) (string, error) {
	if t.Text == session.TextContinue {
		return "go on", nil
	}
	return t.What, nil
}

func (w *world) tell(held []session.Task) {
	for _, t := range held {
		if now := w.queue().Task(t.ID); t.Why == session.HeldYou || now.Told == "" {
			w.tb.Errorf("its user is told of %+v, and that is not written down: %+v", t, now)
		}
	}
}

func (w *world) arm(context.Context) error { w.armed = true; return nil }

// tick is tmux that looks again, once a minute has passed.
func (w *world) tick() {
	w.clock = w.clock.Add(time.Minute)
	if w.armed {
		w.armed = false
		w.pump()
	}
}

func (w *world) String() string {
	var b strings.Builder
	for _, t := range w.queue().Tasks {
		fmt.Fprintf(&b, "%+v\n", t)
	}
	for _, name := range sortedKeys(w.agents) {
		p := w.agents[name]
		fmt.Fprintf(&b, "%s: running %t, asks %t, input %v, turns", name, p.running, p.asks, p.input)
		for _, one := range p.turns {
			fmt.Fprintf(&b, " %d:%s:%s:%s", one.Number, one.Task, one.State, one.Reason)
		}
		fmt.Fprintln(&b)
	}
	q := w.queue()
	fmt.Fprintf(&b, "held %q, lanes %v, blocks %v, typed %v, retried %v, %d killed", q.Held, q.Lanes, q.Blocks, w.typed, w.retried, w.killed)
	return b.String()
}
