package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/forge"
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
	most   int // agents that the queue may keep at work
	bound  int // launches and prompts that it may make
	kill   string
	killed int

	waiting  []func() error  // processes that were started and have not run yet
	depth    int             // processes that run, each in the midst of another one
	timer    string          // agent in whose pane tmux counts the time until somebody looks, "" for none
	ticked   bool            // a timer has started the process that runs, which has not removed the next one
	lost     bool            // tmux was not told to look by a process that was killed
	down     string          // why nothing can begin, "" for nothing
	silent   int             // so many questions tmux does not answer
	between  func()          // happens right after a claim, once
	midst    func()          // happens right after a look or in a check, once
	failing  int             // so many checks fail
	refused  int             // so many agents are not made
	whole    *session.Queue  // the queue before
	repaired func()          // repairs it, nil where all are whole
	hanging  bool            // set-ups do not end
	dying    int             // so many CLIs end at their start
	deaths   map[string]int  // in a row, by CLI
	typed    map[string]int  // how often a text was typed or an agent started with it, by task and text
	retried  map[string]int  // how often its user had a task begun again
	done     map[string]bool // tasks that were seen to be over
	starts   int

	pushed int    // commits of pull requests
	ci     string // what their checks came to: "red" or "green", "" while they run, "gone" where the server does not answer
}

