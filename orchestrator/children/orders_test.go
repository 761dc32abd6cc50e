package children

import (
	"slices"
	"strings"
	"testing"

	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
)

// What can happen to a parent and its child, each once in every order.
const (
	childEnds     = "child ends"
	parentWaits   = "parent waits"
	parentCrashes = "parent crashes"
	childCrashes  = "child crashes"
	pawKilled     = "paw killed"
	recovered     = "recover"
)

// manner is how the events of an order happen.
type manner struct {
	step  string // after which paw is killed
	pane  string // what a crash leaves of a pane
	delay string // when the processes that an event starts run: "at once", "after the next event", "at the end"
	late  bool   // the CLI takes a typed prompt only later
}

// The manners of all orders: each step, and for the rest what turns up.
var (
	killSteps = []string{"wait.recorded", "turn.started", "turn.ended", "deliver.recorded", "deliver.typed", "deliver.acknowledged", "turn.aborted"}
	delays    = []string{"at once", "after the next event", "at the end"}
	deadPanes = []string{"gone", "dead"}
)

// TestEveryOrder runs all orders of the events, each with paw killed after one of the steps. Whatever happens, the parent is
// told once how its child ended, or the record says that this was typed and is not confirmed, which takes a paw that was
// killed or a CLI that died in the meantime. A wait that is still owed is served by the parent's next turn end.
func TestEveryOrder(t *testing.T) {
	t.Parallel()
	events := []string{childEnds, parentWaits, parentCrashes, childCrashes, pawKilled, recovered}
	for i, step := range killSteps {
		t.Run("killed after "+step, func(t *testing.T) {
			t.Parallel()
			outcomes, n := map[string]int{}, 0
			permute(events, func(order []string) {
				m := manner{step: step, pane: deadPanes[n/3%2], delay: delays[n%3], late: n/6%2 == 0}
				n++
				if n%len(killSteps) == i && !t.Failed() {
					outcomes[m.delay+": "+runOrder(t, order, m)]++
				}
			})
			t.Log(outcomes)
		})
	}
}

// permute calls visit with every order of the list.
func permute(list []string, visit func([]string)) {
	var with func(done, left []string)
	with = func(done, left []string) {
		if len(left) == 0 {
			visit(done)
		}
		for i := range left {
			with(append(slices.Clone(done), left[i]), slices.Delete(slices.Clone(left), i, i+1))
		}
	}
	with(nil, list)
}

// runOrder plays one order to its end and checks it. It returns how it came out.
func runOrder(t *testing.T, order []string, m manner) (outcome string) {
	f := newFamily(t, "c")
	f.late = m.late
	defer func() {
		if t.Failed() {
			t.Logf("%s, %+v\n%s", strings.Join(order, ", "), m, f)
		}
	}()
	waited, before := false, 0
	for _, event := range order {
		switch event {
		case childEnds:
			f.childEnds("c")
		case parentWaits:
			if waited = f.runs(parentName); waited {
				f.waitAndEnd()
			}
		case parentCrashes:
			f.crash(parentName, m.pane)
		case childCrashes:
			f.crash("c", m.pane)
		case pawKilled:
			f.kill = m.step
		case recovered:
			f.recover()
		}
		switch m.delay {
		case "at once":
			f.drain()
		case "after the next event":
			for range before {
				f.runOne(0)
			}
			before = len(f.queue)
		}
	}
	if m.delay == "at the end" {
		f.drain()
	}
	f.kill = ""
	f.recover()
	if !waited {
		f.waitAndEnd()
	}
	if f.open("c") {
		f.end("c", "")
	}
	f.drain()
	return f.checkOrder()
}

// childEnds is a turn of a child that ends; it is asked for another first, if it has none.
func (f *family) childEnds(name string) {
	if !f.runs(name) {
		return
	}
	if !f.open(name) {
		f.begin(name, "one more thing")
	}
	f.end(name, "")
}

// waitAndEnd is a parent that waits for whom it can, and then ends its turn.
func (f *family) waitAndEnd() {
	f.wait(WaitOptions{})
	f.start(func() bool { f.end(parentName, ""); return false })
}

