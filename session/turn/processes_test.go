package turn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	processes = 8
	perChild  = 100
)

// childAppend notes what it is told and then tries to end the turn: args are the log, its own number.
func childAppend(args []string) error {
	tr, err := Open(args[0], time.Now)
	if err != nil {
		return err
	}
	for i := range perChild {
		if err := tr.Note(noteOf(args[1], i)); err != nil {
			return err
		}
	}
	_, err = tr.Finish(End{Outcome: args[1]})
	var late *TransitionError
	switch {
	case err == nil && tr.Record().Outcome == args[1]:
		fmt.Println("won")
	case errors.As(err, &late) && late.From == Finished:
		fmt.Println("lost")
	default:
		return fmt.Errorf("finish: %w, %+v", err, tr.Record())
	}
	return tr.Note("after " + args[1])
}

// noteOf differs in length, beyond the size of a page too.
func noteOf(child string, i int) string {
	return child + " " + strconv.Itoa(i) + " " + strings.Repeat(child, i*97%9000)
}

// childStart starts the turn with number args[1] in the folder args[0].
func childStart(args []string) error {
	number, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	tr := New(Dir{Path: args[0]}, number, time.Now)
	err = tr.Start(Start{Type: TypePrompt, Prompt: args[2]})
	switch {
	case err == nil:
		fmt.Println("won")
	case errors.Is(err, os.ErrExist):
		fmt.Println("lost")
	default:
		return err
	}
	return nil
}

// together runs one child per list of arguments at the same time and returns what each printed.
func together(t *testing.T, mode string, args [][]string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out := make([]string, len(args))
	errs := make([]error, len(args))
	var wg sync.WaitGroup
	for i := range args {
		cmd := exec.CommandContext(ctx, os.Args[0], args[i]...)
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), childMode+"="+mode, "GORACE=atexit_sleep_ms=0") // that is a second each
		cmd.WaitDelay = time.Second
		wg.Go(func() {
			var printed []byte
			if printed, errs[i] = cmd.Output(); errs[i] != nil {
				if exit, ok := errors.AsType[*exec.ExitError](errs[i]); ok {
					errs[i] = fmt.Errorf("%w: %s", errs[i], exit.Stderr)
				}
			}
			out[i] = strings.TrimSpace(string(printed))
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestManyProcessesAppend(t *testing.T) {
	d := testDir(t)
	tr := started(t, d, 1)
	args := make([][]string, processes)
	for i := range args {
		args[i] = []string{tr.Path(), strconv.Itoa(i)}
	}
	winner := -1
	for i, said := range together(t, "append", args) {
		if said == "won" {
			if winner >= 0 {
				t.Errorf("%d and %d both finished the turn", winner, i)
			}
			winner = i
		}
	}
	r, err := d.Last()
	if err != nil || r.State != Finished || r.Outcome != strconv.Itoa(winner) {
		t.Fatalf("%d won, the log says %q, %v", winner, r.Outcome, err)
	}
	seen := map[string]int{}
	for _, note := range r.Notes {
		seen[note]++
	}
	for i := range processes {
		child := strconv.Itoa(i)
		for n := range perChild {
			if seen[noteOf(child, n)] != 1 {
				t.Errorf("note %d of %s is there %d times", n, child, seen[noteOf(child, n)])
			}
		}
		if seen["after "+child] != 1 {
			t.Errorf("the last note of %s is missing", child)
		}
	}
	if want := processes * (perChild + 1); len(r.Notes) != want {
		t.Errorf("%d notes, want %d", len(r.Notes), want)
	}
}

func TestOneOfManyProcessesStarts(t *testing.T) {
	d := testDir(t)
	for number := 1; number <= 10; number++ {
		args := make([][]string, processes)
		for i := range args {
			args[i] = []string{d.Path, strconv.Itoa(number), "prompt of " + strconv.Itoa(i)}
		}
		var winners []int
		for i, said := range together(t, "start", args) {
			if said == "won" {
				winners = append(winners, i)
			}
		}
		r, err := d.Last()
		if err != nil {
			t.Fatal(err)
		}
		if len(winners) != 1 || r.Number != number || string(r.Prompt) != args[winners[0]][2] {
			t.Fatalf("turn %d: %v started it, the log says %q", number, winners, r.Prompt)
		}
	}
}

// TestOneEndCounts has two owners of one turn, neither of which has seen the other's end.
func TestOneEndCounts(t *testing.T) {
	d := testDir(t)
	first := started(t, d, 1)
	second, err := Open(first.Path(), clock())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Finish(End{Outcome: "success"}); err != nil {
		t.Fatal(err)
	}
	if second.State() != InProgress {
		t.Fatal("read without being asked to")
	}
	err = second.Abort(&Abort{Reason: ReasonCrash})
	var late *TransitionError
	if !errors.As(err, &late) || late.From != Finished || second.State() != Finished || second.Record().Outcome != "success" {
		t.Errorf("%v, %+v", err, second.Record())
	}

	// The other one's line comes between the look and the write.
	d = testDir(t)
	first = started(t, d, 1)
	f, err := os.OpenFile(first.Path(), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	second, err = Open(first.Path(), clock())
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Abort(&Abort{Reason: ReasonCrash})
	err = first.log.write(f, line{Event: eventEnd, Outcome: "success"})
	if !errors.As(err, &late) || late.From != Aborted || first.Record().Reason != ReasonCrash {
		t.Errorf("%v, %+v", err, first.Record())
	}
}

// TestWriteBeforeTheStart has another process write between the creation of a log and its first line.
func TestWriteBeforeTheStart(t *testing.T) {
	d := testDir(t)
	path := d.Path + "/" + LogName(1, TypePrompt)
	writeFile(t, path, "")
	other, err := Open(path, clock())
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Note("early"); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := newLog(path, 1, TypePrompt)
	if err := l.write(f, line{Event: eventStart, At: second(9), Prompt: "late"}); err != nil {
		t.Fatal(err)
	}
	r := l.view()
	if r.State != InProgress || r.Prompt != "late" || len(r.Notes) != 1 || !r.StartedAt.Equal(second(9)) {
		t.Errorf("%+v", r)
	}
}
