package ui

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// U takes back exactly the landing that its plan shows, and none without a plan.
func TestUndoOfTheShownLanding(t *testing.T) {
	plan := "undo landing 3 of shop/api: bring main back to 0123456789ab\n"
	paw := &played{pages: map[string]string{"land --undo --session shop --dry-run": plan}}
	typed(opened(paw, fiveAgents(), Options{}, 120, 35), "U", "y")
	if got := strings.Join(paw.ran, "; "); got != "land --undo --session shop --dry-run; land --undo --session shop 3" {
		t.Error(got)
	}
}

// One line of output becomes a note; longer output, such as an error with a hint, is shown.
func TestWhatCommandsSay(t *testing.T) {
	const seen = "seen shop/api@0"
	paw := &played{pages: map[string]string{seen: "api: marked as seen\n"}}
	if got := screenOf(typed(opened(paw, fiveAgents(), Options{}, 120, 35), "m")); !strings.Contains(got, "\napi: marked as seen\n") {
		t.Error(got)
	}
	paw.pages[seen], paw.codes = "paw: error: api: no such agent\npaw: hint: paw status\n", map[string]int{seen: 10}
	got := screenOf(typed(opened(paw, fiveAgents(), Options{}, 120, 35), "m"))
	for _, want := range []string{"$ paw seen shop/api@0", "exit code 10", "paw: hint: paw status"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "paw seen shop/api@0 …") {
		t.Errorf("it seems to run still:\n%s", got)
	}
}

// Leaving the desk while a command runs asks first; any key but y stays.
func TestCommandUnderWay(t *testing.T) {
	m := opened(&played{}, fiveAgents(), Options{}, 120, 35)
	cmd := m.Update(press("l"))
	if m = typed(m, "esc", "q"); m.ask == nil {
		t.Error("it was not asked")
	}
	m = after(typed(m, "x"), cmd()) // the command ends
	if quit := m.Update(press("q")); quit == nil {
		t.Error("it does not end")
	}
}

// A command that still prints when the desk ends is interrupted, and ends although its output is no
// longer read.
func TestCommandThatPrintsWhenTheDeskGoes(t *testing.T) {
	paw := &played{run: func(ctx context.Context, out io.Writer) {
		for ctx.Err() == nil {
			_, _ = io.WriteString(out, "still at it\n")
		}
		_, _ = io.WriteString(out, "interrupted\n")
	}}
	ctx, leave := context.WithCancel(context.Background())
	ended := make(chan struct{})
	inner := paw.run
	paw.run = func(ctx context.Context, out io.Writer) { inner(ctx, out); close(ended) }
	m := New(ctx, paw, Options{})
	cmd, _ := m.command("forecast")
	if got, ok := cmd().(outputMsg); !ok || got.text != "still at it\n" {
		t.Fatalf("%#v", got)
	}
	leave()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for somebody who reads")
	}
}

// In a popup, where attaching ends the desk, a running command is not interrupted without a
// question.
func TestAttachingInAPopupInterruptsNothing(t *testing.T) {
	m := opened(&played{over: true}, fiveAgents(), Options{}, 120, 35)
	cmd := m.Update(press("l"))
	typed(m, "esc")
	quit := m.left(true, nil)
	if quit != nil || m.ask == nil {
		t.Fatal("it interrupts the forecast")
	}
	m = after(typed(m, "x"), cmd()) // the command ends
	if quit = m.left(true, nil); quit == nil {
		t.Error("it does not end")
	}
}

// A late error or a late question does not replace what the user reads, but comes next.
func TestLateErrorsWait(t *testing.T) {
	paw := &played{pages: map[string]string{"forecast --session shop": "AGENT  FILES\n"}, codes: map[string]int{}}
	m := opened(paw, fiveAgents(), Options{}, 120, 35)
	stopped := typed(m, "x").Update(press("y"))
	asked := m.Update(press("a"))
	paw.pages["stop --session shop api"], paw.codes["stop --session shop api"] = "paw: error: api: no\npaw: hint: stop it\n", 1
	m = typed(m, "l")
	m = after(after(m, stopped()), asked())
	for i, want := range []string{"$ paw forecast --session shop", "$ paw stop --session shop api", "$ paw answer shop/api"} {
		if got := screenOf(m); !strings.Contains(got, want) {
			t.Errorf("%d: no %q in\n%s", i, want, got)
		}
		m = typed(m, "esc")
	}
	if m.run != nil {
		t.Error("it comes again")
	}
}