// userPrompts is the user who turns to the parent, and its answer.
func (f *family) userPrompts() {
	if f.open(parentName) {
		f.end(parentName, "")
		f.drain()
	}
	f.begin(parentName, "go on")
	f.end(parentName, "")
	f.drain()
}

// checkOrder checks what has come out once all is at rest, with one wait for one child.
func (f *family) checkOrder() string {
	f.tb.Helper()
	outcome := "told"
	if w := f.record().Agent(parentName).Wait; w != nil && w.TypedAt == nil {
		if restarted := f.clis[parentName].launched.After(w.Since); f.clis["c"].reported && !restarted && len(f.killed) == 0 {
			f.tb.Error("the child has ended, nothing came in between, and the parent was not told")
		}
		if got := f.facts().State().State; got != session.StateWaitingChildren {
			f.tb.Errorf("the parent is owed something and shown as %s", got)
		}
		f.look()
		outcome = "told by a look"
	}
	if live.Owed(*f.record().Agent(parentName)) {
		if f.clis["c"].fresh {
			f.tb.Error("the child has ended since the parent runs, and whoever looks does not tell the parent")
		}
		outcome = "told at its next turn end"
		f.userPrompts()
	}
	if f.facts().Parent.Unconfirmed() {
		return f.checkUnconfirmed()
	}
	if w := f.facts().Parent.Record.Wait; w != nil {
		f.tb.Errorf("after a turn of the parent it still waits: %+v", w)
	}
	if f.prompts != 1 || len(f.told) != 1 {
		f.tb.Errorf("the parent was told in %d prompts of %v", f.prompts, f.told)
	}
	for end, times := range f.told {
		if times != 1 {
			f.tb.Errorf("told of %s %d times", end, times)
		}
	}
	f.userPrompts()
	if w := f.record().Agent(parentName).Wait; w != nil {
		f.tb.Errorf("nobody has cleaned the record up: %+v", w)
	}
	if f.prompts != 1 {
		f.tb.Error("it was told once more")
	}
	return outcome
}

// checkUnconfirmed checks that what was typed and not confirmed is reported, and can be seen, and is not typed again.
func (f *family) checkUnconfirmed() string {
	f.tb.Helper()
	killedBetween := slices.Contains(f.killed, "deliver.recorded") || slices.Contains(f.killed, "deliver.typed")
	if !killedBetween && !f.lost {
		f.tb.Error("unconfirmed, although nobody was killed while it was typed")
	}
	if f.prompts != 0 {
		f.tb.Errorf("unconfirmed, and the parent was told of %v", f.told)
	}
	status := f.facts().State()
	if status.State == session.StateWaitingChildren || !strings.Contains(status.Reason, "the results of c were typed and not confirmed") {
		f.tb.Errorf("the status does not say so: %+v", status)
	}
	if child := f.childFacts("c"); !child.Finished() || child.Result().Outcome == "" {
		f.tb.Error("the result of the child cannot be seen")
	}
	f.userPrompts()
	f.userPrompts()
	notes := 0
	records, problems := f.dir(parentName).Records()
	for _, r := range records {
		for _, note := range r.Notes {
			if strings.Contains(note, "the results of c were typed before and not confirmed") {
				notes++
			}
		}
	}
	if len(problems) > 0 || notes != 1 {
		f.tb.Errorf("%d turns say that something was lost, want 1; %v", notes, problems)
	}
	if w := f.record().Agent(parentName).Wait; w != nil || f.prompts != 0 {
		f.tb.Errorf("after that the parent waits for %+v and was told of %v", w, f.told)
	}
	return "unconfirmed"
}

// childFacts is a child as paw shows it now.
func (f *family) childFacts(name string) live.Facts {
	f.tb.Helper()
	s := f.record()
	all, err := looksAt(f.p, familySession, f.panes, observe.NotAtScreens)(f.tb.Context())
	f.must(err)
	one, _ := live.FamilyOf(all, branchOf(s, s.Agent(name)))
	return one.Parent
}
