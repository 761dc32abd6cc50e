package children

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"paw/orchestrator/launch"
	"paw/orchestrator/live"
	"paw/session"
	"paw/session/turn"
)

// randomFamily plays events that come as numbers.
type randomFamily struct {
	*family
	log []string // what happened, for a test that fails
}

// event is something that can happen; n picks among children, steps and the like.
type event struct {
	name string
	do   func(f *randomFamily, n int)
}

var randomEvents = []event{
	{"child ends", func(f *randomFamily, n int) { f.childEnds(f.child(n)) }},
	{"child fails", func(f *randomFamily, n int) { f.end(f.child(n), turn.ReasonError) }},
	{"child is prompted", func(f *randomFamily, n int) { f.prompt(f.child(n)) }},
	{"child crashes", func(f *randomFamily, n int) { f.crash(f.child(n), deadPanes[n/3%2]) }},
	{"child is removed", func(f *randomFamily, n int) { f.remove(f.child(n)) }},
	{"parent waits for all", func(f *randomFamily, _ int) { f.waits(WaitOptions{}) }},
	{"parent waits for any", func(f *randomFamily, _ int) { f.waits(WaitOptions{Any: true}) }},
	{"parent waits for one", func(f *randomFamily, n int) { f.waitsForOne(f.child(n)) }},
	{"parent ends its turn", func(f *randomFamily, _ int) { f.end(parentName, "") }},
	{"parent ends its turn", func(f *randomFamily, _ int) { f.end(parentName, "") }},
	{"parent is interrupted", func(f *randomFamily, _ int) { f.end(parentName, turn.ReasonInterrupted) }},
	{"parent shows a dialog", func(f *randomFamily, _ int) { f.clis[parentName].asks = f.runs(parentName) && f.open(parentName) }},
	{"parent crashes", func(f *randomFamily, n int) { f.crash(parentName, deadPanes[n%2]) }},
	{"user prompts the parent", func(f *randomFamily, _ int) { f.prompt(parentName) }},
	{"user prompts it in the middle of a delivery", func(f *randomFamily, _ int) { f.between = func() { f.prompt(parentName) } }},
	{"user runs a command", func(f *randomFamily, _ int) { f.as(func() { ClaimAll(f.p, familySession) }) }},
	{"machine crashes", func(f *randomFamily, _ int) { f.machineCrashes() }},
	{"recover", func(f *randomFamily, _ int) { f.recover() }},
	{"paw is killed", func(f *randomFamily, n int) { f.kill = killSteps[n%len(killSteps)] }},
	{"time passes", func(f *randomFamily, _ int) { f.look() }},
	{"a process runs", func(f *randomFamily, n int) { f.some(n) }},
	{"a process runs", func(f *randomFamily, n int) { f.some(n) }},
	{"all processes run", func(f *randomFamily, _ int) { f.drain() }},
	{"CLIs are slow", func(f *randomFamily, n int) { f.late = n%2 == 0 }},
}

// FuzzOrders plays random orders of whatever can happen to a family, with every process killed anywhere, and checks that
// the parent is told of no end twice and that none is lost.
func FuzzOrders(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomBytes(seed))
	}
	f.Fuzz(func(t *testing.T, events []byte) { runRandom(t, events) })
}

