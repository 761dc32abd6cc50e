package children

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/orchestrator/typing"
	"paw/session"
	"paw/session/turn"
	"paw/tmux"
)

// family is a parent with children whose CLIs and tmux are played by the test. Record, turn logs, locks and the
// repository are real; paw's part is the code that hooks and commands run, one process after the other, each of which may
// be killed after a step.
type family struct {
	tb      testing.TB
	p       *app.App
	clis    map[string]*playedCLI
	names   []string // the parent first
	clockMu sync.Mutex
	clock   time.Time
	queue   []*process // that were started and have not run yet
	kill    string     // the step after which the next process is killed, "" for none
	killed  []string   // steps after which one was
	between func()     // happens right after the record of a delivery, once
	late    bool       // CLIs begin a turn only some time after its prompt was typed
	watched []string   // parents at whom tmux lets somebody look every few seconds

	typed   map[string]int // how often a prompt was typed, by the id of its wait
	told    map[string]int // how often the parent was told of "child/turn outcome"
	prompts int            // that told it of something
	claimed time.Time      // when the delivery that runs was claimed
	lost    bool           // a prompt died with the CLI that it was typed into
}

// playedCLI is a CLI in its pane, as far as paw can see it.
type playedCLI struct {
	lock       *os.File // nil when it does not run
	pane       string   // "alive", "dead" or "gone"
	generation int
	launched   time.Time
	reported   bool     // a hook has reported its last end, to the end
	fresh      bool     // it has ended a turn, or died in one, since its parent was launched
	asks       bool     // it shows a dialog
	typed      []string // what was typed and not taken yet
}

// process is one that was started; run tells whether it wants to look again.
type process struct {
	run   func() bool
	tries int
}

const (
	familySession = "s"
	parentName    = "p"
)

// newFamily has a parent and children that all run, each in its first turn. What the first family with as many children
// has made till then is saved, and every later one begins with that.
func newFamily(tb testing.TB, children ...string) *family {
	tb.Helper()
	f := playedFamily(tb, children)
	savedFamilies.Lock()
	defer savedFamilies.Unlock()
	key := strings.Join(children, " ")
	if saved := savedFamilies.of[key]; saved != nil {
		saved.restore(f)
	} else {
		f.makeAnew()
		savedFamilies.of[key] = saveFamily(f)
	}
	return f
}

// playedFamily is one of which nothing is on disk yet.
func playedFamily(tb testing.TB, children []string) *family {
	tb.Helper()
	dir := shortestDir(tb)
	f := &family{
		tb: tb, clis: map[string]*playedCLI{}, names: append([]string{parentName}, children...),
		clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), typed: map[string]int{}, told: map[string]int{},
	}
	paths := config.Paths{StateDir: dir, SessionsDir: filepath.Join(dir, "sessions")}
	f.p = &app.App{
		Paths: paths, Locks: session.Locks{Dir: paths.LocksDir()}, CLIs: clis.New(nil), Now: f.now, Step: f.step,
		Store:   session.Store{Dir: paths.SessionsDir, LocksDir: paths.LocksDir()},
		Watcher: func(parents []string) { f.watched = append(f.watched, parents...) },
		Detached: func(args []string) error {
			if args[0] == "__deliver" {
				f.start(f.attempt(args[2], live.Occasion(args[3])))
			}
			return nil
		},
	}
	f.p.Config.Turns.SnapshotSeconds = 60 // the clock is played, and the deadline of a hook is not
	for _, name := range f.names {
		f.clis[name] = &playedCLI{pane: "gone"}
	}
	tb.Cleanup(f.closeLocks)
	return f
}

// makeAnew makes the repository and the session, and begins the turns.
func (f *family) makeAnew() {
	f.tb.Helper()
	repository, shared := smallRepository(f.tb, f.p.Paths.StateDir)
	s := &session.Session{
		Name: familySession, RepoPath: repository, GitCommonDir: filepath.Join(repository, ".git"), Status: session.StatusActive, CreatedAt: f.clock,
	}
	for _, name := range f.names {
		w := session.Agent{Name: name, CLI: "demo", Branch: "b/" + name, TurnSession: "s_" + name, Phase: session.PhaseLive,
			WorktreePath: shared}
		if name != parentName {
			w.Parent = parentName
		}
		s.Agents = append(s.Agents, w)
	}
	f.must(f.p.Store.Create(f.tb.Context(), s, nil))
	for _, name := range f.names {
		f.withoutSnapshots(name)
		f.launch(name)
		f.begin(name, "the first prompt")
	}
}

