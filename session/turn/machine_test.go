package turn

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// calls are all calls of Turn that change something, by the log's word for them.
var calls = map[string]func(*Turn) error{
	"START":            func(t *Turn) error { return t.Start(Start{Type: TypePrompt}) },
	"EXECUTE":          func(t *Turn) error { return t.Execute("x") },
	"INPUT":            func(t *Turn) error { return t.Input("x?", "") },
	"EXECUTE, resumed": func(t *Turn) error { return t.Resumed() },
	"CHILDREN":         func(t *Turn) error { return t.Children([]string{"a"}) },
	"NOTE":             func(t *Turn) error { return t.Note("x") },
	"END":              func(t *Turn) error { _, err := t.Finish(End{Outcome: "success"}); return err },
	"ABORT":            func(t *Turn) error { return t.Abort(&Abort{Reason: ReasonError, Message: "boom"}) },
}

// reach brings a new turn into each state.
var reach = map[State]func(t *testing.T, d Dir) *Turn{
	Initial:    func(_ *testing.T, d Dir) *Turn { return New(d, 3, clock()) },
	InProgress: func(t *testing.T, d Dir) *Turn { return started(t, d, 3) },
	Finished: func(t *testing.T, d Dir) *Turn {
		tr := started(t, d, 3)
		if _, err := tr.Finish(End{}); err != nil {
			t.Fatal(err)
		}
		return tr
	},
	Aborted: func(t *testing.T, d Dir) *Turn {
		tr := started(t, d, 3)
		var a *Abort
		if err := tr.Abort(&Abort{Reason: ReasonInterrupted}); !errors.As(err, &a) {
			t.Fatal(err)
		}
		return tr
	},
}

func TestEveryCallInEveryState(t *testing.T) {
	allowed := map[State]map[string]State{
		Initial: {"START": InProgress},
		InProgress: {
			"EXECUTE": InProgress, "EXECUTE, resumed": InProgress, "INPUT": InProgress, "CHILDREN": InProgress,
			"NOTE": InProgress, "END": Finished, "ABORT": Aborted,
		},
		Finished: {"NOTE": Finished},
		Aborted:  {"NOTE": Aborted},
	}
	for from, bring := range reach {
		for name, call := range calls {
			for _, reopened := range []bool{false, true} {
				if from == Initial && reopened {
					continue // there is no log to open
				}
				t.Run(string(from)+" "+name, func(t *testing.T) {
					d := testDir(t)
					tr := bring(t, d)
					before := logged(t, tr)
					if reopened {
						var err error
						if tr, err = Open(tr.Path(), clock()); err != nil {
							t.Fatal(err)
						}
					}
					err := call(tr)
					to, ok := allowed[from][name]
					var bad *TransitionError
					if refused := errors.As(err, &bad); refused == ok {
						t.Fatalf("got %v, allowed is %v", err, ok)
					}
					if !ok {
						if want, _, _ := strings.Cut(name, ","); bad.Number != 3 || bad.From != from || bad.Event != want {
							t.Errorf("got %#v", bad)
						}
						if tr.State() != from || logged(t, tr) != before {
							t.Errorf("a refused call left state %s and log %q, before it %q", tr.State(), logged(t, tr), before)
						}
						return
					}
					if tr.State() != to || logged(t, tr) == before {
						t.Errorf("got state %s, want %s; log %q", tr.State(), to, logged(t, tr))
					}
					again, err := Open(tr.Path(), clock())
					if err != nil || again.State() != to {
						t.Errorf("the log says %v, %v", again.State(), err)
					}
				})
			}
		}
	}
}

// logged returns the turn's log, "" before there is one.
func logged(t *testing.T, tr *Turn) string {
	t.Helper()
	if tr.Path() == "" {
		if tr.dir.Highest() != 0 {
			t.Fatal("a turn in Initial has a log")
		}
		return ""
	}
	return readFile(t, tr.Path())
}

