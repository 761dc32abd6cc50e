package typing

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
	"paw/session"
	"paw/session/turn"
)

// TestAPromptThatComesLateIsNotTheNextOne: a CLI takes a prompt after paw has given up on it, when the next one is typed. The turn that
// it begins is not what became of the next one, which is queued behind it.
func TestAPromptThatComesLateIsNotTheNextOne(t *testing.T) {
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
	qwen, _ := clis.New(nil).Get("qwen")
	typistOf := func(prompt string) *sender { return typistIn(t, h, qwen, prompt) }
	begin := func(n int, prompt string) { beginIn(t, h, n, prompt) }
	first := typistOf("do: hang")
	first.leave()
	second := typistOf("do: say next")
	if !second.ofPaw("do: hang") || second.ofPaw("do: say next") || second.ofPaw("do: hang up") {
		t.Error("the text of the first one is paw's, and no other")
	}
	if !second.ofPaw("do: hangdo: hang") { // typed once more, and both came
		t.Error("twice the text of the first one is paw's as well")
	}
	for draft, own := range map[string]bool{
		"do: hangdo: say next": true, "do: hangdo: hang\ndo: say nextdo: say next": true, "do: say next": true, "do: hang": false,
		"do: hangdo: say next please": false, "my words do: say next": false, "": false,
	} {
		if got := second.ownWords(draft); got != own {
			t.Errorf("%q is all typed by paw: %v", draft, got)
		}
	}
	begin(1, "do: hang")
	if other := second.otherTurn(); other != nil {
		t.Errorf("turn %d is not what became of the second prompt", other.Number)
	}
	second.countEarlier()
	if second.before.number != 1 || !second.before.open {
		t.Errorf("the second one comes behind turn %d, open %v", second.before.number, second.before.open)
	}
	begin(2, "something else")
	if other := second.otherTurn(); other == nil || other.Number != 2 {
		t.Errorf("turn 2 is another one: %+v", other)
	}
	if third := typistOf("do: x"); third.lastTyped().Prompt != "" {
		t.Errorf("it has arrived: %+v", third.lastTyped())
	}
	first.leave()
	if mode, _ := filepath.Glob(earlierPath(h, "shop", "one")); len(mode) != 1 {
		t.Error("nothing is kept")
	}
	first.settled()
	if again := typistOf("do: x"); again.lastTyped().Prompt != "" {
		t.Error("it was settled")
	}
}

// typistIn is a sender that is about to type a prompt.
func typistIn(t *testing.T, h *app.App, c cli.CLI, prompt string) *sender {
	t.Helper()
	one := &sender{Agent: app.Agent{App: h, Session: &session.Session{Name: "shop"}, Record: &session.Agent{Name: "one"}}, cli: c, prompt: prompt}
	one.before = expect(t.Context(), one.Agent, c, prompt)
	one.before.begin(one.Agent)
	one.lastTyped()
	return one
}

// beginIn begins a turn, as a hook does.
func beginIn(t *testing.T, h *app.App, n int, prompt string) *turn.Turn {
	t.Helper()
	one := turn.New(h.TurnDir("shop", "one"), n, h.Now)
	if err := one.Start(turn.Start{Type: turn.TypePrompt, Prompt: prompt}); err != nil {
		t.Fatal(err)
	}
	return one
}

// TestAPromptThatBeginsAgainIsNotTheNextOne: codex, stopped while it holds a prompt back, begins with that prompt once more, when the
// next one is typed. The next one is queued behind it.
func TestAPromptThatBeginsAgainIsNotTheNextOne(t *testing.T) {
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
	codex, _ := clis.New(nil).Get("codex")
	_ = beginIn(t, h, 1, "do: sleep 60").Abort(&turn.Abort{Reason: turn.ReasonInterrupted}) // what it returns is the reason
	next := typistIn(t, h, codex, "do: say next")
	beginIn(t, h, 2, "do: sleep 60")
	if other := next.otherTurn(); other != nil {
		t.Errorf("turn %d is not what became of the next prompt", other.Number)
	}
	next.countEarlier()
	if next.before.number != 2 || !next.before.open {
		t.Errorf("it comes behind turn %d, open %v", next.before.number, next.before.open)
	}
	beginIn(t, h, 3, "something else")
	if other := next.otherTurn(); other == nil || other.Number != 3 {
		t.Errorf("turn 3 is another one: %+v", other)
	}
}

// TestAPromptThatWasQueuedIsNotTheNextOne: a CLI begins with the prompt that it had queued, when the next one, which is a part of it, is typed.
func TestAPromptThatWasQueuedIsNotTheNextOne(t *testing.T) {
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
	demo, _ := clis.New(nil).Get("demo")
	beginIn(t, h, 1, "do: sleep 1")
	if err := os.MkdirAll(h.Paths.AgentDir("shop", "one"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := h.Texts().KeepQueued("shop", "one", "do: say go on", 1); err != nil {
		t.Fatal(err)
	}
	next := typistIn(t, h, demo, "do: say go")
	beginIn(t, h, 2, "do: say go on")
	if other := next.otherTurn(); other != nil {
		t.Errorf("turn %d is not what became of the next prompt", other.Number)
	}
}