// withoutSnapshots puts a file into the place of the folder that snapshots of an agent need. No wait
// depends on a snapshot, and of what a parent is told only the number of changed files, which is
// always 0 here; a git for each snapshot would take a third of the time of these tests.
func (f *family) withoutSnapshots(name string) {
	f.tb.Helper()
	dir := f.p.StateDir(familySession, name)
	f.must(os.MkdirAll(dir, 0o700))
	f.must(os.WriteFile(filepath.Join(dir, "snapshot"), nil, 0o600))
}

// closeLocks ends all CLIs.
func (f *family) closeLocks() {
	for _, cli := range f.clis {
		if cli.lock != nil {
			cli.lock.Close()
		}
	}
}

func (f *family) must(err error) {
	f.tb.Helper()
	if err != nil {
		f.tb.Fatal(err)
	}
}

// now is asked by several looks at agents at once.
func (f *family) now() time.Time {
	f.clockMu.Lock()
	defer f.clockMu.Unlock()
	f.clock = f.clock.Add(time.Second)
	return f.clock
}

// death is the panic of a process that is killed.
type death struct{}

func (f *family) step(name string) {
	if f.kill == name {
		f.kill, f.killed = "", append(f.killed, name)
		panic(death{})
	}
	if between := f.between; name == "deliver.recorded" && between != nil {
		f.between = nil
		between()
	}
}

// as runs one process of paw; it may be killed.
func (f *family) as(process func()) {
	defer func() {
		if died := recover(); died != nil && died != (death{}) {
			panic(died)
		}
	}()
	process()
}

func (f *family) start(run func() bool) { f.queue = append(f.queue, &process{run: run}) }

// runOne runs a process of the queue; one that has to wait looks again later, a few times.
func (f *family) runOne(i int) {
	one := f.queue[i]
	f.queue = slices.Delete(f.queue, i, i+1)
	again := false
	f.as(func() { again = one.run() })
	if one.tries++; again && one.tries < 4 {
		f.queue = append(f.queue, one)
	}
}

// drain runs all that was started, and what that starts.
func (f *family) drain() {
	for range 1000 {
		if len(f.queue) == 0 {
			return
		}
		f.runOne(0)
	}
	f.tb.Fatal("processes start each other for ever")
}

// record is the session as it is on disk.
func (f *family) record() *session.Session {
	f.tb.Helper()
	s, err := f.p.Store.Load(familySession)
	f.must(err)
	return s
}

func (f *family) dir(name string) turn.Dir { return f.p.TurnDir(familySession, name) }

func (f *family) last(name string) *turn.Record {
	f.tb.Helper()
	last, err := f.dir(name).Last()
	f.must(err)
	return last
}

func (f *family) runs(name string) bool { return f.clis[name].lock != nil }

func (f *family) open(name string) bool {
	last := f.last(name)
	return last != nil && last.State == turn.InProgress
}

// panes is what tmux would say.
func (f *family) panes(context.Context, *session.Session) observe.Panes {
	var on observe.Panes
	for _, name := range f.names {
		cli := f.clis[name]
		if cli.pane == "gone" {
			continue
		}
		pane := tmux.Pane{ID: "%" + name, PID: os.Getpid(), SessionID: "$1", PawSession: familySession, Dead: cli.pane == "dead",
			Identity: &tmux.Identity{Session: familySession, Agent: name, Generation: cli.generation}}
		if pane.Dead {
			kill := 9
			pane.Signal = &kill
		}
		on.Panes = append(on.Panes, pane)
	}
	return on
}

// launch starts the CLI of an agent, with paw's launcher before it.
func (f *family) launch(name string) {
	f.tb.Helper()
	cli := f.clis[name]
	holder, err := session.ThisProcess()
	f.must(err)
	cli.generation++
	holder.Generation, holder.At = cli.generation, f.now()
	if name == parentName {
		for _, one := range f.clis {
			one.fresh = false
		}
	}
	cli.lock, err = f.p.Locks.HoldAgent(familySession, name, holder)
	f.must(err)
	cli.pane, cli.launched = "alive", holder.At
	s := f.record()
	observe.MarkHooks(f.p.Agent(s, s.Agent(name)), cli.generation)
}

