package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"paw/session"
	"paw/session/history"
	"paw/session/turn"
)

// disk is where the facts of a test come from: agents by name, which is also their branch.
type disk struct {
	mu     sync.Mutex
	agents map[string]Facts
	reads  int
	fail   error
}

func branchOf(name string) Branch { return Branch{Repository: "/r", Name: name} }

// set changes an agent; a parent is not asked whether it likes it.
func (d *disk) set(name, parent string, state session.State, waitsFor ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
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

// show lets terminals show an agent.
func (d *disk) show(name string, terminals ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.agents[name]
	f.Terminals = terminals
	d.agents[name] = f
}

func (d *disk) remove(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.agents, name)
}

func (d *disk) source() Source {
	return Source{
		Look: func(context.Context) ([]Facts, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
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
		},
		History: func(_ context.Context, of Branch) (Conversation, error) {
			h := history.New()
			h.AddMessage(history.Message{Role: history.RoleUser, Content: "of " + of.Name})
			return Conversation{History: h}, nil
		},
	}
}

func newDisk(t *testing.T) (*disk, *Registry) {
	t.Helper()
	d := &disk{agents: map[string]Facts{}}
	r := NewRegistry(d.source())
	t.Cleanup(func() { checkInvariants(t, r) })
	return d, r
}

