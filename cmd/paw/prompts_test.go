package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hostile is a prompt that no shell and no tmux may change.
const hostile = "say \"quotes\" 'and' `ticks` $HOME \\ ; #{pid} #(touch /tmp/never) %% 😀\n  second line, spaces inside   \n\ttabs\n;"

// awaitPrompt waits for the end of an agent's last turn, and fails the test unless the turn has
// exactly this prompt.
func (w *world) awaitPrompt(agent, prompt string) {
	w.t.Helper()
	waitFor(w.t, "a turn with the prompt ended", func() bool {
		list := w.turnsOf(agent)
		return len(list) > 0 && list[len(list)-1].EndedAt != nil
	})
	list := w.turnsOf(agent)
	if got := list[len(list)-1].Prompt; got != prompt {
		w.t.Errorf("the prompt arrived as %.200q (%d bytes), want %.200q (%d bytes)", got, len(got), prompt, len(prompt))
	}
}

// sendBytes sends a prompt on the standard input of paw send.
func (w *world) sendBytes(agent, prompt string) {
	w.t.Helper()
	w.ok(w.runReading(prompt, w.repo, nil, pawForTests(), "send", agent))
}

func TestHostilePromptArrivesByteForByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "demo", "--detach", "--prompt", hostile))
	w.awaitPrompt("demo", hostile)
	w.sendBytes("demo", hostile)
	waitFor(t, "the second turn", func() bool { return len(w.turnsOf("demo")) == 2 })
	w.awaitPrompt("demo", hostile)
	if _, err := os.Stat("/tmp/never"); err == nil {
		t.Error("a part of the prompt was run")
	}
}

// Prompts sent to one agent at the same time arrive one after the other, each whole.
func TestPromptsSentAtOnceDoNotMix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	want := make([]string, 6)
	for i := range want {
		want[i] = fmt.Sprintf("do: say prompt %d\ndo: say and its second line", i)
	}
	w.okAll(w.atOnce(len(want), func(i int) []string { return []string{"send", "demo", want[i]} }))
	waitFor(t, "as many turns as prompts", func() bool { return len(w.turnsOf("demo")) >= len(want) })
	var got []string
	for _, one := range w.turnsOf("demo") {
		got = append(got, one.Prompt)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the prompts of the turns (-sent +arrived)\n%s", diff)
	}
}

func TestPromptTooLongForAnArgumentIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := "a long one\n" + strings.Repeat("0123456789abcdef 0123456789abcdef\n", 32*1024) + "end"
	file := filepath.Join(w.root, "prompt.md")
	if err := os.WriteFile(file, append([]byte(long), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	out := w.ok(w.paw("start", "--cli", "demo", "--detach", "--prompt-file", file))
	if strings.Contains(out.stderr, "not sent") {
		t.Errorf("%s", out.stderr)
	}
	w.awaitPrompt("demo", long)
	kept, err := os.ReadFile(filepath.Join(w.root, "home/.local/state/paw/launch/shop/demo.prompt"))
	if err == nil {
		t.Errorf("the prompt is still kept: %d bytes", len(bytes.TrimSpace(kept)))
	}
}
