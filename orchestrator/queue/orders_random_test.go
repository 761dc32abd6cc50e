package queue

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"paw/session"
	"paw/session/turn"
)

// event is something that can happen; n picks among agents, steps and the like.
type event struct {
	name string
	do   func(w *world, n int)
}

var killSteps = []string{"queue.settled", "queue.claimed", "queue.typed", "queue.started", "queue.checked"}

var events = []event{
	{"a prompt is queued", func(w *world, n int) {
		w.add(session.Task{Kind: session.PromptTask, Agent: w.agent(n), What: "prompt", Check: w.checks(n), Retries: n % 3})
	}},
	{"a task waits for checks of a pull request", func(w *world, n int) {
		if slices.ContainsFunc(w.queue().Tasks, func(t session.Task) bool { return t.On != "" && t.Agent == w.agent(n) && !t.State.Over() }) {
			return // refused
		}
		w.add(session.Task{Kind: session.PromptTask, Agent: w.agent(n), What: "checks", On: session.OnCI, Checking: true, Retries: n % 4})
	}},
	{"a commit is pushed", func(w *world, _ int) { w.pushed, w.ci = w.pushed+1, "" }},
	{"the checks of pull requests end", func(w *world, n int) { w.ci = []string{"red", "red", "green", "gone"}[n%4] }},
	{"a task is queued", func(w *world, n int) {
		w.add(session.Task{Kind: session.AgentTask, CLIs: [][]string{{"a"}, {"b"}, {"a", "b"}}[n%3], After: w.after(n), What: "task", Check: w.checks(n), Retries: n % 2})
	}},
	{"a task is queued that may take 20 s", func(w *world, n int) {
		w.add(session.Task{Kind: session.AgentTask, CLIs: []string{"a"}, What: "task", Timeout: 20 * time.Second, Check: w.checks(n)})
	}},
	{"a turn ends", func(w *world, n int) { w.end(w.agents[w.agent(n)], ends) }},
	{"a turn ends", func(w *world, n int) { w.end(w.agents[w.agent(n)], ends) }},
	{"a turn ends", func(w *world, n int) { w.end(w.agents[w.agent(n)], ends) }},
	{"a turn gives up", func(w *world, n int) { w.end(w.agents[w.agent(n)], failure) }},
	{"a turn fails", func(w *world, n int) { w.end(w.agents[w.agent(n)], aborted(turn.ReasonError)) }},
	{"a turn is interrupted", func(w *world, n int) { w.end(w.agents[w.agent(n)], aborted(turn.ReasonInterrupted)) }},
	{"a limit is reached", func(w *world, n int) {
		w.end(w.agents[w.agent(n)], w.limited(w.clock.Add(time.Duration(n)*time.Minute), n%2 == 0))
	}},
	{"a limit is reached of which nobody tells the end", func(w *world, n int) { w.end(w.agents[w.agent(n)], w.limited(time.Time{}, n%2 == 0)) }},
	{"a CLI waits for a limit itself", func(w *world, n int) {
		if p := w.agents[w.agent(n)]; p.running && p.open() {
			p.turns[len(p.turns)-1].Limit = &turn.Limit{Until: w.clock.Add(time.Duration(n) * time.Minute)}
		}
	}},
	{"an agent asks", func(w *world, n int) { p := w.agents[w.agent(n)]; p.asks = p.running && p.open() }},
	{"the user prompts an agent", func(w *world, n int) { w.prompt(w.agent(n)) }},
	{"the user prompts an agent in the midst of it", func(w *world, n int) { w.between = func() { w.prompt(w.agent(n)) } }},
	{"the user types half a prompt", func(w *world, n int) { p := w.agents[w.agent(n)]; p.box = p.running && n%2 == 0 }},
	{"an agent crashes", func(w *world, n int) { w.crash(w.agents[w.agent(n)]) }},
	{"the machine crashes", func(w *world, _ int) {
		for _, p := range w.agents {
			w.crash(p)
		}
		w.waiting, w.timer, w.lost, w.down = nil, "", true, "crash"
	}},
	{"a CLI ends", func(w *world, n int) {
		if p := w.agents[w.agent(n)]; p.running {
			w.dies(p)
		}
	}},
	{"CLIs end at their start", func(w *world, n int) { w.dying = n % 6 }},
	{"a CLI tells nothing", func(w *world, n int) {
		if p := w.agents[w.agent(n)]; p.running && len(p.turns) == 0 {
			p.mute = w.now()
		}
	}},
	{"no agent can be made", func(w *world, n int) { w.refused = n % 3 }},
	{"an agent is removed", func(w *world, n int) {
		if len(w.agents) > 1 {
			delete(w.agents, w.agent(n))
			w.pump()
		}
	}},
	{"the session is stopped", func(w *world, _ int) { w.stop() }},
	{"tmux is silent", func(w *world, n int) { w.silent = n % 8 }},
	{"another process runs in the midst of it", func(w *world, n int) { w.midst = func() { w.some(n) } }},
	{"a process runs and another one after it", func(w *world, n int) { w.pump(); w.some(n) }},
	{"recover", func(w *world, _ int) { w.recover() }},
	{"paw is killed", func(w *world, n int) { w.kill = killSteps[n%len(killSteps)] }},
	{"a CLI is slow", func(w *world, n int) { w.agents[w.agent(n)].late = n%2 == 0 }},
	{"a CLI takes what was typed", func(w *world, n int) { w.take(w.agents[w.agent(n)]) }},
	{"set-ups hang", func(w *world, n int) { w.hanging = n%2 == 0 }},
	{"a set-up ends", func(w *world, n int) {
		switch p := w.agents[w.agent(n)]; {
		case !p.sets:
		case n%3 == 0:
			w.dies(p) // it has failed
		default:
			p.sets = false
			w.take(p)
		}
	}},
	{"a file cannot be read or written", func(w *world, n int) { w.damage(n) }},
	{"all files can be read and written", func(w *world, _ int) { w.repair() }},
	{"checks fail", func(w *world, n int) { w.failing = n % 3 }},
	{"time passes", func(w *world, _ int) { w.tick() }},
	{"a process runs", func(w *world, n int) { w.some(n) }},
	{"a process runs", func(w *world, n int) { w.some(n) }},
	{"all processes run", func(w *world, _ int) { w.drain(); w.checkArmed() }},
	{"time passes, and all processes run", func(w *world, _ int) { w.tick(); w.drain(); w.checkArmed() }},
	{"go", func(w *world, _ int) { w.letGo() }},
	{"hold all", func(w *world, _ int) { w.change(func(q *session.Queue) { Hold(q, nil) }) }},
	{"hold", func(w *world, n int) { w.command(n, func(q *session.Queue, id string) { Hold(q, []string{id}) }) }},
	{"retry", func(w *world, n int) { w.command(n, w.retry) }},
	{"drop", func(w *world, n int) { w.command(n, func(q *session.Queue, id string) { Drop(q, []string{id}) }) }},
}