// played is an agent whose CLI is played.
type played struct {
	cli     string
	running bool
	asks    bool
	box     bool // somebody has typed half a prompt
	sets    bool // its worktree is being set up
	late    bool // it begins a turn only some time after the prompt
	stopped bool
	mute    time.Time // when it was launched, if no hook of it reports
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
		retried: map[string]int{}, done: map[string]bool{}, deaths: map[string]int{}, most: 2, bound: 1000,
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
	if w.kill == name && w.depth == 1 {
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
	w.waiting = append(w.waiting, func() error { return w.newPump().run(w.tb.Context()) })
}

func (w *world) newPump() *pump {
	return &pump{App: w.p, session: worldSession, hands: w, pause: func(context.Context) {}}
}

// runOne runs a process that was started.
func (w *world) runOne(i int) {
	one, killed := w.waiting[i], w.killed
	w.waiting = slices.Delete(w.waiting, i, i+1)
	if w.depth++; w.depth == 1 {
		w.ticked = false
	}
	w.as(func() { w.must(one()) })
	if w.depth--; w.depth > 0 {
		return
	}
	w.release()
	w.lost = w.killed > killed && (w.lost || w.timer == "" && !w.ticked)
}

// soon lets something happen in the midst of what a process does.
func (w *world) soon() {
	if midst := w.midst; midst != nil {
		w.midst = nil
		midst()
	}
}

// release frees the locks of a process that was killed: this one lives on.
func (w *world) release() {
	for _, name := range []string{"queue-", "queue-checks-", "tasks-"} {
		if w.repaired != nil && name == "tasks-" {
			continue
		}
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

// damage does something to the queue's file, or to the lock without which nobody writes it, as a full disk does, until
// repair is called. What is done meanwhile fails.
func (w *world) damage(n int) {
	if w.repaired != nil {
		return
	}
	w.whole = w.queue()
	lock := w.p.Locks.Dir + "/tasks-" + worldSession + ".lock"
	file := w.p.Queues().Folder(worldSession) + "/queue.json"
	whole, err := os.ReadFile(file)
	switch {
	case n%2 == 0 || err != nil:
		os.Remove(lock)
		w.must(os.MkdirAll(lock, 0o700))
		w.repaired = func() { os.Remove(lock) }
	default:
		w.must(os.WriteFile(file, whole[:len(whole)*(n%7)/7], 0o600))
		w.repaired = func() { w.must(os.WriteFile(file, whole, 0o600)) }
	}
}

func (w *world) repair() {
	if w.repaired != nil {
		repaired := w.repaired
		w.repaired = nil
		repaired()
		w.pump() // paw queue, with which its user looks whether all is well
	}
}

func (w *world) must(err error) {
	w.tb.Helper()
	if err != nil && w.repaired == nil {
		w.tb.Fatal(err)
	}
}

func (w *world) queue() *session.Queue {
	w.tb.Helper()
	q, err := w.p.Queues().Load(worldSession)
	if err != nil && w.repaired != nil {
		return w.whole.Clone() // of a file that cannot be read
	}
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
	if name := w.nameOf(p); awaitsTurn(w.queue(), name) {
		w.pump() // the hook of the beginning
	}
}

func (w *world) nameOf(p *played) string {
	for name, one := range w.agents {
		if one == p {
			return name
		}
	}
	return ""
}

// take lets a CLI begin with what was typed.
func (w *world) take(p *played) {
	if len(p.input) == 0 || !p.running || p.sets || p.open() || p.asks || !p.mute.IsZero() {
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
	w.deaths[p.cli] = 0
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
	p.running, p.sets, p.asks, p.box, p.input, p.state, p.mute = false, false, false, false, nil, session.StateSuspended, time.Time{}
}

// dies is a CLI that ends by itself, in a pane that stays.
func (w *world) dies(p *played) {
	w.crash(p)
	p.state = session.StateError
	w.deaths[p.cli]++
}

// stop is paw stop: it holds the queue before it ends anything.
func (w *world) stop() {
	w.change(func(q *session.Queue) {
		if q.Open() {
			q.Held = cmp.Or(q.Held, "stop")
		}
	})
	for _, name := range slices.Sorted(maps.Keys(w.agents)) {
		p := w.agents[name]
		w.end(p, aborted(turn.ReasonStopped))
		w.crash(p)
		p.stopped = true
	}
	w.down, w.timer = "stop", ""
}

// recover is paw recover: it holds the queue when it brings somebody back, and pumps.
func (w *world) recover() {
	back := false
	w.down = ""
	for _, name := range slices.Sorted(maps.Keys(w.agents)) {
		p := w.agents[name]
		if p.running {
			continue
		}
		back, p.running, p.stopped = true, true, false
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
	f := w.facts()
	if w.silent > 0 {
		w.silent--
		f.Down = session.ReasonTmuxSilent
		for name, one := range f.Agents {
			one.Status.State, one.Ready, one.Exited, one.Gone = session.StateUnknown, live.NotDue, false, false
			f.Agents[name] = one
		}
	}
	w.soon()
	return f, nil
}

func (w *world) facts() Facts {
	f := Facts{
		Agents: map[string]Agent{}, CLIs: map[string]CLI{"a": {true, "a"}, "b": {true, "b"}}, Max: w.most, Starts: w.bound, Limits: w.limits, Pace: UsualPace,
		Down: w.down,
	}
	for name, p := range w.agents {
		one := Agent{CLI: p.cli, Account: p.cli, Running: p.running, Ready: live.Due, Silent: p.mute, Turns: slices.Clone(p.turns)}
		one.Status.State = session.StateIdle
		switch {
		case p.running && p.sets:
			one.Status.State, one.Status.Cause, one.Ready, one.Starting = session.StateRunning, session.CauseSetUp, live.Busy, true
		case !p.running:
			one.Status.State, one.Ready = p.state, live.NotRunning
			one.Exited, one.Gone = p.state != session.StateSuspended, p.state == session.StateSuspended
			if p.stopped {
				one.Status.Cause = session.CauseStopped
			}
		case p.asks:
			one.Status.State, one.Ready = session.StateWaitingInput, live.Busy
		case p.open() || !p.mute.IsZero():
			one.Status.State, one.Ready = session.StateRunning, live.Busy
		}
		f.Agents[name] = one
	}
	return f
}

// count counts what is typed or started for a task, and finds what must not be.
func (w *world) count(t session.Task) {
	w.tb.Helper()
	key := fmt.Sprintf("%s %s %d", t.ID, t.Text, t.Tries)
	if t.On != "" && t.Text == session.TextBack {
		key = t.ID + " commit " + t.Commit
	}
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
	if w.down != "" {
		w.tb.Errorf("%s begins, and nothing can: %s", t.ID, w.down)
	}
	if w.starts > max(w.bound, q.StartsMax) {
		w.tb.Errorf("%d were begun, of %d", w.starts, w.bound)
	}
	if at := 1 + w.atWork(t.ID); at > w.most {
		w.tb.Errorf("%s begins, and %d are at work, of %d", t.ID, at, w.most)
	}
}

// atWork counts the agents that work for the queue by what they do, whatever it has written down: those apart that its user has
// taken from it, or has had typed once more.
func (w *world) atWork(but string) (at int) {
	q := w.queue()
	counts := func(id string) bool {
		t := q.Task(id)
		return t != nil && id != but && w.retried[id] == 0 && (t.State == session.TaskRunning || t.State == session.TaskFailed)
	}
	for _, p := range w.agents {
		if p.running && (p.open() && counts(p.turns[len(p.turns)-1].Task) || slices.ContainsFunc(p.input, func(one input) bool { return counts(one.task) })) {
			at++
		}
	}
	return at
}

// enter is the typing: what tmux does, and the CLI behind it.
func (w *world) enter(_ context.Context, t session.Task, text string, claim func() (session.Task, error)) error {
	p := w.agents[t.Agent]
	if p == nil || p.box || p.asks || !p.running || p.sets || w.silent > 0 {
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
	if w.refused > 0 {
		w.refused--
		return errNotBegun
	}
	w.count(t)
	if w.deaths[cli] > quick+w.most {
		w.tb.Errorf("%s is started, and %d of it have ended at their start", cli, w.deaths[cli])
	}
	p := &played{cli: cli, running: true, late: w.clock.Unix()%2 == 0, sets: w.hanging}
	w.agents[t.Agent] = p
	w.p.Step("queue.started")
	if w.dying > 0 {
		w.dying--
		w.dies(p)
		return nil
	}
	p.input = []input{{t.ID, text}}
	if !p.late {
		w.take(p)
	}
	return nil
}

func (w *world) check(context.Context, session.Task) (string, error) {
	w.soon()
	if w.failing > 0 {
		w.failing--
		return "the check failed", nil
	}
	return "", nil
}

func (w *world) ask(_ context.Context, t session.Task) (commit, failed string, err error) {
	w.soon()
	commit = fmt.Sprint(w.pushed)
	switch {
	case w.ci == "gone":
		return "", "", errs.New(errs.Failed, "no connection")
	case w.ci == "" || commit == t.Commit:
		return "", "", forge.ErrNotYet
	case w.ci == "red":
		return commit, "the checks failed", nil
	}
	return commit, "", nil
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

func (w *world) arm(context.Context) (armed bool, err error) {
	if w.silent > 0 {
		w.silent--
		return false, errors.New("no answer")
	}
	for _, name := range slices.Sorted(maps.Keys(w.agents)) {
		if w.agents[name].state != session.StateSuspended || w.agents[name].running {
			w.timer = name
			return true, nil
		}
	}
	return false, nil // tmux has no pane
}

func (w *world) disarm(context.Context) { w.timer, w.ticked = "", false }

// tick is tmux that has somebody look again, once a minute has passed, also for a pane that is gone.
func (w *world) tick() {
	w.clock = w.clock.Add(time.Minute)
	name := w.timer
	if w.timer = ""; name == "" {
		return
	}
	if p := w.agents[name]; p == nil || !p.running && p.state == session.StateSuspended {
		w.pump()
		return
	}
	w.waiting = append(w.waiting, func() error {
		w.ticked = w.ticked || w.depth == 1
		return w.newPump().tick(w.tb.Context())
	})
}

// checkArmed finds what is due now or later when nobody is going to look for it.
func (w *world) checkArmed() {
	w.tb.Helper()
	panes := slices.ContainsFunc(slices.Sorted(maps.Keys(w.agents)), func(name string) bool { return w.agents[name].running })
	if len(w.waiting) > 0 || w.lost || w.repaired != nil || w.down != "" || !panes {
		return
	}
	_, steps := Next(w.queue(), w.facts(), w.clock)
	for _, s := range steps {
		if (s.Acts() || s.Do == StepCheck || s.Do == StepAsk || s.Do == StepArm) && w.timer == "" {
			w.tb.Errorf("nobody looks, and due is: %s\n%s", s, w)
		}
	}
}

func (w *world) String() string {
	var b strings.Builder
	for _, t := range w.queue().Tasks {
		fmt.Fprintf(&b, "%+v\n", t)
	}
	for _, name := range slices.Sorted(maps.Keys(w.agents)) {
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