func load(t *testing.T, r *Registry, name string) *Session {
	t.Helper()
	s, err := r.Load(t.Context(), branchOf(name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func refresh(t *testing.T, r *Registry) {
	t.Helper()
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// loadedNames are the agents in the registry.
func loadedNames(r *Registry) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for b := range r.sessions {
		names = append(names, b.Name)
	}
	slices.Sort(names)
	return names
}

// mayResume reports whether there is something for a parent to go on with, should the user turn to it.
func mayResume(f Family) bool { return strings.Contains(Recall(f), "with your next paw send") }

// checkInvariants holds at every moment: the children of whoever waits are loaded.
func checkInvariants(t *testing.T, r *Registry) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for b, s := range r.sessions {
		if s.branch != b || s.gone {
			t.Errorf("%s: the index has a session of %s, gone %t", b.Name, s.branch.Name, s.gone)
		}
		for _, child := range s.facts.Children {
			if r.sessions[child] == nil && s.facts.Waits() {
				t.Errorf("%s waits and its child %s is not loaded", b.Name, child.Name)
			}
		}
	}
}

func TestLoadTwiceIsTheSameSession(t *testing.T) {
	d, r := newDisk(t)
	d.set("a", "", session.StateIdle)
	a := load(t, r, "a")
	again, err := r.Load(t.Context(), branchOf("a"))
	if err != nil || again != a || r.Get(branchOf("a")) != a || load(t, r, "a") != a {
		t.Errorf("another session; %v", err)
	}
	if d.reads != 1 {
		t.Errorf("%d looks, want 1", d.reads)
	}
	if a.branch != branchOf("a") || a.Status().State != session.StateIdle || a.Gone() {
		t.Errorf("got %+v", a.Family().Parent)
	}
}

func TestLoadAtOnceIsTheSameSession(t *testing.T) {
	d, r := newDisk(t)
	d.set("a", "", session.StateIdle)
	got := make([]*Session, 16)
	var group sync.WaitGroup
	for i := range got {
		group.Go(func() { got[i], _ = r.Load(t.Context(), branchOf("a")) })
	}
	group.Wait()
	for _, s := range got {
		if s == nil || s != got[0] {
			t.Fatal("several sessions of one branch")
		}
	}
}

func TestLoadOfWhatIsNot(t *testing.T) {
	d, r := newDisk(t)
	if _, err := r.Load(t.Context(), branchOf("a")); !errors.Is(err, ErrNoAgent) {
		t.Errorf("got %v", err)
	}
	d.fail = errors.New("disk on fire")
	if _, err := r.Load(t.Context(), branchOf("a")); !errors.Is(err, d.fail) {
		t.Errorf("got %v", err)
	}
	if r.Get(branchOf("a")) != nil || len(loadedNames(r)) != 0 {
		t.Error("something is loaded")
	}
}

func TestUnload(t *testing.T) {
	for _, state := range allStates {
		t.Run(string(state), func(t *testing.T) {
			d, r := newDisk(t)
			if !r.Unload(branchOf("a")) {
				t.Error("what is not there was not unloaded")
			}
			d.set("a", "", state)
			if state == session.StateWaitingChildren {
				d.set("a", "", session.StateIdle, "b")
			}
			a := load(t, r, "a")
			if a.Status().State != state {
				t.Fatalf("state %s", a.Status().State)
			}
			d.show("a", "/dev/pts/1")
			refresh(t, r)
			if a.Status().State != state {
				t.Errorf("a terminal made it %s", a.Status().State)
			}
			if r.Unload(branchOf("a")) || r.Get(branchOf("a")) != a {
				t.Error("unloaded while it is shown")
			}
			d.show("a")
			refresh(t, r)
			want := state == session.StateIdle || state == session.StateCompleted || state == session.StateError
			if got := r.Unload(branchOf("a")); got != want || (r.Get(branchOf("a")) == nil) != want {
				t.Errorf("unloaded %t, want %t", got, want)
			}
		})
	}
}

func TestAChildOfWhoeverWaitsIsNotUnloaded(t *testing.T) {
	d, r := newDisk(t)
	d.set("p", "", session.StateIdle, "c")
	d.set("c", "p", session.StateIdle)
	p := load(t, r, "p")
	if got := loadedNames(r); !slices.Equal(got, []string{"c", "p"}) {
		t.Fatalf("loaded %v: a parent that waits brings its children", got)
	}
	if r.Unload(branchOf("c")) {
		t.Error("its parent waits for it")
	}
	d.set("p", "", session.StateIdle)
	refresh(t, r)
	if p.Status().State != session.StateIdle || !r.Unload(branchOf("c")) || !r.Unload(branchOf("p")) {
		t.Error("nobody waits any more, and it stays")
	}
}

func TestRefreshReplacesAndNeverMerges(t *testing.T) {
	d, r := newDisk(t)
	d.set("p", "", session.StateIdle, "c")
	d.set("c", "p", session.StateIdle)
	p, c := load(t, r, "p"), load(t, r, "c")
	if p.Status().State != session.StateWaitingChildren || p.Family().Parent.Record.Wait == nil || len(p.Family().Parent.Children) != 1 || !mayResume(p.Family()) {
		t.Fatalf("%s, %v, %v", p.Status().State, p.Family().Parent.Record.Wait, p.Family().Parent.Children)
	}
	if parent := c.Family().Parent.Parent; parent != branchOf("p") {
		t.Errorf("parent %v", parent)
	}
	d.set("p", "", session.StateRunning)
	d.remove("c")
	refresh(t, r)
	if p.Status().State != session.StateRunning || p.Family().Parent.Record.Wait != nil || len(p.Family().Parent.Children) != 0 || mayResume(p.Family()) || p.Gone() {
		t.Errorf("%s, %v, %v: something of before is left", p.Status().State, p.Family().Parent.Record.Wait, p.Family().Parent.Children)
	}
	if !c.Gone() || r.Get(branchOf("c")) != nil {
		t.Error("an agent that left is still there")
	}
	if parent := c.Family().Parent.Parent; parent != (Branch{}) {
		t.Errorf("an agent that left still has the parent %v", parent)
	}
	d.set("c", "p", session.StateIdle)
	if again := load(t, r, "c"); again == c {
		t.Error("an agent that came again is the one that left")
	}
	if p.Gone() {
		t.Error("p is gone")
	}
}

func TestAFailedLookChangesNothing(t *testing.T) {
	d, r := newDisk(t)
	d.set("p", "", session.StateIdle)
	p := load(t, r, "p")
	d.set("p", "", session.StateRunning)
	d.fail = errors.New("disk on fire")
	if err := r.Refresh(t.Context()); !errors.Is(err, d.fail) || p.Status().State != session.StateIdle {
		t.Errorf("%v, %s", err, p.Status().State)
	}
	if err := r.LoadActive(t.Context()); !errors.Is(err, d.fail) {
		t.Errorf("%v", err)
	}
}

func TestWhoBeginsToWaitGetsItsChildrenLoaded(t *testing.T) {
	d, r := newDisk(t)
	d.set("p", "", session.StateIdle)
	d.set("c", "p", session.StateRunning)
	d.set("g", "c", session.StateRunning)
	p := load(t, r, "p")
	if got := loadedNames(r); !slices.Equal(got, []string{"p"}) {
		t.Fatalf("loaded %v", got)
	}
	d.set("p", "", session.StateIdle, "c")
	refresh(t, r)
	if got := loadedNames(r); !slices.Equal(got, []string{"c", "p"}) || mayResume(p.Family()) {
		t.Errorf("loaded %v", got)
	}
	d.set("c", "p", session.StateIdle, "g")
	refresh(t, r)
	if got := loadedNames(r); !slices.Equal(got, []string{"c", "g", "p"}) || mayResume(p.Family()) {
		t.Errorf("loaded %v: c has not ended as long as it waits itself", got)
	}
	d.set("c", "p", session.StateIdle)
	refresh(t, r)
	if !mayResume(p.Family()) {
		t.Error("c has ended")
	}
}

func TestLoadActive(t *testing.T) {
	d, r := newDisk(t)
	for _, state := range allStates {
		if state != session.StateWaitingChildren {
			d.set(string(state), "", state)
		}
	}
	d.set("p", "", session.StateSuspended, "c", "left") // it waits also when its CLI is gone
	d.set("c", "p", session.StateIdle, "g")
	d.set("sibling", "p", session.StateSuspended)
	d.set("g", "c", session.StateCompleted)
	d.set("gg", "g", session.StateIdle)
	want := []string{"c", "g", "p", "running", "sibling", "waiting_input"}
	for range 2 {
		if err := r.LoadActive(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := loadedNames(r); !slices.Equal(got, want) {
			t.Errorf("loaded %v, want %v", got, want)
		}
	}
	if all := r.Branches(); len(all) != 12 {
		t.Errorf("%d branches, want those that are not loaded, too", len(all))
	}
	if p := load(t, r, "p"); p.Status().State != session.StateWaitingChildren || !mayResume(p.Family()) {
		t.Errorf("p is %s, and one of its children has left: it may go on", p.Status().State)
	}
}

func TestRecordsThatLoopDoNoHarm(t *testing.T) {
	d, r := newDisk(t)
	d.set("x", "y", session.StateIdle, "y")
	d.set("y", "x", session.StateIdle, "x")
	d.set("z", "z", session.StateIdle, "z")
	if err := r.LoadActive(t.Context()); err != nil {
		t.Fatal(err)
	}
	refresh(t, r)
	if got := loadedNames(r); !slices.Equal(got, []string{"x", "y", "z"}) || mayResume(load(t, r, "z").Family()) {
		t.Errorf("loaded %v", got)
	}
}

func TestHistoryIsReadWhenAskedForAndAnewAfterALook(t *testing.T) {
	d, r := newDisk(t)
	d.set("a", "", session.StateIdle)
	a := load(t, r, "a")
	first, err := a.History(t.Context())
	if err != nil || len(first.Messages()) != 1 || first.Messages()[0].Content != "of a" {
		t.Fatalf("%v %v", first, err)
	}
	if again, _ := a.History(t.Context()); again.History != first.History {
		t.Error("read twice")
	}
	refresh(t, r)
	if later, _ := a.History(t.Context()); later.History == first.History {
		t.Error("a look left the old conversation")
	}
}

// Attaching and detaching is counted, and changes nothing else, whatever happens meanwhile.
func TestAttachAndDetachAHundredTimesWhileStatesChange(t *testing.T) {
	d, r := newDisk(t)
	d.set("p", "", session.StateIdle, "c")
	d.set("c", "p", session.StateRunning)
	p := load(t, r, "p")
	stop := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			d.set("c", "p", []session.State{session.StateRunning, session.StateIdle, session.StateSuspended}[i%3])
			if i%4 == 0 {
				d.set("p", "", session.StateRunning)
			} else {
				d.set("p", "", session.StateIdle, "c")
			}
			if err := r.Refresh(context.Background()); err != nil {
				t.Error(err)
			}
			checkInvariants(t, r)
			r.Unload(branchOf("c"))
			checkInvariants(t, r)
		}
	})
	var viewers sync.WaitGroup
	for range 4 {
		viewers.Go(func() {
			for range 25 {
				if state := p.Status().State; state != session.StateWaitingChildren && state != session.StateRunning {
					t.Errorf("state %s", state)
				}
				if r.Get(branchOf("p")) != p || r.Unload(branchOf("p")) {
					t.Error("a session at work was dropped")
				}
			}
		})
	}
	viewers.Wait()
	close(stop)
	group.Wait()
	d.set("p", "", session.StateIdle, "c")
	d.set("c", "p", session.StateRunning)
	refresh(t, r)
	before := p.Status()
	for _, terminals := range [][]string{{"/dev/pts/1"}, {"/dev/pts/1", "/dev/pts/2"}, nil} {
		d.show("p", terminals...)
		refresh(t, r)
		if after := p.Status(); after.State != before.State || after.Reason != before.Reason {
			t.Errorf("%q: %+v became %+v", terminals, before, after)
		}
	}
}