// FuzzOrders plays random orders of whatever can happen to a queue, with every process killed anywhere, and checks that
// nothing is typed twice, that nothing is lost, and that a person always goes first.
func FuzzOrders(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomBytes(seed))
	}
	f.Add([]byte("00+0x0x070")) // a CLI begins a task after the queue has given it up
	f.Fuzz(func(t *testing.T, events []byte) { runRandom(t, events) })
}

// TestRandomOrders is FuzzOrders for the same orders each time; PAW_ORDERS is how many.
func TestRandomOrders(t *testing.T) {
	t.Parallel()
	orders, err := strconv.ParseUint(os.Getenv("PAW_ORDERS"), 10, 64)
	if err != nil {
		orders = 40
	}
	for seed := range orders {
		if runRandom(t, randomBytes(1000+seed)); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomBytes(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	bytes := make([]byte, 2*(10+random.IntN(60)))
	for i := range bytes {
		bytes[i] = byte(random.Uint32())
	}
	return bytes
}

func runRandom(t *testing.T, bytes []byte) {
	w := newWorld(t)
	var log []string
	defer func() {
		if t.Failed() {
			t.Logf("%s\n%s", strings.Join(log, "\n"), w)
		}
	}()
	w.agents["x"] = &played{cli: "a", running: true}
	w.agents["y"] = &played{cli: "b", running: true}
	if len(bytes) > 1 {
		w.limits = []Limits{{}, {Continue: true, Times: 2}, {HandOver: []string{"b", "a"}, Times: 2}}[int(bytes[0])%3]
		w.most = 1 + int(bytes[1])%3
		w.bound = []int{1000, 1000, 5}[int(bytes[1])/3%3]
	}
	for len(bytes) >= 2 && len(log) < 100 && !t.Failed() {
		one, n := events[int(bytes[0])%len(events)], int(bytes[1])
		bytes = bytes[2:]
		log = append(log, fmt.Sprintf("%s (%d)", one.name, n))
		one.do(w, n)
		w.checkOver()
	}
	log = append(log, "rest")
	w.rest()
}

func (w *world) agent(n int) string {
	names := slices.Sorted(maps.Keys(w.agents))
	return names[n%len(names)]
}

func (w *world) checks(n int) []string {
	if n%2 == 0 {
		return nil
	}
	return []string{"make test"}
}

// after is a task that was queued before, or none.
func (w *world) after(n int) []string {
	tasks := w.queue().Tasks
	if len(tasks) == 0 || n%2 == 0 {
		return nil
	}
	return []string{tasks[n%len(tasks)].ID}
}

func (w *world) agentOf(agent string) (cli string, turn int) {
	if p := w.agents[agent]; p != nil {
		return p.cli, len(p.turns) + len(p.input)
	}
	return "", 0
}

// prompt is the user who types a prompt; the CLI keeps it while it is busy.
func (w *world) prompt(name string) {
	p := w.agents[name]
	if p.running && !p.asks {
		p.box = false
		p.input = append(p.input, input{text: "do this"})
		w.take(p)
	}
}

// some runs one process, whichever.
func (w *world) some(n int) {
	if len(w.waiting) > 0 {
		w.runOne(n % len(w.waiting))
	}
}

// command is a command about one task.
func (w *world) command(n int, do func(q *session.Queue, id string)) {
	if tasks := w.queue().Tasks; len(tasks) > 0 {
		w.change(func(q *session.Queue) {
			catchUp(q, w.known(), w.now())
			do(q, tasks[n%len(tasks)].ID)
		})
	}
}

// letGo is paw queue go --all.
func (w *world) letGo() {
	clear(w.deaths)
	w.change(func(q *session.Queue) {
		catchUp(q, w.known(), w.now())
		Go(q, nil, w.agentOf)
	})
}

// known is what a command knows.
func (w *world) known() Facts {
	f := w.facts()
	f.Looking = true
	return f
}

func (w *world) retry(q *session.Queue, id string) {
	clear(w.deaths)
	if len(Retry(q, []string{id}, w.agentOf, func(t session.Task) session.Task { return t })) == 0 {
		w.retried[id]++
		delete(w.done, id)
	}
}

// checkOver finds tasks that were over and are not any more.
func (w *world) checkOver() {
	w.tb.Helper()
	for _, t := range w.queue().Tasks {
		if t.State == session.TaskDone {
			w.done[t.ID] = true
		} else if w.done[t.ID] {
			w.tb.Errorf("%s was done, and is %s", t.ID, t.State)
		}
	}
}

// rest lets everything come to its end: what crashed is recovered, all turns end well, limits are lifted, and the user lets
// go and begins again what is held. Then nothing may be left.
func (w *world) rest() {
	w.repair()
	w.hanging = false
	w.ci = "green"
	w.pushed++
	w.kill, w.between, w.midst, w.failing, w.refused, w.dying, w.silent = "", nil, nil, 0, 0, 0, 0
	w.drain()
	w.checkArmed()
	w.recover()
	for range 40 {
		w.drain()
		for _, name := range slices.Sorted(maps.Keys(w.agents)) {
			p := w.agents[name]
			if p.box, p.late, p.sets = false, false, false; !p.running {
				w.recover()
			}
			p.mute = time.Time{}
			w.take(p)
			w.end(p, ends)
		}
		w.drain()
		w.clock = w.clock.Add(10 * time.Minute)
		w.tick()
		w.drain()
		w.checkArmed()
		w.letGo()
		w.change(func(q *session.Queue) {
			q.StartsMax = 1000
			for _, t := range q.Tasks {
				open := t.State == session.TaskWaiting || t.State == session.TaskHeld
				gone := open && t.Kind == session.PromptTask && w.agents[t.Agent] == nil
				switch {
				case gone && len(t.CLIs) == 0:
					Drop(q, []string{t.ID})
				case t.State == session.TaskHeld || gone:
					w.retry(q, t.ID)
				}
			}
		})
	}
	w.drain()
	q := w.queue()
	for _, t := range q.Tasks {
		if !t.State.Over() {
			w.tb.Errorf("%s was lost: it is %s (%s)", t.ID, t.State, t.Why)
		}
		typed := slices.ContainsFunc(slices.Sorted(maps.Keys(w.typed)), func(key string) bool { return strings.HasPrefix(key, t.ID+" ") })
		if t.State == session.TaskDone && !typed && !t.Lonely && t.On == "" {
			w.tb.Errorf("%s is done, and was never typed", t.ID)
		}
	}
	if w.starts != q.Starts && w.killed == 0 {
		w.tb.Errorf("%d were begun, and the queue has %d", w.starts, q.Starts)
	}
	w.checkOver()
}