// TestRandomOrders is FuzzOrders for the same orders each time.
func TestRandomOrders(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		if runRandom(t, randomBytes(1000+seed)); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomBytes(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	events := make([]byte, 2*(10+random.IntN(40)))
	for i := range events {
		events[i] = byte(random.Uint32())
	}
	return events
}

func runRandom(t *testing.T, events []byte) {
	f := &randomFamily{family: newFamily(t, "a", "b", "c")}
	defer func() {
		if t.Failed() {
			t.Logf("%s\n%s", strings.Join(f.log, "\n"), f)
		}
		f.closeLocks()
	}()
	for len(events) >= 2 && len(f.log) < 100 && !t.Failed() {
		one, n := randomEvents[int(events[0])%len(randomEvents)], int(events[1])
		events = events[2:]
		f.log = append(f.log, fmt.Sprintf("%s (%d)", one.name, n))
		one.do(f, n)
	}
	f.rest()
	f.check()
}

// child is one of the children that are in the session.
func (f *randomFamily) child(n int) string {
	children := f.record().Children(parentName)
	return children[n%len(children)]
}

// prompt is the user who types a prompt; the CLI queues it while it is busy, and takes none in a dialog.
func (f *randomFamily) prompt(name string) {
	if !f.runs(name) || f.open(name) {
		return
	}
	f.begin(name, "do this")
}

// waits is a parent that waits in a turn which the user began.
func (f *randomFamily) waits(o WaitOptions) {
	if f.runs(parentName) && !f.clis[parentName].asks {
		f.wait(o)
	}
}

func (f *randomFamily) waitsForOne(name string) {
	if f.runs(name) && f.open(name) { // one that rests would be told of for what it did before
		f.waits(WaitOptions{Agents: []string{name}})
	}
}

func (f *randomFamily) machineCrashes() {
	for _, name := range f.names {
		f.crash(name, "gone")
	}
	f.queue = nil // nor has any process outlived it
}

// remove takes a child out of the session, as paw remove does; one stays.
func (f *randomFamily) remove(name string) {
	if len(f.record().Children(parentName)) == 1 {
		return
	}
	f.crash(name, "gone")
	f.as(func() {
		_, err := f.p.Update(f.tb.Context(), familySession, func(rec *session.Session) error {
			launch.DropAgent(rec, name)
			return nil
		})
		f.must(err)
		ClaimAfter(f.p, familySession, name, 0, true)
	})
}

// some runs one process, whichever.
func (f *randomFamily) some(n int) {
	if len(f.queue) > 0 {
		f.runOne(n % len(f.queue))
	}
}

// rest lets everything come to its end: what crashed is recovered, every turn ends, and every child that is waited for
// has done something since.
func (f *randomFamily) rest() {
	f.drain()
	f.kill, f.between = "", nil
	f.recover()
	for _, name := range f.names[1:] {
		if f.record().Agent(name) != nil {
			f.end(name, "")
		}
	}
	f.end(parentName, "")
	f.drain()
	if family := f.facts(); family.Parent.Waits() {
		for _, name := range family.Left() {
			f.childEnds(name)
		}
	}
	f.drain()
	f.look()
}

// check checks what has come out.
func (f *randomFamily) check() {
	f.tb.Helper()
	if live.Owed(*f.record().Agent(parentName)) {
		f.userPrompts()
	}
	if live.Owed(*f.record().Agent(parentName)) {
		f.tb.Errorf("all have ended, the parent has ended a turn, and it is still owed %+v", f.record().Agent(parentName).Wait)
	}
	killed := slices.ContainsFunc(f.killed, func(step string) bool { return strings.HasPrefix(step, "deliver.") })
	if f.facts().Parent.Unconfirmed() && !killed && !f.lost {
		f.tb.Error("unconfirmed, although nobody was killed while it was typed")
	}
	// Whatever ended and was told of to nobody, a parent that asks now is told of.
	f.userPrompts()
	f.wait(WaitOptions{})
	f.end(parentName, "")
	f.drain()
	f.userPrompts()
	s := f.record()
	if w := s.Agent(parentName).Wait; w != nil {
		f.tb.Errorf("at the very end the parent waits for %+v", w)
	}
	for end, times := range f.told {
		if times > 1 {
			f.tb.Errorf("told of %q %d times", end, times)
		}
	}
	for _, name := range s.Children(parentName) {
		last := f.last(name).Number
		if told := s.Agent(name).Told; told != last {
			f.tb.Errorf("%s has ended turn %d, and the parent was told of %d", name, last, told)
		}
		heard := slices.ContainsFunc(keysOf(f.told), func(end string) bool { return strings.HasPrefix(end, fmt.Sprintf("%s/%d ", name, last)) })
		if !heard && !killed && !f.lost {
			f.tb.Errorf("the parent never heard of %s, turn %d", name, last)
		}
	}
}

func keysOf(m map[string]int) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}
