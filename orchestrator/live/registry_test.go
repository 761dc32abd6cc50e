package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"paw/session"
	"paw/session/turn"
)

// disk is where the facts of a test come from: agents by name, which is also their branch.
type disk struct {
	agents map[string]Facts
	reads  int
	fail   error
}

func branchOf(name string) Branch { return Branch{Repository: "/r", Name: name} }

// set changes an agent; a parent is not asked whether it likes it.
func (d *disk) set(name, parent string, state session.State, waitsFor ...string) {
	f := Facts{
		Branch: branchOf(name), Record: session.Agent{Name: name, CLI: "demo", Parent: parent},
		Status: session.AgentStatus{State: state}, Last: &turn.Record{Number: 1, State: turn.Finished},
	}
	if parent != "" {
		f.Parent = branchOf(parent)
	}
	if waitsFor != nil {
		f.Record.Wait = &session.Wait{ID: "w", Children: waitsFor, Since: since}
	}
	d.agents[name] = f
}

// change changes the facts of an agent.
func (d *disk) change(name string, by func(*Facts)) {
	f := d.agents[name]
	by(&f)
	d.agents[name] = f
}

func (d *disk) look(context.Context) ([]Facts, error) {
	d.reads++
	var all []Facts
	for _, f := range d.agents {
		for _, other := range d.agents {
			if other.Record.Parent == f.Record.Name {
				f.Children = append(f.Children, other.Branch)
			}
		}
		all = append(all, f)
	}
	return all, d.fail
}

func newDisk(t *testing.T) (*disk, *Registry) {
	t.Helper()
	d := &disk{agents: map[string]Facts{}}
	r := NewRegistry(d.look)
	t.Cleanup(func() { checkInvariants(t, r) })
	return d, r
}

func load(t *testing.T, r *Registry, name string) Family {
	t.Helper()
	if err := r.EnsureLoaded(t.Context(), branchOf(name)); err != nil {
		t.Fatal(err)
	}
	f, _ := r.Get(branchOf(name))
	return f
}

func refresh(t *testing.T, r *Registry) {
	t.Helper()
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, r)
}

// loadedNames are the agents in the registry.
func loadedNames(r *Registry) []string {
	var names []string
	for b := range r.loaded {
		names = append(names, b.Name)
	}
	slices.Sort(names)
	return names
}

// mayResume reports whether there is something for a parent to go on with, should the user turn to it.
func mayResume(f Family) bool { return strings.Contains(Recall(f), "with your next paw send") }

// checkInvariants fails the test unless each loaded agent is in the last look, and the children of each loaded one that waits are loaded.
func checkInvariants(t *testing.T, r *Registry) {
	t.Helper()
	for b := range r.loaded {
		f, there := r.Get(b)
		if !there || f.Parent.Branch != b {
			t.Errorf("%s is loaded and not there", b.Name)
		}
		for _, child := range f.Parent.Children {
			if !r.loaded[child] && f.Awaits() {
				t.Errorf("%s waits and its child %s is not loaded", b.Name, child.Name)
			}
		}
	}
}

func stateOf(r *Registry, name string) session.State {
	f, _ := r.Get(branchOf(name))
	return f.State().State
}

func TestLoadLooksOnce(t *testing.T) {
	d, r := newDisk(t)
	d.set("a", "", session.StateIdle)
	if a := load(t, r, "a"); a.Parent.Branch != branchOf("a") || a.State().State != session.StateIdle {
		t.Errorf("got %+v", a)
	}
	d.set("a", "", session.StateRunning)
	if load(t, r, "a"); stateOf(r, "a") != session.StateIdle || d.reads != 1 {
		t.Errorf("%d looks, want 1", d.reads)
	}
}

func TestLoadOfWhatIsNot(t *testing.T) {
	d, r := newDisk(t)
	if err := r.EnsureLoaded(t.Context(), branchOf("a")); !errors.Is(err, ErrNoAgent) {
		t.Errorf("got %v", err)
	}
	d.set("b", "", session.StateIdle)
	if err := r.EnsureLoaded(t.Context(), branchOf("a"), branchOf("b")); !errors.Is(err, ErrNoAgent) {
		t.Errorf("got %v", err)
	}
	d.fail = errors.New("disk on fire")
	if err := r.EnsureLoaded(t.Context(), branchOf("a")); !errors.Is(err, d.fail) {
		t.Errorf("got %v", err)
	}
	if _, there := r.Get(branchOf("a")); there {
		t.Error("something is loaded")
	}
}