func TestInitialWritesNothing(t *testing.T) {
	d := testDir(t)
	tr := New(d, 1, clock())
	if tr.State() != Initial || tr.Number() != 1 || tr.Path() != "" {
		t.Errorf("got %s, %d, %q", tr.State(), tr.Number(), tr.Path())
	}
	if _, err := os.Stat(d.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
	if r := tr.Record(); r.Number != 1 || r.State != Initial || r.LogFile != "" {
		t.Errorf("got %+v", r)
	}
}

func TestAbortHandsTheErrorBack(t *testing.T) {
	cause := errors.New("connection reset")
	given := &Abort{Reason: ReasonError, ErrorType: "api_error", Trace: "a\nb", Cause: cause}
	tr := started(t, testDir(t), 1)
	err := tr.Abort(given)
	var back *Abort
	if !errors.As(err, &back) || back != given || !errors.Is(err, cause) || err.Error() != "error: api_error: connection reset" {
		t.Errorf("got %v", err)
	}
	r := tr.Record()
	if r.State != Aborted || r.Reason != ReasonError || r.ErrorType != "api_error" || r.ErrorMessage != "connection reset" ||
		r.ErrorTrace != "a\nb" || r.EndedAt == nil {
		t.Errorf("got %+v", r)
	}
	if _, ok := r.Result(); ok {
		t.Error("an aborted turn has a result")
	}

	err = tr.Abort(given) // not possible a second time, but the cause is not lost
	var refused *TransitionError
	if !errors.As(err, &refused) || !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}

	tr = started(t, testDir(t), 1)
	if err := tr.Abort(nil); err == nil || tr.Record().Reason != ReasonError {
		t.Errorf("got %v, %+v", err, tr.Record())
	}
}