// crash ends the CLI of an agent without a word; its pane stays dead, or is gone with the server.
func (f *family) crash(name, pane string) {
	cli := f.clis[name]
	if cli.lock == nil {
		return
	}
	// Programs that other goroutines are just starting have the descriptor as well.
	f.must(unix.Flock(int(cli.lock.Fd()), unix.LOCK_UN))
	cli.lock.Close()
	f.forgetHolder(name)
	f.lost = f.lost || len(cli.typed) > 0
	cli.fresh = cli.fresh || f.open(name)
	cli.lock, cli.pane, cli.typed, cli.asks = nil, pane, nil, false
}

// forgetHolder makes the process that took the lock of an agent one that is dead: the one that did is this test.
func (f *family) forgetHolder(name string) {
	f.tb.Helper()
	path := filepath.Join(f.p.Locks.Dir, "agent-"+familySession+"-"+name+".lock")
	data, err := os.ReadFile(path)
	f.must(err)
	var holder session.Holder
	f.must(json.Unmarshal(data, &holder))
	holder.StartTime++
	data, err = json.Marshal(holder)
	f.must(err)
	f.must(os.WriteFile(path, data, 0o600))
}

// recover is paw recover; tmux and the launchers are played.
func (f *family) recover() {
	f.as(func() {
		now, err := observe.With(f.tb.Context(), f.p, f.record(), f.panes, observe.NotAtScreens)
		f.must(err)
		turns.CloseCut(f.tb.Context(), f.p, now)
		for _, name := range f.names {
			if !f.runs(name) && f.record().Agent(name) != nil {
				f.launch(name)
			}
		}
		_, err = ResumeWaits(f.tb.Context(), f.p, f.record(), f.panes)
		f.must(err)
	})
}

// runHook is orchestrator.Hook, which imports this package.
var runHook func(ctx context.Context, h *app.App, cli, event string, payload []byte)

// hook is a hook of the CLI of an agent.
func (f *family) hook(name, event string, payload map[string]string) {
	f.as(func() {
		h := *f.p
		h.Env = append(slices.Clone(f.p.Env), "PAW_LAUNCH="+observe.LaunchID(familySession, name, f.clis[name].generation))
		data, err := json.Marshal(payload)
		f.must(err)
		runHook(f.tb.Context(), &h, "demo", event, data)
		if failed, err := os.ReadFile(f.p.HookLog().Path); err == nil {
			f.tb.Fatalf("%s of %s: %s", event, name, failed)
		}
		f.clis[name].reported = event != "prompt"
	})
}

// begin is a CLI that begins a turn.
func (f *family) begin(name, prompt string) {
	f.clis[name].reported = false
	f.heard(name, prompt)
	f.hook(name, "prompt", map[string]string{"prompt": prompt})
}

var toldOf = regexp.MustCompile(`(?m)^(\w+)(?: \(demo\): (.*), branch [^,\n]+(?:, turn (\d+))?(?:, \d+ files? changed)?|: removed from the session)$`)

// heard counts what the parent is told of.
func (f *family) heard(name, prompt string) {
	if name != parentName || !strings.HasPrefix(prompt, "[paw wait ") {
		return
	}
	f.prompts++
	for _, match := range toldOf.FindAllStringSubmatch(prompt, -1) {
		f.told[match[1]+"/"+match[3]+" "+match[2]]++
	}
}

// endEvents are the hooks that report the end of a turn.
var endEvents = map[turn.Reason]string{"": "end", turn.ReasonError: "error", turn.ReasonInterrupted: "interrupt"}

// end is a CLI that ends its turn; a reason makes it a bad end.
func (f *family) end(name string, reason turn.Reason) {
	if !f.open(name) || !f.runs(name) {
		return
	}
	f.clis[name].asks, f.clis[name].reported, f.clis[name].fresh = false, false, true
	f.hook(name, endEvents[reason], map[string]string{"message": map[turn.Reason]string{"": "all there", turn.ReasonError: "it failed"}[reason]})
	if cli := f.clis[name]; len(cli.typed) > 0 { // what was typed meanwhile comes next
		f.takeTyped(name)
	}
}