// The children of one that blocks in paw wait are loaded, and it is told which are left.
func TestWhoBlocksHasItsChildrenLoaded(t *testing.T) {
	d, r := newDisk(t)
	d.set("p", "", session.StateRunning)
	d.set("c", "p", session.StateRunning)
	d.set("e", "p", session.StateIdle)
	d.change("p", func(f *Facts) { f.Blocked = []string{"c", "e"} })
	p := load(t, r, "p")
	if got := loadedNames(r); !slices.Equal(got, []string{"c", "e", "p"}) {
		t.Errorf("loaded %v", got)
	}
	if w := p.waiting(); w == nil || !slices.Equal(w.Left, []string{"c"}) {
		t.Errorf("waits %+v", w)
	}
}

func TestRefreshReplacesAndNeverMerges(t *testing.T) {
	d, r := newDisk(t)
	d.set("p", "", session.StateIdle, "c")
	d.set("c", "p", session.StateIdle)
	p, c := load(t, r, "p"), load(t, r, "c")
	if p.State().State != session.StateWaitingChildren || len(p.Parent.Children) != 1 || !mayResume(p) || c.Parent.Parent != branchOf("p") {
		t.Fatalf("%s, %v, parent %v", p.State().State, p.Parent.Children, c.Parent.Parent)
	}
	d.set("p", "", session.StateRunning)
	delete(d.agents, "c")
	refresh(t, r)
	p, _ = r.Get(branchOf("p"))
	if p.State().State != session.StateRunning || p.Parent.Record.Wait != nil || len(p.Parent.Children) != 0 || mayResume(p) {
		t.Errorf("%s, %v, %v: something of before is left", p.State().State, p.Parent.Record.Wait, p.Parent.Children)
	}
	if _, there := r.Get(branchOf("c")); there {
		t.Error("an agent that left is still there")
	}
	d.set("c", "p", session.StateIdle)
	refresh(t, r)
	if _, there := r.Get(branchOf("c")); there {
		t.Error("an agent that came again is the one that left")
	}
}

func TestAFailedLookChangesNothing(t *testing.T) {
	d, r := newDisk(t)
	d.set("p", "", session.StateIdle)
	load(t, r, "p")
	d.set("p", "", session.StateRunning)
	d.fail = errors.New("disk on fire")
	if err := r.Refresh(t.Context()); !errors.Is(err, d.fail) || stateOf(r, "p") != session.StateIdle {
		t.Errorf("%v, %s", err, stateOf(r, "p"))
	}
}

func TestWhoBeginsToWaitGetsItsChildrenLoaded(t *testing.T) {
	d, r := newDisk(t)
	d.set("p", "", session.StateIdle)
	d.set("c", "p", session.StateRunning)
	d.set("g", "c", session.StateRunning)
	load(t, r, "p")
	parent := func() Family { f, _ := r.Get(branchOf("p")); return f }
	if got := loadedNames(r); !slices.Equal(got, []string{"p"}) {
		t.Fatalf("loaded %v", got)
	}
	d.set("p", "", session.StateIdle, "c")
	refresh(t, r)
	if got := loadedNames(r); !slices.Equal(got, []string{"c", "p"}) || mayResume(parent()) {
		t.Errorf("loaded %v", got)
	}
	d.set("c", "p", session.StateIdle, "g")
	refresh(t, r)
	if got := loadedNames(r); !slices.Equal(got, []string{"c", "g", "p"}) || mayResume(parent()) {
		t.Errorf("loaded %v: c has not ended as long as it waits itself", got)
	}
	d.set("c", "p", session.StateIdle)
	if refresh(t, r); !mayResume(parent()) {
		t.Error("c has ended")
	}
	if all := r.Branches(); len(all) != 3 {
		t.Errorf("%d branches", len(all))
	}
}

func TestRecordsThatLoopDoNoHarm(t *testing.T) {
	d, r := newDisk(t)
	d.set("x", "y", session.StateIdle, "y")
	d.set("y", "x", session.StateIdle, "x")
	d.set("z", "z", session.StateIdle, "z")
	load(t, r, "x")
	load(t, r, "z")
	refresh(t, r)
	if got := loadedNames(r); !slices.Equal(got, []string{"x", "y", "z"}) || mayResume(load(t, r, "z")) {
		t.Errorf("loaded %v", got)
	}
}

// Terminals that show an agent, or do not any more, change nothing of its state.
func TestTerminalsChangeNoState(t *testing.T) {
	d, r := newDisk(t)
	d.set("p", "", session.StateIdle, "c")
	d.set("c", "p", session.StateRunning)
	before := load(t, r, "p").State()
	for _, terminals := range [][]string{{"/dev/pts/1"}, {"/dev/pts/1", "/dev/pts/2"}, nil} {
		d.change("p", func(f *Facts) { f.Terminals = terminals })
		refresh(t, r)
		if f, _ := r.Get(branchOf("p")); f.State().State != before.State || f.State().Reason != before.Reason {
			t.Errorf("%q: %+v became %+v", terminals, before, f.State())
		}
	}
}