func TestFinishReturnsTheResult(t *testing.T) {
	d := testDir(t)
	tr := started(t, d, 7)
	if _, ok := tr.Record().Result(); ok {
		t.Error("a turn in progress has a result")
	}
	got, err := tr.Finish(End{Outcome: "success", CommitHash: "c1", Snapshot: "s1", Message: "done\n\noutcome: success\n"})
	if err != nil {
		t.Fatal(err)
	}
	want := Result{
		Number: 7, Type: TypePrompt, Outcome: "success", CommitHash: "c1", Snapshot: "s1",
		Message: "done\n\noutcome: success\n", LogFile: tr.Path(), StartedAt: second(1), EndedAt: second(2),
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	last, err := d.Last()
	if err != nil {
		t.Fatal(err)
	}
	if again, ok := last.Result(); !ok || again != want {
		t.Errorf("the log says %+v", again)
	}
}

func TestStartRefuses(t *testing.T) {
	d := testDir(t)
	for _, number := range []int{0, -1} {
		var bad *NumberError
		if err := New(d, number, clock()).Start(Start{Type: TypePrompt}); !errors.As(err, &bad) || bad.Number != number {
			t.Errorf("%d: got %v", number, err)
		}
	}
	for _, typ := range []Type{"", "Prompt", "1a", "a/b", "../a", "a b", "a\n", "-a", "é", "a\x00"} {
		var bad *TypeError
		if err := New(d, 1, clock()).Start(Start{Type: typ}); !errors.As(err, &bad) || bad.Type != typ {
			t.Errorf("%q: got %v", typ, err)
		}
	}
	if _, err := os.Stat(d.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused start made the folder: %v", err)
	}
	for _, typ := range []Type{"prompt", "a", "review.security-2_x"} {
		if err := New(testDir(t), 1, clock()).Start(Start{Type: typ}); err != nil {
			t.Errorf("%q: %v", typ, err)
		}
	}
}

func TestStartNeverOverwrites(t *testing.T) {
	for _, other := range []Type{TypePrompt, "review"} {
		d := testDir(t)
		first := New(d, 3, clock())
		if err := first.Start(Start{Type: other, Prompt: "first"}); err != nil {
			t.Fatal(err)
		}
		before := readFile(t, first.Path())
		second := New(d, 3, clock())
		err := second.Start(Start{Type: TypePrompt, Prompt: "second"})
		var exists *ExistsError
		if !errors.As(err, &exists) || exists.Path != first.Path() || exists.Number != 3 || !errors.Is(err, os.ErrExist) {
			t.Errorf("got %v", err)
		}
		if second.State() != Initial || readFile(t, first.Path()) != before {
			t.Errorf("state %s, log %q", second.State(), readFile(t, first.Path()))
		}
	}

	// The file itself is exclusive, also where the look into the folder before came too early.
	d := testDir(t)
	tr := started(t, d, 3)
	before := readFile(t, tr.Path())
	err := newLog(tr.Path(), 3, TypePrompt).create(line{Event: eventStart})
	var exists *ExistsError
	if !errors.As(err, &exists) || readFile(t, tr.Path()) != before {
		t.Errorf("got %v, log %q", err, readFile(t, tr.Path()))
	}
	target := d.Path + "/target"
	link := d.Path + "/turn-004-prompt.log"
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := newLog(link, 4, TypePrompt).create(line{Event: eventStart}); !errors.As(err, &exists) {
		t.Errorf("through a dangling symlink: %v", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, os.ErrNotExist) {
		t.Error("wrote through a dangling symlink")
	}
}

func TestWaiting(t *testing.T) {
	tr := started(t, testDir(t), 1)
	check := func(question string, since int) {
		t.Helper()
		r := tr.Record()
		if r.Waiting != (question != "") || r.Question != question || (r.WaitingSince != nil) != r.Waiting {
			t.Fatalf("got %+v", r)
		}
		if r.Waiting && !r.WaitingSince.Equal(second(since)) {
			t.Fatalf("since %v, want %v", r.WaitingSince, second(since))
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check("", 0)
	must(tr.Input("Bash: git push", "")) // second 2
	check("Bash: git push", 2)
	must(tr.Input("Write: a.txt", ""))
	check("Write: a.txt", 2)
	must(tr.Note("still there"))
	check("Write: a.txt", 2)
	must(tr.Resumed())
	check("", 0)
	must(tr.Input("again?", "")) // second 6
	check("again?", 6)
	_, err := tr.Finish(End{})
	must(err)
	check("", 0)
}

func TestChildrenAndNotesAddUp(t *testing.T) {
	tr := started(t, testDir(t), 1)
	for _, ids := range [][]string{{"b", "a"}, {"a", "c"}, nil} {
		if err := tr.Children(ids); err != nil {
			t.Fatal(err)
		}
	}
	_ = tr.Abort(&Abort{Reason: ReasonCrash})
	if err := tr.Note("one"); err != nil {
		t.Fatal(err)
	}
	if err := tr.Note("two"); err != nil {
		t.Fatal(err)
	}
	r := tr.Record()
	if len(r.Children) != 3 || r.Children[0] != "b" || r.Children[1] != "a" || r.Children[2] != "c" {
		t.Errorf("got %q", r.Children)
	}
	if len(r.Notes) != 2 || r.Notes[0] != "one" || r.Notes[1] != "two" || r.State != Aborted {
		t.Errorf("got %+v", r)
	}
	if !r.EndedAt.Equal(second(5)) || !r.LastEventAt.Equal(second(7)) {
		t.Errorf("ended %v, last event %v", r.EndedAt, r.LastEventAt)
	}
	r.Children[0], r.Notes[0] = "changed", "changed"
	if again := tr.Record(); again.Children[0] != "b" || again.Notes[0] != "one" {
		t.Error("a record shares memory with its turn")
	}
}

// What must survive a power loss is on the disk before its call returns: the prompt and the end.
func TestWhichEventsAreSynced(t *testing.T) {
	for event, want := range map[string]bool{
		eventStart: true, eventHold: true, eventEnd: true, eventAbort: true,
		eventExecute: false, eventInput: false, eventLimit: false, eventChildren: false, eventNote: false,
	} {
		if got := (line{Event: event}).durable(); got != want {
			t.Errorf("%s: synced %t, want %t", event, got, want)
		}
	}
}

// A turn whose end was held has ended then, and not when that was proved.
func TestAHeldEndIsTheEnd(t *testing.T) {
	d, at := testDir(t), clock()()
	tr := New(d, 3, func() time.Time { return at })
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(tr.Start(Start{Type: TypePrompt}))
	at = at.Add(time.Minute)
	held := at.UTC()
	must(tr.Hold(End{Message: "done"}))
	at = at.Add(time.Hour)
	result, err := tr.Finish(End{Message: "done"})
	must(err)
	if ended := tr.Record().EndedAt; ended == nil || !ended.Equal(held) || !result.EndedAt.Equal(held) {
		t.Errorf("ended at %v, %v, want %v", ended, result.EndedAt, held)
	}
}