// takeTyped lets a CLI begin a turn with what was typed.
func (f *family) takeTyped(name string) bool {
	cli := f.clis[name]
	if len(cli.typed) == 0 || cli.lock == nil || f.open(name) {
		return false
	}
	prompt := cli.typed[0]
	cli.typed = cli.typed[1:]
	f.begin(name, prompt)
	f.start(func() bool { f.end(name, ""); return false }) // the answer
	return false
}

// wait is the parent that waits for children in the middle of a turn.
func (f *family) wait(o WaitOptions) {
	if !f.open(parentName) {
		f.begin(parentName, "wait for your children")
	}
	f.as(func() {
		s := f.record()
		_, err := notify(f.tb.Context(), f.p.Agent(s, s.Agent(parentName)), o, f.panes)
		if e, ok := errors.AsType[*errs.Error](err); ok && (e.Kind == errs.NotFound || strings.HasSuffix(e.Message, "no child is at work")) {
			return
		}
		f.must(err)
	})
}

// look lets tmux start the looks at all who are watched.
func (f *family) look() {
	for _, parent := range app.Once(f.watched) {
		f.start(f.attempt(parent, live.Unasked))
	}
	f.drain()
}

// attempt is a process that tells a parent, if that is due.
func (f *family) attempt(parent string, on live.Occasion) func() bool {
	d := &deliverer{App: f.p, session: familySession, parent: parent, began: f.now(), launch: runningLaunch(f.p, familySession, parent), keyboard: typing.PaneWriter{
		Panes: f.panes,
		Ready: func(context.Context, *session.Session, *session.Agent) (tmux.Program, error) {
			if !f.runs(parent) {
				return tmux.Program{}, typing.ErrNotTyped
			}
			return tmux.Program{Pane: "%" + parent}, nil
		},
		Give: f.give,
	}}
	return func() bool {
		f.claimed = d.began
		verdict, err := d.once(f.tb.Context(), on)
		var e *errs.Error
		if err != nil && (!errors.As(err, &e) || e.Kind != errs.Unconfirmed) {
			f.tb.Fatal(err)
		}
		return verdict == live.Busy
	}
}

var waitID = regexp.MustCompile(`^\[paw wait ([0-9a-f-]{36})\] `)

// give is the typing: what tmux does, and the CLI behind it.
func (f *family) give(ctx context.Context, a app.Agent, _ tmux.Program, prompt, step string) (arrived bool, err error) {
	f.tb.Helper()
	w := a.Record
	match := waitID.FindStringSubmatch(prompt)
	if match == nil {
		f.tb.Fatalf("typed without an id: %q", prompt)
	}
	if f.typed[match[1]]++; f.typed[match[1]] > 1 {
		f.tb.Errorf("the results of wait %s were typed twice", match[1])
	}
	cli := f.clis[w.Name]
	switch {
	case cli.lock == nil:
		f.lost = true
		a.App.Step(step)
		return false, nil
	case cli.launched.After(f.claimed):
		f.tb.Error("the parent was brought back and is prompted by itself")
	case f.open(w.Name) || cli.asks:
		f.tb.Errorf("typed into a pane that is busy: open %t, dialog %t, %+v", f.open(w.Name), cli.asks, f.last(w.Name))
	}
	if err := turns.BeginIfOwn(ctx, a, prompt); err != nil {
		return false, err
	}
	cli.typed = append(cli.typed, prompt)
	if f.late {
		f.start(func() bool { return f.takeTyped(w.Name) })
	} else {
		f.takeTyped(w.Name)
	}
	a.App.Step(step)
	return observe.Arrived(f.p, familySession, *w), nil
}

// facts is the parent with its children, as paw shows them now.
func (f *family) facts() live.Family {
	f.tb.Helper()
	s := f.record()
	all, err := looksAt(f.p, familySession, f.panes, observe.NotAtScreens)(f.tb.Context())
	f.must(err)
	one, _ := live.FamilyOf(all, branchOf(s, s.Agent(parentName)))
	return one
}

func (f *family) String() string {
	return fmt.Sprintf("typed %v, told %v, killed after %v, lost with a CLI: %t", f.typed, f.told, f.killed, f.lost)
}
